"""A cluster goes from ZooKeeper to KRaft mode with records flowing and a slow move; another one
goes and comes back.

The move begins through ZooKeeper, its runner is killed, and it is under way in every phase until it
is resumed through the brokers. What is on record follows the cluster in both directions.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from support.cli.in_process import command
from support.documents.plans import document, reassignment
from support.live.cluster import Cluster
from support.live.controllers import REASSIGN
from support.live.doctor import examine_migration
from support.live.records import RecordsFlowing
from support.live.waiting import wait_until
from support.pages.typed import typed, workplace_in

from kadmin.cluster.model import MigrationPhase, TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.schema import validate_value
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.cli.in_process import Answer

pytestmark = pytest.mark.eras

RECORD = b"." * 10_000
RECORDS, BATCHES = 6, 10
"""A throttle lets one batch pass, so that there are several."""
PLAN = """apiVersion: kadmin/v1
kind: PartitionReassignment
metadata: {name: move}
spec:
  throttle: {rate: 1KB/s}
  waves: {max_partitions: 1}
  partitions:
    - {topic: TOPIC, partition: 0, replicas: [2, 1]}
    - {topic: TOPIC, partition: 1, replicas: [1, 3]}
    - {topic: TOPIC, partition: 2, replicas: [3, 2]}
"""
"""The first wave copies nothing: by the second one, brokers have noticed the throttle."""


class Walk:
    """A sandbox on its way, and kadmin through one side or both."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.directory = sandbox.spec.directory
        self.bootstrap = sandbox.bootstrap
        self.zookeeper = ("-z", sandbox.connect_string)
        self.brokers = ("-b", ",".join(sandbox.bootstrap))

    def migrate(self, *steps: str) -> None:
        for step in steps:
            answer = command("sandbox", "migrate", step, "--dir", self.directory)
            assert answer.status == 0, answer.err

    def kadmin(self, *arguments: str | Path) -> Answer:
        answer = command(*arguments)
        assert answer.status == 0, (arguments, answer.out, answer.err)
        return answer

    def examine(self) -> dict[str, Any]:
        """Return what `doctor migration` says."""
        return examine_migration(*self.zookeeper, *self.brokers)

    def found(self) -> tuple[str, set[str]]:
        """Return the phase and the codes of the findings."""
        value = self.examine()
        return value["phase"], {each["trouble"] for each in value["findings"]}

    def await_found(self, phase: str, codes: set[str]) -> None:
        """Wait until exactly these are found: brokers that were restarted follow their leaders a
        moment later.
        """

        def seen() -> bool:
            with suppress(AssertionError):  # no answer, as one controller follows another
                return self.found() == (phase, codes)
            return False

        with suppress(AssertionError):
            wait_until(seen)
        assert self.found() == (phase, codes)

    def carry(self) -> dict[str, Any]:
        """Carry operations over, and return the answer, held against the schema."""
        answer = self.kadmin("history", "import", *self.zookeeper, *self.brokers, "-o", "json")
        value: dict[str, Any] = json.loads(answer.out)
        assert validate_value(value, "answers/history-import") == []
        return value

    def history(self, side: tuple[str, str]) -> list[tuple[str, str]]:
        listed = json.loads(self.kadmin("history", *side, "-o", "json").out)
        return [(each["operation_id"], each["state"]) for each in listed["operations"]]

    def in_flight(self) -> set[TopicPartition]:
        """Return what is being moved, as soon as brokers that were restarted know a controller."""
        found: list[set[TopicPartition]] = []

        def answered() -> bool:
            with (
                suppress(NotCompletedError),
                KafkaConnection(Servers(self.bootstrap)) as connection,
            ):
                found.append(set(list_reassignments(connection)))
            return bool(found)

        wait_until(answered)
        return found[-1]

    def refused(self, plan: Path, side: tuple[str, str], code: int, words: str) -> None:
        """A command that writes says the phase, and which side serves."""
        answer = command("apply", plan, "--yes", *side)
        assert answer.status == code, answer.err
        assert words in " ".join(answer.err.split())


@pytest.fixture
def walk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Walk, Cluster]]:
    small = {"replica.fetch.max.bytes": "20000", "replica.fetch.response.max.bytes": "20000"}
    spec = SandboxSpec(tmp_path / "sandbox", request.param, chroot="/kafka", broker_config=small)
    sandbox = Sandbox.up(spec)
    try:
        cluster = Cluster(sandbox.connect_string, sandbox.bootstrap, request.param, sandbox)
        try:
            yield Walk(sandbox), cluster
        finally:
            cluster.close()
    finally:
        Sandbox.load(spec.directory).down()


