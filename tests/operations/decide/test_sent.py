"""Which operation on record asked for a move: one whose step sent its target, and the latest of
those.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from support.cluster.states import cluster, tp

from kadmin.documents import dump_json
from kadmin.documents.dump import plan_digest
from kadmin.operations.decide.sent import askers, sent_lists
from kadmin.operations.record.record import (
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import CancelStep, Intent, Sending, WaveStep
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from kadmin.cluster.model import Replicas, TopicPartition

ANN = Author("ann", "host-a", 7)
PLAN = ReassignmentPlan(
    PlanHeader(),
    (PartitionTarget(tp("a-0"), (3, 4), (1, 2)), PartitionTarget(tp("a-1"), (4, 3), (2, 1))),
)
RECORD = OperationRecord(
    "op",
    OperationKind.REASSIGNMENT,
    dump_json(PLAN),
    plan_digest(PLAN),
    None,
    "now",
    ANN,
    {tp("a-0"): (1, 2), tp("a-1"): (2, 1)},
    ((0,), (1,)),
)
FIRST = WaveStep(
    1, "now", 0, sending=Sending.ANSWERED, intent=Intent({tp("a-0"): (3, 4)}, {"a": "id"})
)
BACK = CancelStep(2, "now", (tp("a-0"),), intent=Intent({tp("a-0"): None}, {"a": "id"}))
STATE = cluster({"a-0": (1, 2), "a-1": (2, 1)})
STATE = replace(STATE, topics={"a": replace(STATE.topics["a"], topic_id="id")})


def listed(
    name: str,
    state: OperationState = OperationState.FAILED,
    kind: OperationKind = OperationKind.REASSIGNMENT,
) -> Listing:
    return Listing(name, kind, OperationStatus(state, "now"), "sha256:0", "now", ANN)


def test_a_wave_that_was_never_published_has_asked_for_nothing() -> None:
    assert sent_lists(RECORD, [FIRST], STATE) == {tp("a-0"): {(3, 4)}}
    assert sent_lists(RECORD, [], STATE) == {}
    assert sent_lists(RECORD, [FIRST, BACK], STATE) == {tp("a-0"): {(3, 4), (1, 2)}}


def test_what_did_not_leave_was_refused_or_was_meant_for_an_earlier_topic_is_left_out() -> None:
    assert sent_lists(RECORD, [replace(FIRST, sending=Sending.NOT_APPLIED)], STATE) == {}
    assert sent_lists(RECORD, [replace(FIRST, refused={tp("a-0"): "no"})], STATE) == {}
    again = replace(STATE, topics={"a": replace(STATE.topics["a"], topic_id="another")})
    assert sent_lists(RECORD, [FIRST], again) == {}


def test_where_step_and_request_are_one_write_the_wave_tells() -> None:
    wave = WaveStep(1, "now", 1)
    assert sent_lists(RECORD, [wave], STATE) == {tp("a-1"): {(4, 3)}}
    back = CancelStep(2, "now", (tp("a-1"),))
    assert sent_lists(RECORD, [wave, back], STATE) == {tp("a-1"): {(4, 3), (2, 1)}}


def test_the_latest_operation_that_sent_the_target_asked_for_the_move() -> None:
    moves = {tp("a-0"): (3, 4), tp("a-1"): (4, 3)}
    lists = {
        "op-1": {tp("a-0"): frozenset({(3, 4)})},
        "op-2": {tp("a-0"): frozenset({(3, 4), (1, 2)})},
        "op-3": {},
    }
    found = askers(moves, [listed(name) for name in lists], lambda each: lists[each.operation_id])
    assert {partition: each.operation_id for partition, each in found.items()} == {
        tp("a-0"): "op-2"
    }


def test_operations_that_move_nothing_and_those_without_a_record_are_not_asked() -> None:
    listings = [
        listed("op-1", kind=OperationKind.ELECTION),
        listed("op-2", OperationState.PREPARING),
        listed("op-3", OperationState.DISCARDED),
    ]

    def lists_of(listing: Listing) -> dict[TopicPartition, frozenset[Replicas]]:
        raise AssertionError(listing.operation_id)

    assert askers({tp("a-0"): (3, 4)}, listings, lists_of) == {}
