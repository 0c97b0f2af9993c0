from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.plan import codes
from kadmin.plan.checks import (
    check_alone,
    fewer_racks,
    name_collisions,
    no_ops,
    other_cluster,
    replication_factor_changes,
    stale_currents,
    unknown_names,
)
from kadmin.plan.model import (
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
from kadmin.plan.request_checks import check_request, unknown_in_request
from kadmin.plan.waves import bytes_alone, schedule

A0, A1, B0 = TopicPartition("aaa", 0), TopicPartition("aaa", 1), TopicPartition("bbb", 0)
ASSIGNMENT = {A0: (1, 2), A1: (2, 3), B0: (3, 1)}
RACKS = {1: "r1", 2: "r2", 3: "r2", 4: None}


def _plan(*targets: PartitionTarget) -> ReassignmentPlan:
    return ReassignmentPlan(PlanHeader(), targets)


def _codes(violations: object) -> list[str]:
    assert isinstance(violations, tuple)
    return [violation.code for violation in violations]


def test_a_good_plan_has_no_violations() -> None:
    plan = _plan(PartitionTarget(A0, (1, 3), (1, 2)), PartitionTarget(B0, (1, 3)))
    assert check_alone(plan) == ()
    assert unknown_names(plan, ASSIGNMENT, RACKS) == ()
    assert stale_currents(plan, ASSIGNMENT) == ()
    assert fewer_racks(plan, ASSIGNMENT, RACKS) == ()


def test_every_unknown_name_is_listed() -> None:
    plan = _plan(
        PartitionTarget(TopicPartition("aab", 0), (1, 2)),
        PartitionTarget(TopicPartition("aaa", 9), (1, 2)),
        PartitionTarget(A0, (1, 8, 9)),
    )
    found = unknown_names(plan, ASSIGNMENT, [1, 2, 3])
    assert _codes(found) == [codes.UNKNOWN_TOPIC, codes.UNKNOWN_PARTITION, codes.UNKNOWN_BROKER, codes.UNKNOWN_BROKER]
    assert found[0].hint == "did you mean aaa?"
    assert (found[0].message, found[0].partition) == ("aab-0: the cluster has no topic aab", TopicPartition("aab", 0))
    assert found[1].message == "aaa-9: topic aaa has 2 partitions, counted from 0"
    assert [violation.broker for violation in found[2:]] == [8, 9]
    assert found[2].hint == "its brokers are 1, 2, 3"


def test_ten_brokers_are_named_of_many() -> None:
    (found,) = unknown_names(_plan(PartitionTarget(A0, (99,))), ASSIGNMENT, range(12))
    assert found.hint == "its brokers are 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    (found,) = unknown_names(_plan(PartitionTarget(A0, (99,))), ASSIGNMENT, ())
    assert found.hint == "none is registered"


def test_unknown_names_of_elections_and_deletions() -> None:
    election = ElectionPlan(PlanHeader(), partitions=(A0, TopicPartition("zzz", 0)))
    assert _codes(unknown_names(election, ASSIGNMENT, RACKS)) == [codes.UNKNOWN_TOPIC]
    deletion = DeletionPlan(PlanHeader(), ("aaa", "zzz"))
    (violation,) = unknown_names(deletion, ASSIGNMENT, RACKS)
    assert (violation.topic, violation.hint) == ("zzz", None)


def test_a_wholly_foreign_plan_gets_few_guesses() -> None:
    topics = tuple(f"aaa{number}" for number in range(300))
    found = unknown_names(DeletionPlan(PlanHeader(), topics), ASSIGNMENT, RACKS)
    assert len(found) == 300
    assert sum(violation.hint is not None for violation in found) <= 100


def test_stale_means_neither_current_nor_target() -> None:
    at_current, at_target, moved_on = (
        PartitionTarget(A0, (1, 3), (1, 2)),
        PartitionTarget(A1, (2, 3), (3, 4)),
        PartitionTarget(B0, (1, 2), (2, 3)),
    )
    found = stale_currents(_plan(at_current, at_target, moved_on), ASSIGNMENT)
    assert [violation.partition for violation in found] == [B0]
    assert found[0].message == "bbb-0: the plan was made on [2, 3], the cluster has [3, 1]"
    assert stale_currents(_plan(PartitionTarget(TopicPartition("new", 0), (1,), (2,))), ASSIGNMENT) == ()


def test_the_order_of_replicas_counts() -> None:
    assert stale_currents(_plan(PartitionTarget(A0, (1, 3), (2, 1))), ASSIGNMENT)


def test_replication_factor_by_current_or_assignment() -> None:
    plan = _plan(PartitionTarget(A0, (1, 2, 3), (1, 2)), PartitionTarget(A1, (1,)), PartitionTarget(B0, (1, 2)))
    assert [violation.partition for violation in replication_factor_changes(plan, {})] == [A0]
    assert [violation.partition for violation in replication_factor_changes(plan, ASSIGNMENT)] == [A0, A1]
    assert replication_factor_changes(replace(plan, allow_replication_factor_change=True), ASSIGNMENT) == ()


def test_fewer_racks() -> None:
    plan = _plan(PartitionTarget(A0, (2, 3)), PartitionTarget(A1, (3, 2)), PartitionTarget(B0, (3, 4)))
    found = fewer_racks(plan, ASSIGNMENT, RACKS)
    assert [violation.partition for violation in found] == [A0]  # B0 has a broker of unknown rack
    assert found[0].message == "aaa-0: replicas on 2 racks come to 1"
    assert fewer_racks(plan, ASSIGNMENT, {**RACKS, 1: None}) == (), "where a rack is unknown nothing is claimed"
    assert fewer_racks(replace(plan, allow_fewer_racks=True), ASSIGNMENT, RACKS) == ()
    assert fewer_racks(_plan(PartitionTarget(TopicPartition("new", 0), (1,))), ASSIGNMENT, RACKS) == ()


def test_no_ops_are_warnings() -> None:
    (violation,) = no_ops(_plan(PartitionTarget(A0, (1, 2), (1, 2)), PartitionTarget(A1, (2, 3), (3, 2))))
    assert (violation.partition, violation.severity) == (A0, "warning")


def test_collisions_are_warnings() -> None:
    (violation,) = name_collisions(["a.b", "a_b", "a.b", "a-b", "c"])
    assert (violation.topic, violation.severity) == ("a_b", "warning")
    assert name_collisions(["a.b", "a.b"]) == ()


def test_duplicates_within_one_plan() -> None:
    plan = _plan(PartitionTarget(A0, (1, 2)), PartitionTarget(A0, (2, 1)))
    assert _codes(check_alone(plan)) == [codes.DUPLICATE_PARTITION]
    assert _codes(check_alone(ElectionPlan(PlanHeader(), partitions=(A0, A0)))) == [codes.DUPLICATE_PARTITION]
    assert _codes(check_alone(ElectionPlan(PlanHeader(), topics=("a", "a")))) == [codes.DUPLICATE_ENTRY]
    assert _codes(check_alone(DeletionPlan(PlanHeader(), ("a", "a")))) == [codes.DUPLICATE_ENTRY]


def test_wave_limits() -> None:
    moving = PartitionTarget(A0, (1, 3), (1, 2))
    limited = replace(_plan(moving), limits=WaveLimits(max_bytes=100))
    assert _codes(check_alone(limited)) == [codes.SIZE_UNKNOWN]
    sized = replace(limited, reassignments=(replace(moving, size_bytes=101),))
    assert _codes(check_alone(sized)) == [codes.TOO_BIG_FOR_A_WAVE]
    fitting = replace(limited, reassignments=(replace(moving, size_bytes=100),))
    assert check_alone(fitting) == ()
    reordering = replace(limited, reassignments=(PartitionTarget(A0, (2, 1), (1, 2)),))
    assert check_alone(reordering) == ()
    for size, told in ((bytes_alone(moving) - 1, [codes.TOO_BIG_FOR_A_WAVE]), (bytes_alone(moving), [])):
        tight = replace(_plan(moving), limits=WaveLimits(max_payload=size))
        assert _codes(check_alone(tight)) == told
        with nullcontext() if not told else pytest.raises(InvalidInputError):
            schedule(tight.reassignments, tight.limits)  # what passes here can be applied
    unknown = replace(limited, reassignments=(PartitionTarget(A0, (1, 3)),))
    assert check_alone(unknown) == (), "only the cluster knows what moves"


def test_a_time_to_finish_in_needs_the_size_of_what_moves() -> None:
    sized, unsized = (PartitionTarget(A0, (1, 3), (1, 2), size) for size in (5, None))
    timely = replace(_plan(sized), throttle=ThrottleSpec(ThrottleBy.FINISH_IN, 60))
    assert check_alone(timely) == ()
    (found,) = check_alone(replace(timely, reassignments=(unsized, replace(unsized, partition=B0))))
    assert found.message == "throttle.finish_in is given, but not the size_bytes of aaa-0, bbb-0"
    reordering, unknown = PartitionTarget(A0, (2, 1), (1, 2)), PartitionTarget(B0, (1, 3))
    assert check_alone(replace(timely, reassignments=(reordering, unknown))) == ()
    rated = replace(timely, reassignments=(unsized,), throttle=ThrottleSpec(ThrottleBy.RATE, 60))
    assert check_alone(rated) == ()


def test_deletion_guards() -> None:
    plan = DeletionPlan(PlanHeader(), ("a", "b", "__consumer_offsets"), allow_more_than=2)
    assert _codes(check_alone(plan)) == [codes.TOO_MANY_TOPICS, codes.INTERNAL_TOPIC]
    assert check_alone(replace(plan, allow_more_than=3, allow_internal=True)) == ()


def test_cluster_ids_are_compared_where_both_are_known() -> None:
    plan = replace(_plan(), header=PlanHeader(cluster_id="one"))
    assert _codes(other_cluster(plan, "two")) == [codes.OTHER_CLUSTER]
    assert other_cluster(plan, "one") == other_cluster(plan, None) == other_cluster(_plan(), "two") == ()


def test_contradictions_of_a_request() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        drain=(1,),
        substitute={3: 1, 4: 4, 5: 6},
        pins=(Pin(A0, (1, 2)), Pin(A0, (2, 3))),
        leaders_only=True,
        free=FreeBytes(1, 10),
    )
    found = check_request(request)
    assert _codes(found) == [codes.CONTRADICTION, codes.DUPLICATE_PARTITION, *[codes.CONTRADICTION] * 5]
    assert found[0].field == ("spec", "pins", 0, "replicas", 0)
    assert check_request(RebalanceRequest(PlanHeader(), drain=(1,), substitute={3: 2})) == ()


def test_unknown_names_of_a_request() -> None:
    request = RebalanceRequest(
        PlanHeader(),
        drain=(1, 91),
        no_receive=(92,),
        never_lead=(93,),
        substitute={94: 95},
        weights={96: 2.0},
        broker_sets={"a*": (1, 97)},
        pins=(Pin(TopicPartition("zzz", 0), (98,)),),
        free=FreeBytes(99, 10),
    )
    found = unknown_in_request(request, ASSIGNMENT, RACKS)
    assert sorted(violation.broker or 0 for violation in found) == [0, *range(91, 100)]
    assert found[-1].field == ("spec", "pins", 0, "topic")
    assert unknown_in_request(RebalanceRequest(PlanHeader(), drain=(1,)), ASSIGNMENT, RACKS) == ()
