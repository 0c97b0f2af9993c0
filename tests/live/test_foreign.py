"""Reassignments of other tools, deleted topics and dead targets in mid-run: told at once, and ended
by kadmin.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from kafka import KafkaAdminClient
from kafka import TopicPartition as KafkaTopicPartition
from support.documents.plans import document, reassignment
from support.live.controllers import REASSIGN
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import StepKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.cluster import Cluster

    from kadmin.cluster.model import Replicas

pytestmark = pytest.mark.live

TOLD_S = 10
MUCH = [b"x" * 100_000] * 50
"""Held back, brokers still copy a megabyte in some ten seconds."""


def replicas(cluster: Cluster, topic: str) -> Replicas:
    return cluster.state(topic).topics[topic].replicas[0]


@contextmanager
def node_in_flight(cluster: Cluster) -> Iterator[str]:
    """Hold a reassignment by another tool's admin node in flight; yields its topic."""
    topic = cluster.create_topic({0: [2, 1]}, prefix="theirs")
    cluster.produce_to(TopicPartition(topic, 0), MUCH)
    with cluster.held_back(topic):
        cluster.controllers.reassign({"topic": topic, "partition": 0, "replicas": [3, 4]})
        wait_until(lambda: len(replicas(cluster, topic)) == 4)
        yield topic


