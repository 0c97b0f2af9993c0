"""Rules on growths, alone and on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, moving

from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import GrowthPlan, PlanHeader, Policy, Switch, TopicGrowth
from kadmin.plan.rules import ClusterView, check

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas

STATE = cluster({"a-0": (1, 2)}, brokers={1: None, 2: None, 3: None})
COMPACTED = replace(STATE, topic_configs={"a": {"cleanup.policy": "compact"}})


def plan(*new: Replicas, topic: str = "a", current: int = 1, meant: bool = True) -> GrowthPlan:
    growth = TopicGrowth(topic, current, new or ((2, 3),))
    return GrowthPlan(PlanHeader(), (growth,), allow_keys_move=meant)


def found(
    asked: GrowthPlan,
    state: ClusterState | None = STATE,
    facts: ClusterFacts | None = None,
    policy: Policy | None = None,
) -> set[tuple[str, str]]:
    world = None if state is None else ClusterView(state, facts or ClusterFacts(), live=True)
    return {(each.code, each.severity) for each in check(asked, world, policy)}


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (plan(topic="b"), codes.UNKNOWN_TOPIC),
        (plan(current=2), codes.OTHER_COUNT),
        (plan((2,)), codes.OTHER_FACTOR),
        (plan((2, 9)), codes.UNKNOWN_BROKER),
        (plan(topic="__kadmin", current=2), codes.NEVER_GROWN),
        (plan(meant=False), codes.KEYS_MOVE),
    ],
)
def test_each_problem_has_its_code(asked: GrowthPlan, code: str) -> None:
    assert code in {each for each, _ in found(asked)}
    assert found(plan()) == set()


def test_a_dead_broker_is_refused() -> None:
    fenced = {9: STATE.brokers[1]}
    assert found(plan((2, 9)), replace(STATE, fenced_brokers=fenced)) == {
        (codes.DEAD_BROKER, "error")
    }


def test_a_topic_that_is_reassigned_or_deleted_is_refused() -> None:
    assert (codes.BEING_REASSIGNED, "error") in found(plan(), moving(STATE, "a-0", adding=(3,)))
    deleted = replace(STATE, requests=replace(STATE.requests, deletions=("a",)))
    assert found(plan(), deleted) == {(codes.BEING_DELETED, "error")}


def test_keys_that_move_are_a_warning_and_an_error_in_a_compacted_topic_or_by_a_policy() -> None:
    asked = plan(meant=False)
    assert found(asked, None) == {(codes.KEYS_MOVE, "warning")}
    assert found(asked) == {(codes.KEYS_MOVE, "warning")}
    assert found(asked, COMPACTED) == {(codes.COMPACTED, "error")}
    strict = Policy(codes={codes.KEYS_MOVE: Switch.ERROR})
    assert found(asked, policy=strict) == {(codes.KEYS_MOVE, "error")}
    assert found(plan(), COMPACTED, policy=strict) == set()


def test_groups_that_read_it_are_named_and_what_is_not_known_is_said() -> None:
    facts = ClusterFacts(consumers={"a": ("billing",)}, unavailable=("groups: no answer",))
    assert found(plan(), facts=facts) == {
        (codes.GROUPS_DISTURBED, "warning"),
        (codes.GUARD_UNCHECKED, "warning"),
    }


def test_a_growth_that_is_reached_is_left_alone() -> None:
    grown = cluster({"a-0": (1, 2), "a-1": (2, 3)})
    assert found(plan(meant=False), grown) == set()


def test_new_partitions_of_other_lengths_are_found_without_a_cluster() -> None:
    assert found(plan((1, 2), (3,)), None) == {(codes.OTHER_FACTOR, "error")}
    twice = replace(plan(), topics=(*plan().topics, *plan().topics))
    assert found(twice, None) == {(codes.DUPLICATE_ENTRY, "error")}
