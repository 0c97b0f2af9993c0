"""A demotion of a broker on live brokers, in both modes: only its leaders change, and come back."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.documents.plans import document, election
from support.live.kraft import make_topic
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.zookeeper.reader import read_cluster as read_znodes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.live.cluster import Cluster

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

pytestmark = [pytest.mark.live, pytest.mark.eras]

BROKER = 1


def demote_and_roll_back(
    read: Callable[[], ClusterState],
    address: tuple[str, str],
    folder: Path,
    create: Callable[..., str],
) -> None:
    """Rule: applied, the broker leads nothing but the partitions that the proposal names; an
    election of all preferred leaders, as Kafka's own, changes nothing; rollback restores all.
    """
    plan, every = folder / "demote.yaml", document(folder / "all.yaml", election(all=True))
    three = create(dict.fromkeys(range(6), (BROKER, 2, 3)))
    create(dict.fromkeys(range(3), (2, BROKER)))
    single = create({0: (BROKER,)})
    command("apply", every, *address, "--yes")

    def now() -> dict[TopicPartition, tuple[Replicas, int]]:
        state = read()
        return {
            each: (replicas, state.states[each].leader)
            for each, replicas in state.assignment.items()
        }

    before = now()
    proposed = command(
        "propose", "demotion", "--broker", str(BROKER), "--out", plan, *address, "-o", "json"
    )
    assert proposed.status == 0, proposed.err
    found = json.loads(proposed.out)
    stuck = {TopicPartition(each["topic"], each["partition"]) for each in found["impossible"]}
    changed = {TopicPartition(each["topic"], each["partition"]) for each in found["partitions"]}
    assert TopicPartition(single, 0) in stuck
    assert {TopicPartition(three, number) for number in range(6)} <= changed
    assert found["leader_changes"] == sum(before[each][1] == BROKER for each in changed)

    applied = command("apply", plan, *address, "--yes")
    assert applied.status == 0, applied.err

    def led() -> set[TopicPartition]:
        found = now()
        return {each for each in before if found[each][1] == BROKER}

    wait_until(lambda: led() <= stuck)  # brokers show it some time later
    after = now()
    assert {each for each in before if after[each] != before[each]} == changed
    assert all(sorted(after[each][0]) == sorted(before[each][0]) for each in changed)
    counts = {each["broker_id"]: each["after"] for each in found["leaders"]}
    for broker, count in counts.items():
        assert sum(after[each][1] == broker for each in before) == count

    command("apply", every, *address, "--yes")
    assert now() == after

    back = command("rollback", *address, "--yes")
    assert back.status == 0, back.err
    wait_until(lambda: {each: now()[each] for each in before} == before)


def test_a_broker_is_demoted_in_zookeeper_mode(
    live: Sandbox, cluster: Cluster, tmp_path: Path
) -> None:
    read, address = partial(read_znodes, cluster.store), ("-z", live.connect_string)
    demote_and_roll_back(read, address, tmp_path, cluster.create_topic)


@pytest.mark.matrix
def test_a_broker_is_demoted_in_kraft_mode(
    kraft: Sandbox, connection: KafkaConnection, tmp_path: Path
) -> None:
    read, create = partial(read_cluster, connection), partial(make_topic, connection)
    demote_and_roll_back(read, ("-b", ",".join(kraft.bootstrap)), tmp_path, create)
