from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, moving

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import (
    UNTHROTTLED,
    DeletionPlan,
    ElectionPlan,
    FreeBytes,
    PartitionTarget,
    Pin,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.rules import ClusterView, check
from kadmin.plan.waves import bytes_alone, schedule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Plan

A0, A1, B0 = TopicPartition("aaa", 0), TopicPartition("aaa", 1), TopicPartition("bbb", 0)
ASSIGNMENT = {"aaa-0": (1, 2), "aaa-1": (2, 3), "bbb-0": (3, 1)}
RACKS = {1: "r1", 2: "r2", 3: "r2", 4: None}
WORLD = ClusterView(cluster(ASSIGNMENT, brokers=RACKS))


def _plan(*targets: PartitionTarget) -> ReassignmentPlan:
    return ReassignmentPlan(PlanHeader(), targets, UNTHROTTLED)


def deletes(*topics: str) -> DeletionPlan:
    return DeletionPlan(PlanHeader(), topics)


def _codes(violations: object) -> list[str]:
    assert isinstance(violations, tuple)
    return [violation.code for violation in violations]


def found_of(plan: Plan, world: ClusterView | None, *wanted: str) -> tuple[Diagnostic, ...]:
    return tuple(each for each in check(plan, world) if each.code in wanted)


def unknown_names(plan: Plan, brokers: Iterable[int]) -> tuple[Diagnostic, ...]:
    names = (codes.UNKNOWN_TOPIC, codes.UNKNOWN_PARTITION, codes.UNKNOWN_BROKER)
    held = {} if not set(brokers) else ASSIGNMENT
    return found_of(plan, ClusterView(cluster(held, brokers=dict.fromkeys(brokers))), *names)


def stale(plan: ReassignmentPlan) -> tuple[Diagnostic, ...]:
    return found_of(plan, WORLD, codes.STALE_CURRENT)


def fewer_racks(
    plan: ReassignmentPlan, racks: dict[int, str | None] = RACKS
) -> tuple[Diagnostic, ...]:
    return found_of(plan, ClusterView(cluster(ASSIGNMENT, brokers=racks)), codes.FEWER_RACKS)


def test_a_good_plan_has_no_violations() -> None:
    plan = _plan(PartitionTarget(A0, (1, 3), (1, 2)), PartitionTarget(B0, (1, 3)))
    assert check(plan) == ()
    assert unknown_names(plan, RACKS) == ()
    assert stale(plan) == ()
    assert fewer_racks(plan) == ()


def test_every_unknown_name_is_listed() -> None:
    plan = _plan(
        PartitionTarget(TopicPartition("aab", 0), (1, 2)),
        PartitionTarget(TopicPartition("aaa", 9), (1, 2)),
        PartitionTarget(A0, (1, 8, 9)),
    )
    found = unknown_names(plan, [1, 2, 3])
    assert _codes(found) == [
        codes.UNKNOWN_TOPIC,
        codes.UNKNOWN_PARTITION,
        codes.UNKNOWN_BROKER,
        codes.UNKNOWN_BROKER,
    ]
    assert found[0].next_step == "did you mean aaa?"
    assert (found[0].message, found[0].partition) == (
        "aab-0: the cluster has no topic aab",
        TopicPartition("aab", 0),
    )
    assert found[1].message == "aaa-9: topic aaa has 2 partitions, counted from 0"
    assert [violation.broker for violation in found[2:]] == [8, 9]
    assert found[2].next_step == "its brokers are 1, 2, 3"


def test_what_several_partitions_of_a_topic_have_alike_is_one_diagnostic() -> None:
    missing = [PartitionTarget(TopicPartition("aab", number), (1, 2)) for number in range(7)]
    found = unknown_names(
        _plan(*missing, PartitionTarget(A0, (1, 9)), PartitionTarget(B0, (1, 9))), [1, 2, 3]
    )
    assert [(each.code, each.partition, each.message) for each in found] == [
        (
            codes.UNKNOWN_TOPIC,
            TopicPartition("aab", 0),
            "aab-0, aab-1, aab-2, aab-3, aab-4 and 2 more: the cluster has no topic aab",
        ),
        (codes.UNKNOWN_BROKER, A0, f"{A0}: the cluster has no broker 9"),
        (codes.UNKNOWN_BROKER, B0, f"{B0}: the cluster has no broker 9"),
    ], "partitions of two topics stay apart"


def test_ten_brokers_are_named_of_many() -> None:
    (found,) = unknown_names(_plan(PartitionTarget(A0, (99,))), range(12))
    assert found.next_step == "its brokers are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    found = unknown_names(_plan(PartitionTarget(A0, (99,))), ())[-1]
    assert found.next_step == "none is registered"


def test_unknown_names_of_elections_and_deletions() -> None:
    election = ElectionPlan(PlanHeader(), partitions=(A0, TopicPartition("zzz", 0)))
    assert _codes(unknown_names(election, RACKS)) == [codes.UNKNOWN_TOPIC]
    deletion = DeletionPlan(PlanHeader(), ("aaa", "zzz"))
    (violation,) = unknown_names(deletion, RACKS)
    assert (violation.topic, violation.next_step) == ("zzz", None)


def test_a_wholly_foreign_plan_gets_few_guesses() -> None:
    topics = tuple(f"aaa{number}" for number in range(300))
    found = unknown_names(DeletionPlan(PlanHeader(), topics), RACKS)
    assert len(found) == 300
    assert sum(violation.next_step is not None for violation in found) <= 100


def test_stale_means_neither_current_nor_target() -> None:
    at_current, at_target, moved_on = (
        PartitionTarget(A0, (1, 3), (1, 2)),
        PartitionTarget(A1, (2, 3), (3, 4)),
        PartitionTarget(B0, (1, 2), (2, 3)),
    )
    found = stale(_plan(at_current, at_target, moved_on))
    assert [violation.partition for violation in found] == [B0]
    assert found[0].message == "bbb-0: the plan was made on [2, 3], the cluster has [3, 1]"
    assert stale(_plan(PartitionTarget(TopicPartition("new", 0), (1,), (2,)))) == ()


def test_the_order_of_replicas_counts() -> None:
    assert stale(_plan(PartitionTarget(A0, (1, 3), (2, 1))))


def test_replication_factor_by_current_or_assignment() -> None:
    plan = _plan(
        PartitionTarget(A0, (1, 2, 3), (1, 2)),
        PartitionTarget(A1, (1,)),
        PartitionTarget(B0, (1, 2)),
    )
    assert [
        violation.partition for violation in found_of(plan, None, codes.REPLICATION_FACTOR)
    ] == [A0]
    assert [
        violation.partition for violation in found_of(plan, WORLD, codes.REPLICATION_FACTOR)
    ] == [A0, A1]
    assert (
        found_of(
            replace(plan, allow_replication_factor_change=True), WORLD, codes.REPLICATION_FACTOR
        )
        == ()
    )


def test_a_partition_in_mid_move_has_no_replication_factor_to_compare_with() -> None:
    state = moving(
        cluster({"aaa-0": (3, 1, 2)}, brokers=RACKS), "aaa-0", adding=(3,), removing=(2,)
    )
    assert (
        found_of(_plan(PartitionTarget(A0, (3, 1))), ClusterView(state), codes.REPLICATION_FACTOR)
        == ()
    )


def test_fewer_racks() -> None:
    plan = _plan(
        PartitionTarget(A0, (2, 3)), PartitionTarget(A1, (3, 2)), PartitionTarget(B0, (3, 4))
    )
    found = fewer_racks(plan)
    assert [violation.partition for violation in found] == [A0]  # B0 has a broker of unknown rack
    assert found[0].message == "aaa-0: replicas on 2 racks would be on 1"
    assert fewer_racks(plan, {**RACKS, 1: None}) == (), "where a rack is unknown nothing is claimed"
    assert fewer_racks(replace(plan, allow_fewer_racks=True)) == ()
    assert fewer_racks(_plan(PartitionTarget(TopicPartition("new", 0), (1,)))) == ()


def test_racks_lost_are_a_warning_with_the_waiver_and_an_error_without() -> None:
    """Rule: one warning for each number of racks before and after, with the count of partitions."""
    racks = dict(enumerate(("r1", "r2", "r3", "r1", "r2"), start=1))
    wide = ClusterView(
        cluster(
            {"aaa-0": (1, 2, 3), "aaa-1": (2, 3, 1), "bbb-0": (3, 1), "ccc-0": (1, 2)},
            brokers=racks,
        )
    )
    targets = (
        PartitionTarget(A0, (1, 2, 4)),
        PartitionTarget(A1, (2, 5, 1), (2, 3, 1)),
        PartitionTarget(B0, (4, 1)),
    )
    plan = replace(_plan(*targets), allow_fewer_racks=True)
    found = found_of(plan, wide, codes.RACKS_LOST)
    assert [(each.severity, each.message) for each in found] == [
        ("warning", "1 partition: 2 racks to 1 (bbb-0)"),
        ("warning", "2 partitions: 3 racks to 2 (aaa-0, aaa-1)"),
    ]
    assert found_of(plan, wide, codes.FEWER_RACKS) == ()
    refused = replace(plan, allow_fewer_racks=False)
    assert (
        found_of(refused, wide, codes.RACKS_LOST),
        bool(found_of(refused, wide, codes.FEWER_RACKS)),
    ) == ((), True)
    assert found_of(_plan(PartitionTarget(A0, (1, 2, 3))), None, codes.RACKS_LOST) == ()


def test_no_ops_are_warnings() -> None:
    (violation,) = check(
        _plan(PartitionTarget(A0, (1, 2), (1, 2)), PartitionTarget(A1, (2, 3), (3, 2)))
    )
    assert (violation.partition, violation.severity) == (A0, "warning")


def test_collisions_are_warnings() -> None:
    (violation,) = found_of(deletes("a.b", "a_b", "a.b", "a-b", "c"), None, codes.NAME_COLLISION)
    assert (violation.topic, violation.severity) == ("a_b", "warning")
    assert found_of(deletes("a.b", "a.b"), None, codes.NAME_COLLISION) == ()


def test_duplicates_within_one_plan() -> None:
    plan = _plan(PartitionTarget(A0, (1, 2)), PartitionTarget(A0, (2, 1)))
    assert _codes(check(plan)) == [codes.DUPLICATE_PARTITION]
    assert _codes(check(ElectionPlan(PlanHeader(), partitions=(A0, A0)))) == [
        codes.DUPLICATE_PARTITION
    ]
    assert _codes(check(ElectionPlan(PlanHeader(), topics=("a", "a")))) == [codes.DUPLICATE_ENTRY]
    assert _codes(check(DeletionPlan(PlanHeader(), ("a", "a")))) == [codes.DUPLICATE_ENTRY]


def test_wave_limits() -> None:
    moving = PartitionTarget(A0, (1, 3), (1, 2))
    limited = replace(_plan(moving), limits=WaveLimits(max_bytes=100))
    assert _codes(check(limited)) == [codes.SIZE_UNKNOWN]
    sized = replace(limited, reassignments=(replace(moving, size_bytes=101),))
    assert _codes(check(sized)) == [codes.TOO_BIG_FOR_A_WAVE]
    fitting = replace(limited, reassignments=(replace(moving, size_bytes=100),))
    assert check(fitting) == ()
    reordering = replace(limited, reassignments=(PartitionTarget(A0, (2, 1), (1, 2)),))
    assert check(reordering) == ()
    for size, told in (
        (bytes_alone(moving) - 1, [codes.TOO_BIG_FOR_A_WAVE]),
        (bytes_alone(moving), []),
    ):
        tight = replace(_plan(moving), limits=WaveLimits(max_payload=size))
        assert _codes(check(tight)) == told
        with nullcontext() if not told else pytest.raises(InvalidInputError):
            # What passes here can be applied.
            schedule(tight.reassignments, tight.limits, NODES.publish)
    unknown = replace(limited, reassignments=(PartitionTarget(A0, (1, 3)),))
    assert check(unknown) == (), "only the cluster knows what moves"


@pytest.mark.parametrize("current", [None, (1, 2)])
@pytest.mark.parametrize(
    "needs_sizes",
    [{"throttle": ThrottleSpec(ThrottleBy.FINISH_IN, 60)}, {"limits": WaveLimits(max_bytes=9)}],
)
def test_sizes_that_cannot_be_had_are_an_error_where_the_cluster_was_asked(
    current: tuple[int, ...] | None, needs_sizes: dict[str, Any]
) -> None:
    plan = replace(_plan(PartitionTarget(A0, (1, 3), current)), **needs_sizes)
    told = [(each.code, each.severity) for each in check(plan)]
    if current is None and "limits" in needs_sizes:
        assert told == [], "only the cluster knows what moves"
    else:
        assert told == [(codes.SIZE_UNKNOWN, "warning")], "brokers may have them"
    state = cluster({str(A0): (1, 2)}, brokers=dict.fromkeys((1, 2, 3)))
    assert [(each.code, each.severity) for each in check(plan, ClusterView(state))] == [
        (codes.SIZE_UNKNOWN, "error")
    ]
    assert check(plan, ClusterView(state, ClusterFacts(sizes={A0: 5}))) == ()


def test_a_time_to_finish_in_needs_the_size_of_what_moves() -> None:
    sized, unsized = (PartitionTarget(A0, (1, 3), (1, 2), size) for size in (5, None))
    timely = replace(_plan(sized), throttle=ThrottleSpec(ThrottleBy.FINISH_IN, 60))
    assert check(timely) == ()
    (found,) = check(replace(timely, reassignments=(unsized, replace(unsized, partition=B0))))
    assert found.message == "throttle.finish_in is given, but not the size_bytes of aaa-0, bbb-0"
    reordering, unknown = PartitionTarget(A0, (2, 1), (1, 2)), PartitionTarget(B0, (1, 3))
    (found,) = check(replace(timely, reassignments=(reordering, unknown)))
    assert found.message == "throttle.finish_in is given, but not the size_bytes of bbb-0"
    rated = replace(timely, reassignments=(unsized,), throttle=ThrottleSpec(ThrottleBy.RATE, 60))
    assert check(rated) == ()


def test_deletion_guards() -> None:
    plan = DeletionPlan(PlanHeader(), ("a", "b", "__consumer_offsets"), allow_more_than=2)
    assert _codes(check(plan)) == [codes.TOO_MANY_TOPICS, codes.INTERNAL_TOPIC]
    assert check(replace(plan, allow_more_than=3, allow_internal=True)) == ()


def test_a_plan_for_a_cluster_fits_no_other_and_none_without_an_id() -> None:
    plan = replace(_plan(), header=PlanHeader(cluster_id="one"))
    for cluster_id, said in ((None, "this cluster has no id"), ("two", "this is cluster two")):
        world = ClusterView(replace(WORLD.state, cluster_id=cluster_id))
        (found,) = check(plan, world)
        assert (found.code, found.message) == (
            codes.OTHER_CLUSTER,
            f"the document is for cluster one, {said}",
        )
        assert check(_plan(), world) == ()
    assert check(plan, ClusterView(replace(WORLD.state, cluster_id="one"))) == ()


def test_contradictions_of_a_request() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        drain=(1,),
        substitute={3: 1, 4: 4, 5: 6},
        pins=(Pin(A0, (1, 2)), Pin(A0, (2, 3))),
        leaders_only=True,
        free=FreeBytes(1, 10),
    )
    found = check(request)
    assert _codes(found) == [
        codes.CONTRADICTION,
        codes.DUPLICATE_PARTITION,
        *[codes.CONTRADICTION] * 9,
    ]
    assert found[0].field == ("spec", "pins", 0, "replicas", 0)
    assert check(RebalanceRequest(PlanHeader(), drain=(1,), substitute={3: 2})) == ()


