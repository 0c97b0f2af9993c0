"""Records that another tool's unclean election loses while an operation runs, in ZooKeeper mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

MUCH = [b"x" * 900_000] * 3
"""More than one fetch: a throttled copy of it takes many seconds."""
UNSEEN = "a loss of records by other tools would not be seen: 1 partition: brokers before Kafka 2.1"


@pytest.mark.on("2.3.1", "2.8.2")
@pytest.mark.eras
def test_a_cancelled_operation_whose_records_an_unclean_election_lost_says_so(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Nothing is in flight and the partition is at its target, by a copy that was not whole."""
    moved = TopicPartition(cluster.create_topic({0: [2]}), 0)
    cluster.produce_to(moved, MUCH)
    value = reassignment(moved.topic, {0: [3, 1]}, allow={"replication_factor_change": True})
    plan = document(tmp_path / "plan.json", value)

    def leader() -> int:
        return cluster.state(moved.topic).states[moved].leader

    with cluster.held_back(moved.topic):
        applied = cluster.kadmin("apply", plan, "--yes", "--timeout", "2")
        assert (applied.status, "would not be seen" in applied.err) == (8, False), applied.err
        with cluster.broker_down(2):
            wait_until(lambda: leader() == NO_LEADER, 60)
            cluster.configure(f"topics/{moved.topic}", {"unclean.leader.election.enable": "true"})
            wait_until(lambda: leader() in {1, 3}, 60)
    wait_until(lambda: cluster.get(REASSIGN) is None, 60)
    cancelled = cluster.kadmin("cancel", "--now", "--yes")
    assert cancelled.status == 8, cancelled.err
    gone = f"records that were there when the operation began are gone: {moved} up to"
    last = cluster.history()[-1].status
    assert last.state.value == "cancelled"
    assert last.message.startswith("nothing was in flight; 1 partition at the target; ")
    assert gone in last.message
    assert f"warning: {gone}" in cancelled.err
    assert cluster.kadmin("verify", plan).status == 0


@pytest.mark.on("1.1.1", "2.3.1")
def test_brokers_tell_leader_epochs_from_2_1_on(cluster: Cluster, tmp_path: Path) -> None:
    """Without them a loss would not be seen, and the operation says so when it begins."""
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert (UNSEEN in applied.err) is (cluster.version < (2, 1)), applied.err
    assert "gone" not in applied.out + applied.err
