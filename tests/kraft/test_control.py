"""A runner at work is asked from elsewhere, through the topic of the record: another throttle, a
pause, a cancel.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.kafka.processes import KadminProcess
from support.live.kraft import make_topic
from support.live.waiting import wait_until

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.reassignments import list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.cluster.model import Replicas

pytestmark = [pytest.mark.live, pytest.mark.eras, pytest.mark.on("4.4.0")]

ORIGIN, TARGET = (1, 2), (3, 4)
HELD, FREE = "1B/s", "80MB/s"
WAIT_S = 120


@contextmanager
def at_work(
    cluster: KraftCluster, *arguments: str | Path, moves: TopicPartition
) -> Iterator[KadminProcess]:
    """Run a command, and go on once it reassigns this partition."""
    runner = KadminProcess(cluster.sandbox.bootstrap, *arguments)
    try:
        wait_until(lambda: moves in list_reassignments(cluster.connection) or runner.ended, WAIT_S)
        assert not runner.ended, runner.told
        yield runner
    finally:
        runner.end()


def replicas(cluster: KraftCluster, partitions: list[TopicPartition]) -> list[Replicas | None]:
    state = read_cluster(cluster.connection, {each.topic for each in partitions})
    return [state.replicas(each) for each in partitions]


def test_f41_a_runner_changes_its_throttle_pauses_and_takes_back_as_it_is_asked(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """The first wave is held until the rate changes, the second one until it is taken back; the
    third never begins.
    """
    topic = make_topic(cluster.connection, dict.fromkeys(range(3), ORIGIN))
    partitions = [TopicPartition(topic, number) for number in range(3)]
    produce(cluster.connection.servers, dict.fromkeys(partitions[:2], [b"x" * 900_000] * 10))
    targets = dict.fromkeys(range(3), TARGET)
    value = reassignment(topic, targets, waves={"max_partitions": 1}, throttle={"rate": HELD})
    plan = document(tmp_path / "plan.json", value)
    with at_work(cluster, "apply", plan, "--yes", moves=partitions[0]) as runner:
        paused = cluster.kadmin("pause")
        assert paused.status == 0, paused.err
        assert "stops when the running wave is done" in paused.out
        assert not runner.ended, "the wave is followed to its end"
        changed = cluster.kadmin("throttle", "set", "--rate", FREE, "--yes")
        assert changed.status == 0, changed.err
        ended = runner.answer()
    assert (ended.status, "paused" in ended.err) == (8, True), ended.err
    assert replicas(cluster, partitions) == [TARGET, ORIGIN, ORIGIN]
    operation = cluster.history()[-1]
    assert operation["state"] == "paused"
    slowed = cluster.kadmin("throttle", "set", "--rate", HELD, "--yes")
    assert slowed.status == 0, slowed.err
    with at_work(cluster, "resume", "--yes", moves=partitions[1]) as runner:
        cancelled = cluster.kadmin("cancel", "--now", "--yes")
        assert cancelled.status == 0, cancelled.err
        assert "takes the running wave back" in cancelled.out
        ended = runner.answer()
    assert (ended.status, "cancelled" in ended.err) == (8, True), ended.err
    assert replicas(cluster, partitions) == [TARGET, ORIGIN, ORIGIN]
    last = cluster.history()[-1]
    assert (last["operation_id"], last["state"]) == (operation["operation_id"], "cancelled")
    assert list_reassignments(cluster.connection) == {}
    entities = [
        ConfigEntity.of_topic(topic),
        *(ConfigEntity.of_broker(broker_id) for broker_id in (*ORIGIN, *TARGET)),
    ]
    for entity in entities:
        assert read_own_configs(cluster.connection, [entity], broker_id=entity.broker_id) == {
            entity: {}
        }
