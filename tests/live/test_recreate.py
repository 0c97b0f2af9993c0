"""A deleted topic made again on live brokers, and what guards a deletion there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import yaml
from support.documents.plans import document
from support.live.records import consume_all

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.eras]

ASSIGNMENT = {0: [1, 2], 1: [2, 3], 2: [4, 3]}


def deleted(cluster: Cluster, tmp_path: Path) -> tuple[str, str]:
    """Delete a topic that has records and a config of its own; return its name and the operation
    that did it.
    """
    topic = cluster.create_topic(ASSIGNMENT)
    produce(Servers(cluster.bootstrap), {TopicPartition(topic, 0): [b"lost"]})
    done = cluster.kadmin(
        "apply",
        document(tmp_path / "deletion.yaml", cluster.deletion(topic)),
        "--yes",
        "-o",
        "json",
    )
    assert done.status == 0, done.err
    return topic, json.loads(done.out)["operation_id"]


def test_a_deleted_topic_comes_back_with_its_assignment_empty_and_takes_records(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic, operation = deleted(cluster, tmp_path)
    done = cluster.kadmin("recreate", operation, "--yes")
    assert done.status == 0, done.err
    state = cluster.state(topic)
    assert {number: list(ids) for number, ids in state.topics[topic].replicas.items()} == ASSIGNMENT
    assert all(state.states[partition].leader > 0 for partition in state.topics[topic].partitions())
    records = {TopicPartition(topic, number): [b"new %d" % number] for number in ASSIGNMENT}
    produce(Servers(cluster.bootstrap), records)
    assert consume_all(cluster.bootstrap, list(records)) == records
    again = cluster.kadmin("recreate", operation, "--yes")
    assert again.status == 5, again.err


def test_a_recipe_keeps_configs_and_brings_them_back(cluster: Cluster, tmp_path: Path) -> None:
    topic, operation = deleted(cluster, tmp_path)
    recipe = tmp_path / "recipe.yaml"
    assert cluster.kadmin("recreate", operation, "--out", str(recipe)).status == 0
    value = yaml.safe_load(recipe.read_text())
    value["spec"]["topics"][0]["configs"] = {"retention.ms": "3600000"}
    document(recipe, value)
    done = cluster.kadmin("recreate", str(recipe), "--yes")
    assert done.status == 0, done.err
    config = json.loads(cluster.get(f"/config/topics/{topic}") or b"{}")
    assert config["config"] == {"retention.ms": "3600000"}


def test_a_dry_run_of_a_recreation_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    _, operation = deleted(cluster, tmp_path)
    before = cluster.fingerprint()
    assert cluster.kadmin("recreate", operation, "--dry-run").status == 0
    assert cluster.fingerprint() == before


def test_a_policy_guards_a_deletion(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1]})
    policy = document(
        tmp_path / "policy.yaml",
        {"kind": "Policy", "spec": {"deletion": {"deny": [f"{topic[:-1]}*"]}}},
    )
    plan, before = document(tmp_path / "d.yaml", cluster.deletion(topic)), cluster.fingerprint()
    refused = cluster.kadmin("apply", plan, "--yes", "--policy", str(policy))
    assert (refused.status, "is protected" in refused.err) == (3, True), refused.err
    assert cluster.fingerprint() == before
    waived = document(tmp_path / "w.yaml", cluster.deletion(topic, allow={"protected": True}))
    assert cluster.kadmin("apply", waived, "--yes", "--policy", str(policy)).status == 0


def test_a_snapshot_knows_what_guards_ask_for(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1]})
    with cluster.committed_offset("billing", topic):
        folder = tmp_path / "inventory"
        assert cluster.kadmin("snapshot", "--out", str(folder), "--table", "csv").status == 0
    assert json.loads((folder / "inventory.json").read_text())["kafka"]["consumers"][topic] == [
        "billing"
    ]
