"""The commands that read, with -b, on a live cluster in KRaft mode."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import kafka
import pytest
from kafka.protocol.metadata import FindCoordinatorRequest
from support.documents.plans import document, reassignment
from support.live.doctor import stopped
from support.live.kraft import KraftCluster, held_back, make_topic, wait_assigned
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments, list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.live

WAIT_S = 60
TABLES = (
    "brokers",
    "topics",
    "partitions",
    "controller",
    "admin",
    "cluster",
    "configs",
    "consumers",
)
ZOOKEEPERS_OWN = (
    ["notifications"],
    ["producer-ids"],
    ["acls"],
    ["admin-entries"],
    ["tree"],
    ["znode", "/controller"],
)


def asked(cluster: KraftCluster, name: str) -> list[dict[str, Any]]:
    """Ask for JSON, hold it against its schema, and return the rows."""
    answer = cluster.kadmin("inspect", name, "-o", "json")
    assert answer.status == 0, answer.err
    value = json.loads(answer.out)
    assert validate_value(value, f"answers/inspect-{name}") == []
    (rows,) = (each for key, each in value.items() if key not in {"unreadable", "unavailable"})
    return list(rows)


def test_every_table_has_its_rows(cluster: KraftCluster) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2), 1: (3, 4)})
    partition = TopicPartition(topic, 0)
    tables = {name: asked(cluster, name) for name in TABLES}
    assert [(row["broker_id"], row["alive"], row["rack"]) for row in tables["brokers"]] == [
        (1, True, "r1"),
        (2, True, "r2"),
        (3, True, "r3"),
        (4, True, "r1"),
    ]
    assert {row["topic"]: (row["partitions"], len(row["topic_id"])) for row in tables["topics"]}[
        topic
    ] == (2, 22)
    rows = [row for row in tables["partitions"] if row["topic"] == topic]
    assert [(row["replicas"], row["leader"], row["condition"]) for row in rows] == [
        ([1, 2], 1, []),
        ([3, 4], 3, []),
    ]
    assert [row["elr"] for row in rows] == [[], []]
    roles = {row["node_id"]: row["role"] for row in tables["controller"]}
    assert {node for node, role in roles.items() if role != "observer"} == {101, 102, 103}
    assert {1, 2, 3, 4} <= {node for node, role in roles.items() if role == "observer"}
    (leader,) = (row for row in tables["controller"] if row["role"] == "leader")
    assert leader["lag"] == 0
    (whole,) = tables["cluster"]
    assert (whole["controller"], whole["controller_epoch"], whole["brokers"]) == (
        leader["node_id"],
        leader["epoch"],
        4,
    )
    assert partition not in [
        TopicPartition(row["topic"], row["partition"]) for row in tables["admin"]
    ]


def test_what_is_zookeepers_says_in_one_line_what_serves_instead(cluster: KraftCluster) -> None:
    for arguments in ZOOKEEPERS_OWN:
        answer = cluster.kadmin("inspect", *arguments)
        assert (answer.status, answer.out) == (64, ""), answer.err
        message, following = answer.err.splitlines()
        assert "znodes" in message
        assert following.startswith("  next:  ka")
    answer = cluster.kadmin("consumers", "preview", "--group", "g", "--members", "2")
    assert answer.status == 64
    assert "kadmin consumers disturbed" in answer.err


@pytest.mark.eras
def test_a_move_in_flight_is_shown_and_one_that_nobody_recorded_has_no_operation(
    cluster: KraftCluster,
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    with stopped(cluster, 4):
        assert alter_reassignments(cluster.connection, {partition: (1, 4)}) == {partition: None}
        (moving,) = (row for row in asked(cluster, "admin") if row["topic"] == topic)
        assert (moving["target"], moving["adding_replicas"], moving["operation"]) == (
            [1, 4],
            [4],
            None,
        )
        (row,) = (row for row in asked(cluster, "partitions") if row["topic"] == topic)
        assert "moving" in row["condition"]
        assert row["offline_replicas"] == [4]
        (broker,) = (row for row in asked(cluster, "brokers") if row["broker_id"] == 4)
        assert (broker["alive"], broker["fenced"]) in {(False, True), (False, None)}
        assert (broker["fenced"] is None) == (cluster.sandbox.spec.version < "4")
    wait_assigned(cluster.connection, {partition: (1, 4)})
    assert partition not in list_reassignments(cluster.connection)


def test_diff_verify_whatif_election_and_report_need_no_records(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    plan, page = tmp_path / "plan.yaml", tmp_path / "page.html"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: [3, 4]}}\n"
    )
    without = KraftCluster(cluster.sandbox, cluster.connection)
    found = without.kadmin("diff", plan, "--html", page)
    assert found.status == 0, found.err
    assert topic in found.out
    assert "<html" in page.read_text(encoding="utf-8")
    assert without.kadmin("verify", plan).status == 8
    changes = json.loads(without.kadmin("whatif", "plan", plan, "-o", "json").out)["leader_changes"]
    assert changes == [
        {"topic": topic, "partition": 0, "leader": 1, "new_leader": 3, "unclean": False}
    ]
    assert without.kadmin("whatif", "lose", "--rack", "r1").status == 0
    election = tmp_path / "election.yaml"
    assert without.kadmin("propose", "election", "--out", election).status == 0
    assert without.kadmin("snapshot", "--out", tmp_path / "inventory").status == 0
    assert (
        without.kadmin("report", plan, "--inventory", tmp_path / "inventory", "--out", page).status
        == 0
    )
    assert without.kadmin("consumers", "disturbed", plan).status == 0


@pytest.mark.eras
def test_a_move_in_flight_names_the_operation_that_asked_for_it(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    partition = TopicPartition(topic, 0)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [3, 4]}))
    with held_back(cluster.connection, [partition]):
        cluster.leave_in_flight(plan, 1)
        (operation,) = json.loads(cluster.kadmin("status", "-o", "json").out)["operations"]
        (moving,) = (row for row in asked(cluster, "admin") if row["topic"] == topic)
        assert (moving["target"], moving["operation"]) == ([3, 4], operation["operation_id"])
        found = cluster.kadmin("diff", plan)
        assert "is unfinished" in found.out + found.err
        assert cluster.kadmin("cancel", "--now", "--yes").status == 0
    assert not [row for row in asked(cluster, "admin") if row["topic"] == topic]


@pytest.mark.eras
def test_groups_their_coordinators_and_who_notices_a_plan(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = make_topic(cluster.connection, {0: (1, 2)})
    group, servers = f"group-of-{topic}", cluster.sandbox.bootstrap
    produce(Servers(servers), {TopicPartition(topic, 0): [b"x"]})
    settings = {"group_id": group, "enable_auto_commit": False, "auto_offset_reset": "earliest"}
    with closing(kafka.KafkaConsumer(topic, bootstrap_servers=servers, **settings)) as consumer:
        wait_until(lambda: bool(consumer.poll(timeout_ms=500)), WAIT_S)
        consumer.commit()
        (row,) = (row for row in asked(cluster, "consumers") if row["group"] == group)
        assert (row["kind"], row["protocol"], row["members"], row["topics"]) == (
            "classic",
            "consumer",
            1,
            [topic],
        )
        plan = tmp_path / "plan.yaml"
        plan.write_text(
            "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
            f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: [3, 4]}}\n"
        )
        disturbed = json.loads(cluster.kadmin("consumers", "disturbed", plan, "-o", "json").out)[
            "disturbances"
        ]
        assert {
            "group": group,
            "offsets_in": "kafka",
            "role": "reads",
            "topic": topic,
        }.items() <= disturbed[0].items()
    (found,) = json.loads(cluster.kadmin("consumers", "coordinator", group, "-o", "json").out)[
        "coordinators"
    ]
    request = FindCoordinatorRequest(key=group, key_type=0, coordinator_keys=[group])
    answer = cluster.connection.ask("find a coordinator", request)
    wanted = answer.coordinators[0].node_id if answer.coordinators else answer.node_id
    assert (found["group"], found["broker"]) == (group, wanted)
