from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, tp, with_node

from kadmin.diagnostics import Diagnostic
from kadmin.operations.decide.recreation import is_whole
from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.model import (
    UNTHROTTLED,
    ElectionPlan,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    RecreationPlan,
    TopicRecipe,
)
from kadmin.plan.rules import ClusterView, check

if TYPE_CHECKING:
    from collections.abc import Mapping


STATE = cluster(
    {f"t-{number}": ((1, 2), (2, 3), (3, 4), (4, 1))[number % 4] for number in range(8)}
)
SIZES = {tp(f"t-{number}"): 100 for number in range(8)}


def outlook(
    targets: Mapping[str, tuple[int, ...]], facts: ClusterFacts | None = None, **state: object
) -> list[Diagnostic]:
    plan = ReassignmentPlan(
        PlanHeader(),
        tuple(PartitionTarget(tp(name), ids) for name, ids in targets.items()),
        UNTHROTTLED,
        allow_replication_factor_change=True,
        allow_fewer_racks=True,
    )
    changed = replace(STATE, **state)  # type: ignore[arg-type]  # fields of a ClusterState
    found = check(plan, ClusterView(changed, facts or ClusterFacts()))
    return [each for each in found if each.code not in {codes.UNKNOWN_BROKER, codes.RACKS_LOST}]


def test_an_even_plan_leaves_nothing_to_say() -> None:
    assert (
        outlook({"t-0": (2, 1), "t-1": (3, 2)}, ClusterFacts(sizes=SIZES, capacities={1: 400}))
        == []
    )


@pytest.mark.parametrize(("capacity", "told"), [(499, True), (500, False)])
def test_a_broker_over_its_capacity(capacity: int, told: object) -> None:
    """Broker 1 holds 400 bytes and gets 100 more."""
    found = outlook({"t-1": (2, 1)}, ClusterFacts(sizes=SIZES, capacities={1: capacity, 3: 0}))
    assert [(each.code, each.broker, each.partition) for each in found] == (
        [(codes.OVER_CAPACITY, 1, tp("t-1"))] if told else []
    )


def test_a_partition_of_unknown_size_counts_nothing() -> None:
    sizes = {partition: size for partition, size in SIZES.items() if partition != tp("t-4")}
    assert outlook({"t-1": (2, 1)}, ClusterFacts(sizes=sizes, capacities={1: 400})) == []


def test_a_broker_that_is_full_and_gets_no_more_is_not_told() -> None:
    assert outlook({"t-0": (3, 2)}, ClusterFacts(sizes=SIZES, capacities={1: 1})) == []


def test_a_stale_plan_is_not_blamed_for_what_it_did_not_know() -> None:
    """It holds broker 1 for one that has a copy already; that it is stale is another rule."""
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("t-1"), (2, 1), (1, 2)),))
    found = check(plan, ClusterView(STATE, ClusterFacts(sizes=SIZES, capacities={1: 499})))
    assert [each.code for each in found] == [codes.STALE_CURRENT]


def test_leaders_that_crowd_on_one_broker() -> None:
    """8 partitions on 4 brokers: more than 4 on one of them are told."""
    crowd = {"t-1": (1, 2), "t-2": (1, 3)}
    assert outlook(crowd) == []
    (found,) = outlook({**crowd, "t-5": (1, 3)})
    assert (found.code, found.broker, found.severity) == (codes.LEADERS_CONCENTRATED, 1, "warning")
    assert "preferred leader of 5 of 8 partitions, before 2; an even share is 2" in found.message
    assert found.partition == tp("t-1"), "the first that it is to lead"
    (found,) = outlook({"t-6": (3, 1), **crowd, "t-5": (1, 3)})
    assert found.partition == tp("t-1"), "not one that only gives it a copy"
    (found,) = outlook({"t-3": (1, 4), **crowd, "t-5": (1, 3)})
    assert found.partition == tp("t-3"), "one that it has a copy of already, too"


def test_too_few_replicas_for_the_topics_limit() -> None:
    limit = {"t": {"min.insync.replicas": "2"}}
    assert [each.code for each in outlook({"t-0": (2,)}, topic_configs=limit)] == [
        codes.UNDER_MIN_ISR
    ]
    assert outlook({"t-0": (2,)}) == []
    assert outlook({"t-0": (2, 3)}, topic_configs=limit) == []


def test_a_dead_target() -> None:
    brokers = {number: broker for number, broker in STATE.brokers.items() if number != 4}
    limit = {"t": {"min.insync.replicas": "2"}}
    found = outlook({"t-0": (1, 4), "t-1": (2, 9)}, brokers=brokers, topic_configs=limit)
    assert [(each.code, each.partition) for each in found] == [
        (codes.DEAD_BROKER, tp("t-0")),
        (codes.UNDER_MIN_ISR, tp("t-0")),
    ]
    assert found[1].message == "t-0, t-1: live replicas would be 1, its min.insync.replicas is 2"


