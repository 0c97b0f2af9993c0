"""Records that another tool's unclean election loses while an operation runs, in KRaft mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import kafka
import pytest
from support.documents.plans import document, reassignment
from support.kafka.admin import admin_client
from support.live.kraft import elect_uncleanly, held_back, make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.sandbox import Sandbox

pytestmark = pytest.mark.live

NEW = [b"new"] * 9
"""More records than were lost: the log ends behind where it ended before."""


@pytest.mark.on("3.9.2", "4.4.0")
@pytest.mark.eras
def test_records_that_an_unclean_election_lost_are_counted_though_others_came_since(
    kraft: Sandbox, cluster: KraftCluster, tmp_path: Path
) -> None:
    """The reassignment ends at its target: the operation is completed, and the command is not
    well.
    """
    connection = cluster.connection
    moved = TopicPartition(make_topic(connection, {0: (2,)}), 0)
    value = reassignment(moved.topic, {0: [3, 1]}, allow={"replication_factor_change": True})
    plan = document(tmp_path / "plan.json", value)

    def leader() -> int:
        return read_cluster(connection, [moved.topic]).states[moved].leader

    with held_back(connection, [moved]):
        cluster.leave_in_flight(plan, step=1)
        kraft.stop_broker(2, kill=True)
        try:
            wait_until(lambda: leader() == NO_LEADER, 60)
            elect_uncleanly(connection, moved)
            wait_until(lambda: leader() in {1, 3}, 60)
        finally:
            kraft.start_broker(2)
    produce(connection.servers, {moved: NEW})
    wait_assigned(connection, {moved: (3, 1)})
    resumed = cluster.kadmin("resume", "--yes", "-o", "json")
    assert resumed.status == 8, resumed.err
    told = [json.loads(line) for line in resumed.err.splitlines() if line.startswith("{")]
    assert [validate_value(each, "answers/event") for each in told] == [[]] * len(told)
    (ended,) = (each for each in told if each["event"] == "state_changed")
    (lost,) = ended["lost_records"]
    assert lost == {
        **lost,
        "topic": moved.topic,
        "partition": 0,
        "offset_before": 3,
        "leader_epoch_before": 0,
    }
    assert lost["offset"] < lost["offset_before"] < len(NEW)
    assert lost["leader_epoch"] > 0
    assert (
        f"records that were there when the operation began are gone: {moved} up to" in ended["text"]
    )
    last = cluster.history()[-1]
    assert (last["state"], last["message"]) == ("completed", ended["text"])


@pytest.mark.on("4.4.0")
@pytest.mark.eras
def test_records_that_were_deleted_meanwhile_are_not_lost(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """Neither is anything by new leaders: their copies begin where the old one's log began by
    then.
    """
    connection = cluster.connection
    moved = TopicPartition(make_topic(connection, {0: (1, 2)}), 0)
    plan = document(tmp_path / "plan.json", reassignment(moved.topic, {0: [3, 4]}))
    with held_back(connection, [moved]):
        cluster.leave_in_flight(plan, step=1)
        deleted = admin_client(connection).delete_records(
            {kafka.TopicPartition(moved.topic, moved.partition): -1}
        )
        assert [each["low_watermark"] for each in deleted.values()] == [3]
    wait_assigned(connection, {moved: (3, 4)})
    resumed = cluster.kadmin("resume", "--yes")
    assert resumed.status == 0, resumed.err
    assert "gone" not in resumed.out + resumed.err
