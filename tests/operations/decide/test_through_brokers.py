"""Rules that only requests through the brokers' API meet: tries on record, topics made again, late
requests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import API
from support.cluster.states import cluster, moving, tp

from kadmin.errors import StalePlanError
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import Finish, Memory, Observed, PublishWave, TakeBack, Wait
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.settling import SETTLE_S, settle
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import (
    CancelStep,
    Channel,
    Intent,
    Sending,
    WaveStep,
    published_by,
)
from kadmin.plan.model import Elect, PartitionTarget

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.cancel_now import CancelAction
    from kadmin.operations.record.steps import Step

A = PartitionTarget(tp("a-0"), (3, 4), (2, 1))
WORK = ReassignmentWork(((A,),), (A,), Elect.NONE)
WAVE = WaveStep(
    1, "now", 0, sending=Sending.ANSWERED, intent=Intent({A.partition: (3, 4)}, {"a": "id"})
)
UNANSWERED = replace(WAVE, sending=Sending.UNANSWERED)
CANCEL = CancelStep(2, "now", (A.partition,), sending=Sending.ANSWERED)
HEARD = Memory(epoch=1, listening=frozenset(Channel))
HALTED = moving(cluster({"a-0": (2, 1, 3, 4)}), "a-0", adding=(3, 4), removing=(3, 4))
"""From Kafka 4.3 on: asked to return to (2, 1), and in flight for ever."""
DONE = Finish(OperationState.CANCELLED, "nothing was in flight")


def seen(state: ClusterState, *steps: Step) -> Observed:
    return Observed(state, published_by(steps), capabilities=API)


def cancel(state: ClusterState, *steps: Step) -> CancelAction:
    return decide_cancel(WORK, seen(state, *steps), HEARD, 0.0, allow_foreign=False)


def with_id(state: ClusterState, topic_id: str) -> ClusterState:
    return replace(state, topics={"a": replace(state.topics["a"], topic_id=topic_id)})


def test_an_original_list_that_ended_nothing_is_followed_by_another_try() -> None:
    assert decide_cancel(
        WORK, seen(HALTED, WAVE, CANCEL), HEARD, 0.0, allow_foreign=False
    ) == TakeBack({A.partition: (2, 1)})
    work = CancellationWork((PartitionTarget(A.partition, (2, 1), (2, 1, 3, 4)),))
    assert work.decide(seen(HALTED, CANCEL), HEARD, 0.0) == TakeBack(
        {A.partition: (2, 1)}, by_api=True
    )


def test_a_list_that_came_after_the_end_of_the_move_begins_a_copy_back_which_is_not_ended() -> None:
    """To end it would return to the target that was just left."""
    back = moving(cluster({"a-0": (2, 1, 3, 4)}), "a-0", adding=(2, 1), removing=(3, 4))
    assert cancel(back, WAVE, CANCEL) == Wait("going back to the original replicas")
    work = CancellationWork((PartitionTarget(A.partition, (2, 1), (2, 1, 3, 4)),))
    for now in (0.0, 1000.0):
        assert isinstance(work.decide(seen(back, CANCEL), HEARD, now), Wait), "however late"


def test_an_order_that_was_lost_is_restored_unless_the_list_was_refused() -> None:
    turned = cluster({"a-0": (1, 2)})
    assert decide_cancel(
        WORK, seen(turned, WAVE, CANCEL), HEARD, 0.0, allow_foreign=False
    ) == TakeBack({A.partition: (2, 1)})
    refused = replace(CANCEL, refused={A.partition: "INVALID_REPLICA_ASSIGNMENT"})
    assert isinstance(cancel(turned, WAVE, refused), Finish)


def test_what_is_back_beside_a_dead_broker_is_cancelled_and_says_so() -> None:
    state = cluster({"a-0": (2, 1)}, brokers={2: None, 3: None, 4: None}, states={"a-0": (2, (2,))})
    action = cancel(state, WAVE, CANCEL)
    assert isinstance(action, Finish)
    assert action.error is None
    assert "not in sync" in action.message


def test_a_topic_made_again_is_not_reassigned_any_further() -> None:
    running = moving(cluster({"a-0": (3, 4, 2, 1)}), "a-0", adding=(3, 4), removing=(2, 1))
    assert decide(WORK, seen(with_id(running, "id"), WAVE), HEARD, 0.0) == Wait("copying")
    assert decide(WORK, seen(with_id(running, "new"), WAVE), HEARD, 0.0) == TakeBack(
        {A.partition: ()}
    )
    action = decide(WORK, seen(with_id(cluster({"a-0": (3, 4)}), "new"), WAVE), HEARD, 0.0)
    assert isinstance(action, Finish)
    assert isinstance(action.error, StalePlanError)
    assert "made again: a-0" in (action.error.cause or "")


def test_an_unchanged_partition_was_not_rejected_and_is_asked_for_again_after_a_while() -> None:
    state = with_id(cluster({"a-0": (2, 1)}), "id")
    memory = replace(HEARD, last_step=1, step_seen_at=100.0)
    assert isinstance(decide(WORK, seen(state, UNANSWERED), memory, 105.0), Wait)
    assert not isinstance(decide(WORK, seen(state, UNANSWERED), memory, 111.0), Wait | Finish)


def test_k15_what_was_accepted_and_is_as_before_was_cancelled_by_another_client() -> None:
    """It is not asked for again: that would undo the other client's work."""
    state = with_id(cluster({"a-0": (2, 1)}), "id")
    memory = replace(HEARD, last_step=1, step_seen_at=100.0)
    assert isinstance(decide(WORK, seen(state, WAVE), memory, 105.0), Wait), (
        "a broker's copy may lag behind"
    )
    action = decide(WORK, seen(state, WAVE), memory, 111.0)
    assert isinstance(action, Finish)
    assert isinstance(action.error, StalePlanError)
    assert "a-0" in action.error.message
    assert "accepted, and cancelled by another client: a-0" in (action.error.cause or "")


def test_k15_what_another_client_sends_elsewhere_is_stale_and_not_a_union_that_copies() -> None:
    """From Kafka 4.3 on the replicas that our request added stay: the list is the one of our
    reassignment.
    """
    elsewhere = moving(cluster({"a-0": (3, 4, 2, 1)}), "a-0", adding=(3, 4), removing=(4, 1))
    action = decide(WORK, seen(with_id(elsewhere, "id"), WAVE), HEARD, 0.0)
    assert isinstance(action, Finish)
    assert isinstance(action.error, StalePlanError)
    assert "being reassigned by another tool: a-0" in (action.error.cause or "")


def test_a_request_that_never_left_published_nothing() -> None:
    state = with_id(cluster({"a-0": (2, 1)}), "id")
    unsent = replace(WAVE, sending=Sending.NOT_APPLIED)
    assert decide(WORK, seen(state, unsent), HEARD, 0.0) == PublishWave(0, (A,))


@pytest.mark.parametrize(("steps", "waits"), [((UNANSWERED,), True), ((WAVE, CANCEL), False)])
def test_an_operation_with_unanswered_requests_ends_late(
    steps: tuple[Step, ...], *, waits: bool
) -> None:
    observed = seen(cluster({"a-0": (2, 1)}), *steps)
    assert (
        isinstance(settle(DONE, observed, Memory(ends_since=10.0), 10.0 + SETTLE_S - 1), Wait)
        is waits
    )
    assert settle(DONE, observed, Memory(ends_since=10.0), 10.0 + SETTLE_S) == DONE
    paused = Finish(OperationState.PAUSED, "paused")
    assert settle(paused, observed, Memory(), 0.0) == paused