@pytest.mark.matrix
@pytest.mark.parametrize("walk", ["3.9.2"], indirect=True)
def test_a_move_its_records_and_its_history_come_through(
    walk: tuple[Walk, Cluster], tmp_path: Path
) -> None:
    steps, cluster = walk
    moved = cluster.create_topic({0: (1, 2), 1: (2, 3), 2: (1, 2)})
    flowing = cluster.create_topic({0: (1, 2), 1: (2, 3)})
    for number, _ in itertools.product(range(3), range(BATCHES)):
        cluster.produce_to(TopicPartition(moved, number), [RECORD] * RECORDS)
    plan = tmp_path / "plan.yaml"
    plan.write_text(PLAN.replace("TOPIC", moved))
    with RecordsFlowing(
        steps.bootstrap, [TopicPartition(flowing, 0), TopicPartition(flowing, 1)]
    ) as records:
        steps.await_found("zookeeper", set())
        operation = leave_in_flight(steps, plan)
        to_dual_write(steps, plan, TopicPartition(moved, 1))
        steps.migrate("kraft")
        records.wait_for_more()
        carry_to_brokers(steps, plan, operation)
        steps.migrate("finalize")
        records.wait_for_more()
        steps.await_found("finalized", {"moves-in-flight", "unfinished-operation"})
        finish(steps, operation)
        with KafkaConnection(Servers(steps.bootstrap)) as connection:
            create_topic(connection, "new", {0: (1, 2)})
        assert cluster.get("/brokers/topics/new") is None
        value = steps.examine()
        assert (value["phase"], value["go"], value["findings"]) == ("finalized", True, [])
        assert any(moved in each for each in value["stays_behind"])
        steps.kadmin("rollback", operation, "--yes", *steps.brokers)
        assert [state for _, state in steps.history(steps.brokers)] == ["completed"] * 2
    assert records.lost() == []
    assert all(len(found) == RECORDS * BATCHES for found in cluster.read_back(moved).values())


@pytest.mark.matrix
@pytest.mark.parametrize("walk", ["3.7.2"], indirect=True)
def test_an_older_cluster_goes_and_comes_back_and_what_goes_wrong_is_found(
    walk: tuple[Walk, Cluster], tmp_path: Path
) -> None:
    steps, cluster = walk
    topic = cluster.create_topic({0: (1, 2)})
    written = cluster.produce(topic, per_partition=5)
    plan = document(tmp_path / "plan.json", reassignment(topic, {0: [2, 1]}))
    steps.kadmin("apply", plan, "--yes", *steps.zookeeper)
    steps.migrate("start", "brokers")
    steps.await_found("dual-write", set())
    assert cluster.raw.get("/kafka/controller")[1].ephemeralOwner == 0
    ahead = replace(Sandbox.load(steps.directory), phase=MigrationPhase.KRAFT_BROKERS)
    ahead.restart_broker(1)
    steps.await_found("dual-write", {"half-restarted"})
    steps.migrate("kraft")
    steps.await_found("kraft-brokers", {"history-behind"})
    assert cluster.raw.get_children("/kafka/brokers/ids") == []
    what_znodes_show_is_found(steps, cluster, topic)
    assert len(steps.carry()["carried"]) == 1
    steps.kadmin("rollback", "--yes", *steps.brokers)
    # Somebody leaves a request that nothing reads until a broker is controller again.
    entry = {"topic": topic, "partition": 0, "replicas": [2, 1]}
    cluster.raw.create(
        f"/kafka{REASSIGN}", json.dumps({"version": 1, "partitions": [entry]}).encode()
    )
    steps.await_found("kraft-brokers", {"pending-request"})
    assert cluster.state(topic).topics[topic].replicas == {0: (1, 2)}
    steps.migrate("rollback")
    wait_until(lambda: cluster.state(topic).topics[topic].replicas == {0: (2, 1)})
    assert len(steps.carry()["carried"]) == 1
    assert [state for _, state in steps.history(steps.zookeeper)] == ["completed"] * 2
    steps.await_found("zookeeper", set())
    assert cluster.read_back(topic) == written


