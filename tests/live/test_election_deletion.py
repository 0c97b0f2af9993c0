"""Elections and deletions through the command line, on live brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cluster_under_test import deletion, document, election, reassignment

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from pathlib import Path

    from cluster_under_test import Cluster

pytestmark = pytest.mark.live


def off_preferred(cluster: Cluster, tmp_path: Path) -> str:
    """Make a topic whose leaders are not the preferred ones: a reorder moves no leader on any version."""
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]})
    plan = document(tmp_path / "reorder.yaml", reassignment(topic, {0: [2, 1], 1: [3, 2]}))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert [cluster.state(topic).states[TopicPartition(topic, n)].leader for n in (0, 1)] == [1, 2]
    return topic


def test_leaders_that_are_off_are_proposed_elected_and_verified(cluster: Cluster, tmp_path: Path) -> None:
    topic = off_preferred(cluster, tmp_path)
    plan = tmp_path / "election.yaml"
    proposed = cluster.kadmin("propose", "election", "--out", str(plan))
    assert proposed.status == 0, proposed.err
    assert topic in plan.read_text()
    assert cluster.kadmin("verify", plan).status == 8
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0
    states = cluster.state(topic).states
    assert [states[TopicPartition(topic, number)].leader for number in (0, 1)] == [2, 3]
    assert cluster.kadmin("apply", plan, "--yes").out.strip() == "nothing to do"


def test_a_topic_is_named_whole_in_an_election(cluster: Cluster, tmp_path: Path) -> None:
    topic = off_preferred(cluster, tmp_path)
    plan = document(tmp_path / "election.yaml", election(topics=[topic]))
    assert cluster.kadmin("apply", plan, "--yes").status == 0
    assert cluster.kadmin("verify", plan).status == 0


def test_an_election_of_an_unknown_partition_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    """Up to 2.1 it would leave a node that blocks every later election."""
    topic = cluster.shared_topic()
    plan = document(tmp_path / "election.yaml", election(partitions=[{"topic": topic, "partition": 99}]))
    before = cluster.fingerprint()
    assert cluster.kadmin("apply", plan, "--yes").status == 4
    assert cluster.fingerprint() == before


def test_f33_a_topic_is_deleted_and_seen_gone_and_a_second_time_is_no_news(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]})
    plan = document(tmp_path / "deletion.yaml", deletion(topic))
    assert cluster.kadmin("verify", plan).status == 8
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert cluster.get(f"/brokers/topics/{topic}") is None
    assert cluster.get(f"/config/topics/{topic}") is None
    assert cluster.get(f"/admin/delete_topics/{topic}") is None
    assert cluster.kadmin("verify", plan).status == 0
    again = cluster.kadmin("apply", plan, "--yes")
    assert (again.status, again.out.strip()) == (0, "nothing to do"), "our own history deleted it"


@pytest.mark.parametrize(("topic", "status"), [("no-such-topic", 4), ("__audit-x", 3)], ids=["F33-absent", "protected"])
def test_a_deletion_that_a_guard_stops_changes_nothing(
    cluster: Cluster, tmp_path: Path, topic: str, status: int
) -> None:
    if topic.startswith("__"):
        topic = cluster.create_topic({0: [1]}, prefix="__audit")
    before = cluster.fingerprint()
    refused = cluster.kadmin("apply", document(tmp_path / "deletion.yaml", deletion(topic)), "--yes")
    assert refused.status == status, refused.err
    assert cluster.fingerprint() == before


def test_f33_a_deletion_in_mid_move_is_refused_and_cannot_be_waived(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    with cluster.stuck_reassignment(topic, 0):
        refused = cluster.kadmin("apply", document(tmp_path / "deletion.yaml", deletion(topic)), "--yes")
        assert refused.status == 5, refused.err
        assert cluster.get(f"/admin/delete_topics/{topic}") is None


def test_old_consumers_guard_a_topic_until_waived(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1]})
    with cluster.committed_offset("billing", topic):
        refused = cluster.kadmin("apply", document(tmp_path / "d.yaml", deletion(topic)), "--yes")
        assert refused.status == 5
        assert "billing" in refused.err
        waived = document(tmp_path / "waived.yaml", deletion(topic, allow={"active_consumers": True}))
        assert cluster.kadmin("apply", waived, "--yes").status == 0