@contextmanager
def running(cluster: Cluster, plan: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a plan until its first wave is published."""
    known = {found.operation_id for found in cluster.history()}
    command = [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", "-z", cluster.connect]
    runner = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        wait_until(lambda: {found.operation_id for found in cluster.history()} > known, 60)
        operation = cluster.history()[-1].operation_id
        wait_until(lambda: any(step.kind is StepKind.WAVE for step in cluster.steps(operation)), 60)
        yield runner
    finally:
        runner.kill()
        runner.wait()


def status_says(cluster: Cluster, text: str) -> bool:
    return text in cluster.kadmin("status").out


@pytest.mark.matrix
def test_an_admin_node_of_another_tool_is_superseded(cluster: Cluster, tmp_path: Path) -> None:
    with node_in_flight(cluster) as topic:
        found = cluster.kadmin("doctor", "-o", "json")
        remedies = [
            each["remedy"]
            for each in json.loads(found.out)["findings"]
            if each["trouble"] == "foreign-node"
        ]
        assert all("kadmin cancel --foreign" in remedy for remedy in remedies)
        assert remedies
        options: tuple[str | Path, ...] = ()
        if not cluster.has_reassignment_api:
            unknown = cluster.kadmin("cancel", "--foreign", "--yes")
            assert unknown.status == 3, unknown.err
            assert f"{topic}-0" in unknown.err
            assert "--origin FILE" in unknown.err
            entries = [{"topic": topic, "partition": 0, "replicas": [2, 1]}]
            file = tmp_path / "before.json"
            file.write_text(json.dumps({"version": 1, "partitions": entries}))
            options = ("--origin", file)
        refused = cluster.kadmin("cancel", "--foreign", *options)
        assert refused.status == 64, "it asks, and nobody is there"
        ended = cluster.kadmin("cancel", "--foreign", "--yes", *options)
        assert ended.status == 0, ended.err
        assert f"{topic}-0: " in ended.err
        assert " back to [2, 1]" in ended.err
        assert "1 reassignment of other tools ended" in ended.out
        assert replicas(cluster, topic) == (2, 1)
        assert cluster.get(REASSIGN) is None
    listing = cluster.history()[-1]
    assert (listing.kind, listing.status.state) == (
        OperationKind.CANCELLATION,
        OperationState.COMPLETED,
    )
    assert cluster.kadmin("cancel", "--foreign", "--yes").status == 0
    after = document(tmp_path / "after.json", reassignment(topic, {0: [1, 2]}))
    assert cluster.kadmin("apply", after, "--yes").status == 0, "the new controller listens"


@pytest.mark.on("2.4.1", "2.8.2", "3.9.2")
def test_a_reassignment_through_the_brokers_is_ended_through_them(cluster: Cluster) -> None:
    topic = cluster.create_topic({0: [2, 1]}, prefix="theirs")
    cluster.produce_to(TopicPartition(topic, 0), MUCH)
    before = cluster.state().controller_epoch
    with (
        cluster.held_back(topic),
        closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin,
    ):
        admin.alter_partition_reassignments({KafkaTopicPartition(topic, 0): [3, 4]})
        wait_until(lambda: bool(cluster.state(topic).topics[topic].adding_replicas))
        found = cluster.kadmin("doctor", "-o", "json")
        remedies = [
            each["remedy"]
            for each in json.loads(found.out)["findings"]
            if each["trouble"] == "api-reassignment"
        ]
        assert "kadmin cancel --foreign" in remedies[0]
        ended = cluster.kadmin("cancel", "--foreign", "--yes")
        assert ended.status == 0, ended.err
        assert replicas(cluster, topic) == (2, 1)
        assert not cluster.state(topic).topics[topic].adding_replicas
        assert not cluster.state(topic).topics[topic].removing_replicas
    assert cluster.state().controller_epoch == before, "the controller was not moved"
    assert [step.kind for step in cluster.steps(cluster.history()[-1].operation_id)] == [
        StepKind.CANCEL
    ]


@pytest.mark.eras
@pytest.mark.on("2.8.2")
def test_f42_f44_a_deleted_topic_and_a_foreign_move_in_mid_run_are_told_within_ten_seconds(
    cluster: Cluster, tmp_path: Path
) -> None:
    kept, gone, theirs = (
        cluster.create_topic({0: [1, 2]}, prefix=prefix) for prefix in ("kept", "gone", "theirs")
    )
    for topic in (kept, gone, theirs):
        cluster.produce(topic, per_partition=200)
    value = reassignment(kept, {0: [2, 3]})
    value["spec"]["partitions"] += reassignment(gone, {0: [2, 3]})["spec"]["partitions"]
    plan = document(tmp_path / "plan.json", value)
    with (
        cluster.held_back(kept),
        cluster.held_back(gone),
        cluster.held_back(theirs),
        running(cluster, plan) as runner,
    ):
        with closing(KafkaAdminClient(bootstrap_servers=cluster.bootstrap)) as admin:
            admin.alter_partition_reassignments({KafkaTopicPartition(theirs, 0): [3, 4]})
        cluster.raw.create(f"/kafka/admin/delete_topics/{gone}", b"")
        wait_until(lambda: cluster.get(f"/brokers/topics/{gone}") is None, 60)
        wait_until(lambda: status_says(cluster, f"{gone}-0: deleted"), TOLD_S)
        wait_until(lambda: status_says(cluster, f"another tool reassigns {theirs}-0"), TOLD_S)
        assert runner.poll() is None, "the rest of the wave is followed to its end"
        assert cluster.kadmin("cancel", "--foreign", "--yes").status == 5, (
            "the runner holds the lock"
        )
        cluster.throttle(kept, None)
        _, story = runner.communicate(timeout=120)
    assert runner.returncode == 4, story.decode()
    assert f"warning: {gone}-0: deleted".encode() in story
    assert f"another tool reassigns {theirs}-0".encode() in story
    wait_until(lambda: not cluster.state(theirs).topics[theirs].adding_replicas, 60)
    if cluster.get(REASSIGN) is not None:  # a node that names the deleted topic alone
        assert cluster.kadmin("heal", "--yes").status == 0


@pytest.mark.matrix
@pytest.mark.on("2.8.2")
def test_f43_a_target_that_dies_in_mid_run_is_named_with_its_partition(
    cluster: Cluster, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    cluster.produce(topic, per_partition=200)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 3]}))
    waits = f"{topic}-0: the controller waits for brokers that are not alive: 3"
    with cluster.held_back(topic), running(cluster, plan) as runner:
        with cluster.broker_down(3):
            wait_until(lambda: 3 not in cluster.state().brokers, 60)
            wait_until(lambda: status_says(cluster, waits), TOLD_S)
            assert "3" in cluster.kadmin("doctor").out
        cluster.throttle(topic, None)
        _, story = runner.communicate(timeout=120)
    assert runner.returncode == 0, story.decode()
    assert f"warning: {waits}".encode() in story
    assert not status_says(cluster, waits)
