"""A broker that comes back without its topics: `doctor` names it until it has caught up."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from support.live.doctor import examine
from support.live.errands import MODES, STOPPED, cluster_of, connected
from support.live.waiting import wait_until

from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.errands import Brokers

    from kadmin.cluster.model import TopicPartition

pytestmark = [pytest.mark.live, pytest.mark.matrix]

LINE = ("throttle", "catch-up", "--broker", str(STOPPED), "--rate", "50KB/s", "--yes")
RECORDS = [b"x" * 900_000] * 80
"""A tenth of them takes minutes to copy."""


@pytest.fixture(scope="module", params=MODES)
def brokers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Brokers]:
    with (
        cluster_of(request.param, tmp_path_factory, STOPPED) as sandbox,
        connected(sandbox) as found,
    ):
        yield found


def test_it_is_found_until_it_has_caught_up(brokers: Brokers) -> None:
    """It is in sync at once where nothing is to copy, and its replica without another is lost."""
    large, empty = brokers.topic({0: (1, STOPPED), 1: (2, STOPPED)})
    (lost,) = brokers.topic({0: (STOPPED,)})
    produce(brokers.connection.servers, {large: RECORDS, lost: [b"x"]})
    assert "emptied-broker" not in examine(brokers)
    brokers.sandbox.stop_broker(STOPPED)
    wait_until(lambda: STOPPED not in brokers.state().brokers)
    for each in (large, empty, lost):
        shutil.rmtree(folder(brokers, each))
    runner = brokers.run(*LINE)
    with ExitStack() as stack:
        stack.callback(runner.end)
        wait_until(lambda: large.topic in brokers.kadmin("throttle", "show").out)
        brokers.sandbox.start_broker(STOPPED)
        wait_until(lambda: in_sync(brokers, empty))
        found = examine(brokers)["emptied-broker"]
        assert found["message"].startswith(f"Broker {STOPPED} is alive and nearly empty: it holds ")
        assert found["evidence"][0] == f"not in sync (1): {large}"
        assert found["evidence"][2].endswith(f"records that they had are lost: {lost}")
        changed = brokers.kadmin("throttle", "set", "--rate", "200MB/s", "--yes")
        assert changed.status == 0, changed.err
        ended = runner.answer()
    assert ended.status == 0, ended.err
    assert in_sync(brokers, large)
    assert "emptied-broker" not in examine(brokers)


def folder(brokers: Brokers, partition: TopicPartition) -> Path:
    """Return where the stopped broker keeps a partition."""
    return brokers.sandbox.spec.directory / f"broker-{STOPPED}" / "data" / str(partition)


def in_sync(brokers: Brokers, partition: TopicPartition) -> bool:
    return STOPPED in brokers.state().states[partition].isr
