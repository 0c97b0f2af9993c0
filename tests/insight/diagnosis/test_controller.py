"""Findings on the controller: absent, deaf, or elected again and again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.evidence import BOTH, GOOD, STATE, evidence, node, only, stayed, troubles

from kadmin.insight.diagnosis.finding import Trouble
from kadmin.worlds.zookeeper.doctor.diagnose import diagnose, unchecked
from kadmin.worlds.zookeeper.doctor.evidence import ControllerSample
from kadmin.worlds.zookeeper.model import ControllerNode
from kadmin.worlds.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS


def test_a_healthy_cluster_has_nothing() -> None:
    assert diagnose(evidence()) == ()
    assert unchecked(evidence()) == ()


def test_what_could_not_be_seen_is_said() -> None:
    unknown = evidence(listening=frozenset({REASSIGN_PARTITIONS}))
    assert diagnose(unknown) == ()
    assert [each.split(":")[0] for each in unchecked(unknown)] == [
        f"whether the controller watches {PREFERRED_REPLICA_ELECTION}"
    ]


def test_f35_a_deaf_controller() -> None:
    found = only(
        evidence(
            not_watching=frozenset({REASSIGN_PARTITIONS}),
            listening=frozenset({PREFERRED_REPLICA_ELECTION}),
        )
    )
    assert (found.code, found.znode, found.stops_apply) == (
        Trouble.DEAF_CONTROLLER,
        REASSIGN_PARTITIONS,
        True,
    )
    assert str(found.next_step) == "kadmin heal"


def test_a_node_that_was_there_a_moment_ago_says_nothing_of_the_watch() -> None:
    """After the controller removes the node it takes some milliseconds until it watches again."""
    assert diagnose(evidence(first=node(GOOD), not_watching=frozenset({REASSIGN_PARTITIONS}))) == ()


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        ((5, 5), []),
        ((5, 6), []),
        ((5, 6, 6, 6), []),
        ((5, 5, 6, 6), []),
        ((5, 13, 22, 31), [Trouble.ELECTION_LOOP]),
        ((5, 6, 7, 8), [Trouble.ELECTION_LOOP]),
    ],
)
def test_f36_loops_and_single_failovers(epochs: tuple[int, ...], expected: list[Trouble]) -> None:
    samples = tuple(ControllerSample(each, ControllerNode(1, session_id=7)) for each in epochs)
    assert troubles(evidence(samples=samples)) == expected


def test_f36_a_loop_names_its_cause_and_says_nothing_of_watches() -> None:
    samples = tuple(ControllerSample(each, None) for each in (5, 13, 22, 31))
    found = diagnose(stayed(None, samples=samples, not_watching=BOTH, listening=frozenset()))
    assert [each.code for each in found] == [Trouble.ELECTION_LOOP, Trouble.POISON_NODE]
    assert f"likely cause: poison-node at {REASSIGN_PARTITIONS}" in found[0].evidence
    assert unchecked(stayed(None, samples=samples, listening=frozenset())) == ()


def test_f36_no_controller() -> None:
    absent = tuple(ControllerSample(5, None) for _ in range(4))
    state = replace(STATE, controller=None)
    found = only(evidence(state, samples=absent, listening=frozenset()))
    assert (found.code, found.znode, found.stops_apply) == (
        Trouble.NO_CONTROLLER,
        "/controller",
        True,
    )
    assert "1, 2, 3, 4" in found.evidence[1]
    elected = (*absent[:2], ControllerSample(5, ControllerNode(2, session_id=8)))
    assert diagnose(evidence(samples=elected)) == ()


def test_without_any_broker_there_is_no_controller_to_heal() -> None:
    state = replace(STATE, controller=None, brokers={}, topics={}, states={})
    found = only(evidence(state, samples=(ControllerSample(5, None),) * 4))
    assert (found.code, found.stops_apply) == (Trouble.MISSING_BROKERS, True)