@pytest.mark.parametrize(
    ("own", "default", "limit"),
    [("3", "2", 3), (None, "2", 2), (None, None, 1), ("two", "2", 1), ("٣", None, 1)],
)
def test_the_limit_is_the_topics_own_then_the_default(
    own: str | None, default: str | None, limit: int
) -> None:
    key = "min.insync.replicas"
    configs = {} if own is None else {"t": {key: own}}
    defaults = {} if default is None else {key: default}
    state = replace(STATE, topic_configs=configs, broker_defaults=defaults)
    assert min_insync_replicas("t", state) == limit
    if own is None:
        assert min_insync_replicas("t", state, 4) == (4 if default is None else limit), (
            "what the brokers' files say"
        )


def test_an_election_warns_of_what_cannot_be_elected_and_of_what_moves() -> None:
    state = cluster(
        {"a-0": (1, 2), "a-1": (9, 2), "a-2": (1, 2), "b-0": (1, 2)},
        states={"a-0": (2, (2,)), "a-1": (2, (2,)), "b-0": (2, (1, 2))},
    )
    plan = ElectionPlan(PlanHeader(), topics=("a", "b", "gone"))
    unknown, *found = check(plan, ClusterView(with_node(state, {"a-2": (2, 1)})))
    assert (unknown.code, unknown.topic) == (codes.UNKNOWN_TOPIC, "gone")
    assert [(each.code, each.partition, each.severity) for each in found] == [
        (codes.NOT_ELECTABLE, tp("a-0"), "warning"),
        (codes.NOT_ELECTABLE, tp("a-1"), "warning"),
        (codes.ELECTED_WHILE_REASSIGNED, tp("a-2"), "warning"),
    ]
    assert "not in the ISR" in found[0].message
    assert "broker 9 is not alive" in found[1].message


def recipe(topic: str, *lists: tuple[int, ...]) -> TopicRecipe:
    return TopicRecipe(topic, dict(enumerate(lists)), {})


def recreation(*recipes: TopicRecipe) -> list[Diagnostic]:
    state = cluster({"t-0": (1,), "a.b-0": (1,), "c_d-0": (1,)})
    state = replace(state, requests=replace(state.requests, deletions=("going",)))
    return list(check(RecreationPlan(PlanHeader(), recipes), ClusterView(state)))


def test_nothing_stands_against_new_topics_on_live_brokers() -> None:
    assert recreation(recipe("new", (1, 2)), recipe("new.er", (3,))) == []


def test_a_topic_that_is_there_or_still_going_is_told_word_for_word() -> None:
    assert recreation(recipe("new", (1,)), recipe("t", (1,)), recipe("going", (1,))) == [
        Diagnostic(
            codes.TOPIC_EXISTS,
            "t exists; it was not changed",
            "take it out of the recipe",
            topic="t",
            field=("spec", "topics", 1, "topic"),
        ),
        Diagnostic(
            codes.TOPIC_EXISTS,
            "going is still being deleted",
            "wait until the deletion is done",
            topic="going",
            field=("spec", "topics", 2, "topic"),
        ),
    ]


@pytest.mark.parametrize(("name", "there"), [("a_b", "a.b"), ("c.d", "c_d")])
def test_a_name_that_collides_is_an_error_here(name: str, there: str) -> None:
    assert recreation(recipe(name, (1,))) == [
        Diagnostic(
            codes.NAME_COLLISION,
            f"{name} differs only in . and _ from {there}: their metrics would have one name",
            topic=name,
            field=("spec", "topics", 0, "topic"),
        )
    ]


def test_dead_brokers_of_a_recipe_are_named_once() -> None:
    assert recreation(recipe("x", (1, 9), (8, 9))) == [
        Diagnostic(
            codes.DEAD_BROKER,
            "x has replicas on brokers that are not alive: 8, 9",
            "start them, or name others in the recipe; alive are 1, 2, 3, 4",
            topic="x",
            field=("spec", "topics", 0, "partitions"),
        )
    ]


def test_ten_live_brokers_are_named_of_many() -> None:
    state = replace(STATE, brokers=dict.fromkeys(range(12), STATE.brokers[1]))
    (found,) = check(RecreationPlan(PlanHeader(), (recipe("x", (99,)),)), ClusterView(state))
    assert str(found.next_step).endswith("alive are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more")


def test_a_topic_is_whole_with_every_partition_and_every_leader() -> None:
    assert is_whole(recipe("t", *[(1,)] * 8), STATE)
    assert not is_whole(recipe("t", *[(1,)] * 7), STATE)
    assert not is_whole(recipe("gone", (1,)), STATE)
    assert is_whole(recipe("t", (0, 1)), cluster({"t-0": (0, 1)})), "broker 0 is a broker"
    leaderless = cluster({"t-0": (1, 2)}, states={"t-0": (-1, (1,))})
    assert not is_whole(recipe("t", (1, 2)), leaderless)
    assert not is_whole(recipe("t", (1, 2)), replace(leaderless, states={}))
