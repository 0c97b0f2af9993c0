"""Clusters in ZooKeeper mode through their brokers (-b): everything reads, and every write
refuses.
"""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.live.kraft import wait_assigned

from kadmin.cluster.servers import Servers
from kadmin.schema import validate_value
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.live.cluster import Cluster

pytestmark = [pytest.mark.eras, pytest.mark.on("2.4.1", "2.8.2", "3.9.2")]

WRITES = (
    ("apply", "PLAN", "--yes"),
    ("resume", "--yes"),
    ("pause",),
    ("cancel", "--yes"),
    ("rollback", "--yes"),
    ("throttle", "set", "--rate", "1MB/s", "--broker", "1"),
    ("throttle", "clear", "--yes"),
    ("lock", "release", "X", "--yes"),
    ("recreate", "PLAN", "--yes"),
    ("status",),
    ("history",),
)
"""What changes the cluster, or reads what is on record in ZooKeeper."""
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


def test_everything_reads_and_every_write_names_the_option_to_add(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: (1, 2), 1: (3, 4)})
    plan = tmp_path / "plan.yaml"
    plan.write_text(
        "apiVersion: kadmin/v1\nkind: PartitionReassignment\nmetadata: {name: move}\n"
        f"spec:\n  partitions:\n    - {{topic: {topic}, partition: 0, replicas: [1, 3]}}\n"
    )

    def kadmin(*arguments: str | Path) -> Answer:
        return command(
            *arguments, environment={"KADMIN_BOOTSTRAP_SERVER": ",".join(cluster.bootstrap)}
        )

    def reads(*arguments: str | Path) -> str:
        found = kadmin(*arguments)
        assert found.status == 0, (arguments, found.err)
        return found.out

    through_zookeeper = cluster.state(topic)
    with KafkaConnection(Servers(cluster.bootstrap)) as connection:
        wait_assigned(connection, through_zookeeper.assignment)
        by_api = read_cluster(connection, [topic], with_configs=True, settle=True)
    assert by_api.brokers.keys() == through_zookeeper.brokers.keys()
    assert by_api.assignment == through_zookeeper.assignment
    assert by_api.controller is not None
    assert by_api.controller.broker_id == cluster.controller()
    assert {each: (s.leader, set(s.isr), s.leader_epoch) for each, s in by_api.states.items()} == {
        each: (s.leader, set(s.isr), s.leader_epoch) for each, s in through_zookeeper.states.items()
    }
    reads("snapshot", "--out", tmp_path / "inventory", "--table", "csv")
    rows = list(csv.DictReader((tmp_path / "inventory" / "partitions.csv").open(encoding="utf-8")))
    assert {row["replicas"] for row in rows if row["topic"] == topic} == {"1;2", "3;4"}
    assert topic in reads("diff", plan)
    assert reads("apply", plan, "--dry-run").startswith("dry run")
    assert kadmin("verify", plan).status == 8
    reads("propose", "election", "--out", tmp_path / "election.yaml")
    assert json.loads(reads("whatif", "lose", "--broker", "1", "-o", "json"))["lost"] == [1]
    reads("whatif", "plan", plan)
    unchecked = " ".join(reads("doctor").split())
    assert "not checked: the origin of moves in flight and of throttles" in unchecked
    reads("consumers", "disturbed", plan)
    for name in TABLES:
        assert (
            validate_value(
                json.loads(reads("inspect", name, "-o", "json")), f"answers/inspect-{name}"
            )
            == []
        )
    (controller,) = json.loads(reads("inspect", "controller", "-o", "json"))["quorum"]
    assert controller["node_id"] == cluster.controller()
    for write in WRITES:
        answer = kadmin(*(plan if each == "PLAN" else each for each in write))
        assert (answer.status, answer.out) == (64, ""), (write, answer.err)
        assert "-z CONNECT" in answer.err, write
    assert cluster.state(topic).assignment == through_zookeeper.assignment
