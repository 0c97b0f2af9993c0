"""Elections through the command line, on a live cluster in KRaft mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, election
from support.kafka.broker_proxy import ELECT_LEADERS, BrokerProxy
from support.kafka.processes import KadminProcess
from support.live.kraft import make_topic, wait_assigned
from support.network.frame_proxy import Action, Fault, request_of

from kadmin.cluster.model import TopicPartition
from kadmin.worlds.kafka.reader import read_cluster
from kadmin.worlds.kafka.wire.elections import elect_leaders
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.kraft import KraftCluster

    from kadmin.worlds.kafka.wire.connection import KafkaConnection


def off_preferred(connection: KafkaConnection, count: int = 2) -> str:
    """Make a topic whose leaders are not the preferred ones: a reorder moves no leader."""
    topic = make_topic(connection, dict.fromkeys(range(count), (1, 2)))
    reordered = {TopicPartition(topic, number): (2, 1) for number in range(count)}
    alter_reassignments(connection, reordered)
    wait_assigned(connection, reordered)
    assert leaders(connection, topic) == [1] * count
    return topic


def leaders(connection: KafkaConnection, topic: str) -> list[int]:
    state = read_cluster(connection, [topic])
    return [state.states[partition].leader for partition in state.topics[topic].partitions()]


@pytest.mark.live
def test_leaders_that_are_off_are_elected_and_verified_and_no_others(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic, spared = off_preferred(cluster.connection), off_preferred(cluster.connection)
    plan = document(tmp_path / "election.yaml", election(topics=[topic]))
    assert cluster.kadmin("verify", plan).status == 8
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert applied.out.startswith("2 partitions led as preferred")
    assert cluster.kadmin("verify", plan).status == 0
    assert leaders(cluster.connection, topic) == [2, 2]
    assert leaders(cluster.connection, spared) == [1, 1]
    assert cluster.kadmin("apply", plan, "--yes").out.strip() == "nothing to do"
    absent = document(
        tmp_path / "absent.yaml", election(partitions=[{"topic": topic, "partition": 99}])
    )
    assert cluster.kadmin("apply", absent, "--yes").status == 4


@pytest.mark.matrix
def test_more_partitions_than_one_batch_are_elected_in_several_steps(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    topic = off_preferred(cluster.connection, 1_001)
    plan = document(tmp_path / "election.yaml", election(topics=[topic]))
    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    assert leaders(cluster.connection, topic) == [2] * 1_001
    (shown,) = cluster.history(cluster.history()[-1]["operation_id"])
    steps = [each["step"] for each in shown["events"] if each["step"] is not None]
    assert [len(step["partitions"]) for step in steps] == [500, 500, 1]


@pytest.mark.eras
def test_k20_a_preferred_broker_that_is_away_is_named_for_each_partition(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """The others are elected; the answer names what is not led as preferred, with the reason."""
    topic = make_topic(cluster.connection, {0: (4, 1), 1: (1, 2)})
    reordered = {TopicPartition(topic, 1): (2, 1)}
    alter_reassignments(cluster.connection, reordered)
    wait_assigned(cluster.connection, reordered)
    cluster.sandbox.stop_broker(4)
    try:
        plan = document(tmp_path / "election.yaml", election(topics=[topic]))
        applied = cluster.kadmin("apply", plan, "--yes")
        assert applied.status == 8, applied.err
        assert f"{topic}-0: preferred broker 4 is not alive" in applied.err
        assert leaders(cluster.connection, topic) == [1, 2]
    finally:
        cluster.sandbox.start_broker(4)
    wait_assigned(cluster.connection, {TopicPartition(topic, 0): (4, 1)})


@pytest.mark.eras
@pytest.mark.on("4.4.0")
def test_k20_an_election_that_another_client_asks_for_first_is_no_failure(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """The controller answers ELECTION_NOT_NEEDED, code 84."""
    topic = off_preferred(cluster.connection, 1)
    plan = document(tmp_path / "election.yaml", election(topics=[topic]))

    def elect() -> None:
        assert set(elect_leaders(cluster.connection, [TopicPartition(topic, 0)]).values()) == {None}

    with BrokerProxy(cluster.sandbox) as proxy:
        proxy.faults.append(Fault(Action.CALL, request_of(ELECT_LEADERS), then=elect))
        applied = KadminProcess(proxy.bootstrap, "apply", plan, "--yes").answer()
        assert len(proxy.requests(ELECT_LEADERS)) == 1
    assert applied.status == 0, applied.err
    assert leaders(cluster.connection, topic) == [2]


@pytest.mark.executor
def test_k20_a_preferred_broker_that_dies_around_the_request_is_named_and_the_others_are_elected(
    cluster: KraftCluster, tmp_path: Path
) -> None:
    """The controller answers PREFERRED_LEADER_NOT_AVAILABLE, code 80, for one partition.

    Any broker is asked. One that dies itself gives no answer, and is elected for as long as the
    controller counts it.
    """
    topic = make_topic(cluster.connection, {0: (1, 4), 1: (1, 2)})
    preferred = {TopicPartition(topic, 0): 4, TopicPartition(topic, 1): 2}
    reordered = {partition: (broker_id, 1) for partition, broker_id in preferred.items()}
    alter_reassignments(cluster.connection, reordered)
    wait_assigned(cluster.connection, reordered)
    plan, dead = document(tmp_path / "election.yaml", election(topics=[topic])), list[int]()
    try:
        with BrokerProxy(cluster.sandbox) as proxy:

            def kill_another() -> None:
                asked = proxy.requests(ELECT_LEADERS)[-1].port
                dead.append(
                    next(
                        each
                        for each in preferred.values()
                        if cluster.sandbox.broker_ports[each] != asked
                    )
                )
                cluster.sandbox.stop_broker(dead[0], kill=True)

            proxy.faults.append(Fault(Action.CALL, request_of(ELECT_LEADERS), then=kill_another))
            applied = KadminProcess(proxy.bootstrap, "apply", plan, "--yes").answer()
            assert len(proxy.requests(ELECT_LEADERS)) == 1
        assert applied.status == 8, applied.err
        (lost,) = [partition for partition, broker_id in preferred.items() if broker_id in dead]
        assert f"Not led by their preferred replica: {lost} (1 of 2 partitions)" in applied.err
        assert leaders(cluster.connection, topic) == [
            1 if each in dead else each for each in preferred.values()
        ]
        (shown,) = cluster.history(cluster.history()[-1]["operation_id"])
        refused = [
            each for event in shown["events"] if event["step"] for each in event["step"]["refused"]
        ]
        assert ["PREFERRED_LEADER_NOT_AVAILABLE" in str(each) for each in refused] == [True]
    finally:
        for each in dead:
            cluster.sandbox.start_broker(each)
    wait_assigned(cluster.connection, reordered)