def what_znodes_show_is_found(steps: Walk, cluster: Cluster, topic: str) -> None:
    """Let ZooKeeper have another list than the brokers, and an operation that is too late."""
    path = f"/kafka/brokers/topics/{topic}"
    before = cluster.get(f"/brokers/topics/{topic}") or b""
    cluster.raw.set(path, before.replace(b"[2,1]", b"[1,2]"))
    steps.await_found("kraft-brokers", {"history-behind", "sides-differ"})
    cluster.raw.set(path, before)
    folder = "/kafka/kadmin/operations"
    (operation,) = cluster.raw.get_children(folder)
    value = json.loads(cluster.get(f"/kadmin/operations/{operation}") or b"")
    later = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    late = f"{folder}/20990101T000000Z-ffffff"
    cluster.raw.create(late, json.dumps({**value, "created_at": later}).encode())
    steps.await_found("kraft-brokers", {"history-behind", "znode-writer"})
    cluster.raw.delete(late)


@pytest.mark.matrix
def test_what_the_page_tells_to_type_works(tmp_path: Path) -> None:
    with workplace_in(tmp_path) as workplace:
        printed = typed(workplace, "docs/migration.md")
    phases = [line for line in printed.splitlines() if line.startswith("phase ")]
    assert list(dict.fromkeys(line for line in phases if line.endswith(": go"))) == [
        f"phase {each.value}: go" for each in MigrationPhase
    ]


@pytest.mark.matrix
@pytest.mark.on("2.8.2")
def test_brokers_that_are_too_old_are_found(cluster: Cluster) -> None:
    answer = command(
        "doctor", "migration", "-z", cluster.connect, "-b", ",".join(cluster.bootstrap)
    )
    assert answer.status == 8
    assert "wrong-protocol (stops the migration)" in answer.out


def leave_in_flight(steps: Walk, plan: Path) -> str:
    """Apply a plan through ZooKeeper, kill the runner while its first wave is copied, and return
    the operation.
    """
    runner = subprocess.Popen(
        [sys.executable, "-m", "kadmin", "apply", str(plan), "--yes", *steps.zookeeper],
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_until(lambda: {each.partition for each in steps.in_flight()} == {1})
    finally:
        runner.kill()
        runner.wait()
    wait_until(
        lambda: command("lock", "show", *steps.zookeeper, "-o", "json").out.count("null") > 0
    )
    ((operation, _),) = steps.history(steps.zookeeper)
    return operation


def to_dual_write(steps: Walk, plan: Path, moving: TopicPartition) -> None:
    """Go on while a partition is moving, until nothing may be changed through either side."""
    steps.migrate("start")
    assert steps.in_flight() == {moving}
    steps.await_found("controllers", {"moves-in-flight", "unfinished-operation"})
    steps.migrate("brokers")
    assert steps.in_flight() == {moving}
    steps.await_found("dual-write", {"moves-in-flight", "pending-request"})
    steps.refused(plan, steps.zookeeper, 6, "phase dual-write")
    steps.refused(
        plan, steps.brokers, 64, "in phase dual-write go on until brokers are in KRaft mode"
    )
    neither = command("history", "import", *steps.zookeeper, *steps.brokers)
    assert (neither.status, "phase dual-write" in neither.err) == (8, True)


def carry_to_brokers(steps: Walk, plan: Path, operation: str) -> None:
    """Carry the operation over, once."""
    assert len(steps.in_flight()) == 1
    steps.await_found("kraft-brokers", {"moves-in-flight", "pending-request", "history-behind"})
    steps.refused(plan, steps.zookeeper, 6, "phase kraft-brokers or finalized")
    assert steps.carry() == {"to": "brokers", "carried": [operation], "already": 0}
    assert steps.carry() == {"to": "brokers", "carried": [], "already": 1}
    assert steps.history(steps.brokers) == [(operation, "paused")]


def finish(steps: Walk, operation: str) -> None:
    """Resume an operation through the brokers at full speed; its throttle is gone at its end."""
    steps.kadmin("throttle", "set", "--rate", "100MB/s", "--yes", *steps.brokers)
    steps.kadmin("resume", operation, "--yes", *steps.brokers)
    assert steps.history(steps.brokers) == [(operation, "completed")]
    assert "no throttles" in steps.kadmin("throttle", "show", *steps.brokers).out
