"""A cluster in the middle of an upgrade: a broker of the version before blocks metadata.version."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.live.doctor import examine
from support.live.kraft import KraftCluster
from support.live.upgrade import upgraded
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.registrations import metadata_levels, validate_upgrade

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [pytest.mark.live, pytest.mark.matrix]

BEFORE, AFTER = "4.1.2", "4.4.0"
LEVELS = {BEFORE: 27, AFTER: 33}
"""The highest metadata.version of each."""
OLD, LIVE = 3, (1, 2)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[KraftCluster]:
    """Every server but broker 3 was upgraded, and metadata.version is that of before."""
    sandbox = Sandbox.up(SandboxSpec(tmp_path / "sandbox", BEFORE, brokers=3, mode="kraft"))
    try:
        newer = upgraded(sandbox, AFTER, LIVE)
        with KafkaConnection(Servers([newer.address(each) for each in LIVE])) as connection:
            yield KraftCluster(newer, connection, tmp_path / "records")
    finally:
        sandbox.down()


def test_a_broker_of_the_version_before_blocks_an_upgrade_until_it_is_unregistered(
    cluster: KraftCluster,
) -> None:
    reason = f"Broker {OLD} only supports versions 7-{LEVELS[BEFORE]}"
    found = metadata_levels(cluster.connection, LIVE[0])
    assert found is not None
    assert (found.finalized, found.supported) == (LEVELS[BEFORE], LEVELS[AFTER])
    refused = validate_upgrade(cluster.connection, LEVELS[AFTER])
    assert refused is not None
    assert (refused.code, reason in (refused.message or "")) == (95, True)
    assert examine(cluster) == {}, "it is alive, and runs the version of before"

    cluster.sandbox.stop_broker(OLD, kill=True)
    troubles = examine(cluster)
    assert set(troubles) == {"unused-registration", "blocked-upgrade"}
    (seen,) = troubles["blocked-upgrade"]["evidence"]
    assert reason in seen
    assert not troubles["blocked-upgrade"]["stops_apply"]
    assert f"kadmin broker unregister {OLD}" in troubles["blocked-upgrade"]["remedy"]
    wait_until(lambda: cluster.kadmin("broker", "unregister", str(OLD), "--yes").status == 0)
    assert validate_upgrade(cluster.connection, LEVELS[AFTER]) is None
    assert examine(cluster) == {}
