"""A maintenance and a decommission on limited links: no record is lost, and the copies hold their
rate, so that records flow beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.errands import MODES, cluster_of
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.sandbox.links import Link, why_not
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.kafka.processes import KadminProcess
    from support.live.errands import Brokers

    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.matrix,
    pytest.mark.skipif(why_not() is not None, reason=f"links: {why_not()}"),
]

LEAVES = 4
LINK = Link(bits_per_s=40_000_000, queue_ms=250)
COPIED = [b"x" * 100_000] * 100
"""10 MB, a few seconds of the rate."""
DONE_S = 240


@pytest.fixture(scope="module", params=MODES)
def lone_sandbox(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sandbox]:
    with cluster_of(request.param, tmp_path_factory, link=LINK) as found:
        yield found


@pytest.fixture
def brokers(lone_brokers: Brokers) -> Brokers:
    return lone_brokers


def proposed(brokers: Brokers, folder: Path, errand: str) -> Path:
    plan = folder / f"{errand}.yaml"
    words = ("--broker", str(LEAVES), "--throttle", "1MB/s", "--out", str(plan))
    found = brokers.kadmin("propose", errand, *words)
    assert found.status == 0, found.err
    return plan


def wait_for(brokers: Brokers, words: str, runner: KadminProcess) -> None:
    wait_until(lambda: words in brokers.kadmin("status").out or runner.ended, DONE_S)
    assert not runner.ended, runner.answer().err


@pytest.mark.parametrize("errand", ["maintenance", "decommission"])
def test_records_flow_while_a_broker_is_away_or_leaves(
    brokers: Brokers, tmp_path: Path, errand: str
) -> None:
    written = brokers.topic({0: (4, 1, 2), 1: (1, 4, 3), 2: (2, 3, 1)}, min_isr=2)
    (large,) = brokers.topic({0: (4, 1, 2)}, min_isr=2)
    servers = Servers(brokers.sandbox.bootstrap)
    produce(servers, {large: COPIED})
    wait_until(lambda: brokers.may_be_stopped(LEAVES))
    plan = proposed(brokers, tmp_path, errand)
    with RecordsFlowing(brokers.sandbox.bootstrap, written) as flow:
        runner = brokers.run("apply", str(plan), "--yes")
        try:
            wait_for(brokers, f"stop broker {LEAVES} now", runner)
            brokers.sandbox.stop_broker(LEAVES)
            if errand == "maintenance":
                wait_for(brokers, f"broker {LEAVES} stopped: start it", runner)
                produce(servers, {large: COPIED})
                brokers.sandbox.start_broker(LEAVES)
            flow.wait_for_more()
            ended = runner.answer(DONE_S)
        finally:
            runner.end()
        flow.wait_for_more()
    assert ended.status == 0, ended.err
    assert flow.lost() == []