def test_a_partition_without_a_source_is_refused_until_the_plan_says_that_it_may_wait() -> None:
    state = cluster({"aaa-0": (5, 1), "bbb-0": (2, 3)}, states={"aaa-0": (NO_LEADER, (5,))})
    plan = _plan(PartitionTarget(A0, (1, 2)), PartitionTarget(B0, (2, 1)))
    (found,) = found_of(plan, ClusterView(state), codes.WITHOUT_SOURCE)
    assert found.message == "aaa-0: no replica is alive and in sync; a copy would wait for broker 5"
    assert (found.severity, found.partition) == ("error", A0)
    (meant,) = found_of(
        replace(plan, allow_without_source=True), ClusterView(state), codes.WITHOUT_SOURCE
    )
    assert meant.severity == "warning"
    reached = replace(
        state, topics={**state.topics, "aaa": replace(state.topics["aaa"], replicas={0: (1, 2)})}
    )
    assert found_of(plan, ClusterView(reached), codes.WITHOUT_SOURCE) == (), (
        "nothing is left to copy"
    )
    assert found_of(plan, ClusterView(replace(state, states={})), codes.WITHOUT_SOURCE) == (), (
        "not known"
    )


def test_a_move_that_waits_for_a_broker_keeps_no_plan_for_other_partitions_from_running() -> None:
    state = moving(
        cluster({"aaa-0": (5, 1), "bbb-0": (2, 3)}, states={"aaa-0": (NO_LEADER, ())}),
        "aaa-0",
        adding=(1,),
    )
    world = ClusterView(state, live=True)
    assert found_of(_plan(PartitionTarget(B0, (2, 1))), world, codes.REASSIGNMENT_RUNNING) == ()
    assert found_of(_plan(PartitionTarget(A0, (2, 1))), world, codes.REASSIGNMENT_RUNNING)
