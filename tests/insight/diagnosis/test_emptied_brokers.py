"""Brokers that lost their disks, and brokers that only lag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.evidence import evidence
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.insight.diagnosis.emptied_brokers import emptied_broker_troubles
from kadmin.insight.diagnosis.finding import Trouble
from kadmin.worlds.kafka.doctor.diagnose import diagnose as diagnose_kafka
from kadmin.worlds.kafka.doctor.evidence import ClusterLook, KafkaEvidence
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose as diagnose_zookeeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.insight.diagnosis.finding import Finding

ASSIGNMENT = {"a-0": (1, 4), "b-0": (2, 4), "empty-0": (1, 4), "x-0": (4,), "y-0": (4,)}
STATE = cluster(ASSIGNMENT, states={"a-0": (1, (1,)), "b-0": (2, (2,))})
"""Broker 4 is in sync where nothing is to copy, and leads the partitions of its own."""


def held(
    *, a: int = 0, b: int = 0, y: int = 7, leader_a: int = 900, leader_b: int = 100
) -> dict[int, dict[TopicPartition, int]]:
    """Return bytes by broker: those of broker 4, and of the leaders of its partitions."""
    return {
        1: {tp("a-0"): leader_a, tp("empty-0"): 0},
        2: {tp("b-0"): leader_b},
        4: {tp("a-0"): a, tp("b-0"): b, tp("empty-0"): 0, tp("x-0"): 0, tp("y-0"): y},
    }


def troubles(
    state: ClusterState, sizes: Mapping[int, Mapping[TopicPartition, int]]
) -> tuple[Finding, ...]:
    return tuple(emptied_broker_troubles(state, sizes))


def test_it_names_the_bytes_the_partitions_and_what_is_lost() -> None:
    (found,) = troubles(STATE, held(a=60, b=40))
    assert (found.code, found.stops_apply) == (Trouble.EMPTIED_BROKER, False)
    assert (
        found.message
        == "Broker 4 is alive and nearly empty: it holds 100 B of 1.00 kB in 3 replicas."
    )
    assert found.evidence[0] == "not in sync (2): a-0, b-0"
    assert found.evidence[2:] == (
        "have no other replica and are empty there; records that they had are lost: x-0",
    )
    assert str(found.next_step) == "kadmin throttle catch-up --broker 4 --rate 50MB/s"


def test_a_folder_that_is_gone_holds_nothing() -> None:
    (found,) = troubles(STATE, {**held(), 4: {}})
    assert "0 B of 1.00 kB" in found.message
    assert found.evidence[2].endswith("x-0, y-0")


def test_without_partitions_of_its_own_nothing_is_lost() -> None:
    assert len(troubles(STATE, held(y=1) | {4: {tp("x-0"): 1, tp("y-0"): 1}})[0].evidence) == 2


@pytest.mark.parametrize(
    ("state", "sizes"),
    [
        pytest.param(STATE, held(a=61, b=40), id="it lags"),
        pytest.param(STATE, held(leader_a=0, leader_b=0), id="nothing is to copy"),
        pytest.param(
            cluster(ASSIGNMENT, states={"b-0": (2, (2,))}), held(a=0), id="in sync in most bytes"
        ),
        pytest.param(cluster(ASSIGNMENT), held(), id="in sync, and compacted"),
        pytest.param(cluster({"x-0": (4,)}), {4: {}}, id="no partition with another replica"),
        pytest.param(
            cluster({"a-0": (1, 4)}, brokers={4: None}, states={"a-0": (-1, (1,))}),
            {4: {}},
            id="the other replica is dead",
        ),
        pytest.param(
            cluster(ASSIGNMENT, brokers={1: None, 2: None}, states={"a-0": (1, (1,))}),
            held(),
            id="it is dead",
        ),
        pytest.param(STATE, {**held(), 1: {}}, id="a leader did not list the partition"),
        pytest.param(STATE, {2: held()[2], 4: {}}, id="a leader did not answer"),
        pytest.param(STATE, {1: held()[1], 2: held()[2]}, id="it did not answer"),
        pytest.param(
            cluster(ASSIGNMENT, states={"a-0": (-1, (1,)), "b-0": (2, (2,))}),
            held(),
            id="a partition has no leader",
        ),
    ],
)
def test_no_finding(state: ClusterState, sizes: Mapping[int, Mapping[TopicPartition, int]]) -> None:
    assert troubles(state, sizes) == ()


def test_a_replica_that_a_reassignment_adds_begins_empty() -> None:
    assignment = {"a-0": (1, 4)}
    added = cluster(assignment, states={"a-0": (1, (1,))})
    sizes = {1: {tp("a-0"): 900}, 4: {tp("a-0"): 0}}
    assert len(troubles(added, sizes)) == 1
    assert troubles(moving(added, "a-0", adding=(4,)), sizes) == ()
    assert troubles(with_node(added, assignment), sizes) == (), "the request before 2.4"


def test_both_doctors_report_it_where_nothing_is_hidden_and_moves_are_known() -> None:
    seen = KafkaEvidence((ClusterLook(replace(STATE, fenced_brokers={})),), held=held())
    silent = ClusterLook(STATE, "no controller answers")
    for found, is_known in (
        (diagnose_kafka(seen), True),
        (diagnose_kafka(replace(seen, hidden_topics=("secret",))), False),
        (diagnose_kafka(replace(seen, looks=(silent,))), False),
        (diagnose_zookeeper(evidence(STATE, held=held())), True),
    ):
        assert (Trouble.EMPTIED_BROKER in {each.code for each in found}) is is_known
