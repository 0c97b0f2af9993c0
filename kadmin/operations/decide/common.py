"""Rules that every kind of operation shares: pickup deadlines, controllers and requests of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S,
    PICKUP_DEADLINE_S,
    PICKUP_WARNING_S,
    PUBLISH_ATTEMPTS,
    AskListening,
    Finish,
    Wait,
)
from kadmin.operations.record.record import OperationState

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.record.record import Channel


def overdue(memory: Memory, now: float) -> bool:
    """Whether the latest step should have been picked up by now; a controller that just changed gets longer."""
    changed = memory.epoch_changed_at
    recently = changed is not None and changed >= memory.step_seen_at - PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
    since = max(memory.step_seen_at, changed) if recently and changed is not None else memory.step_seen_at
    limit = PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S if recently else PICKUP_DEADLINE_S
    return now - since > limit


def before_publish(
    channel: Channel, observed: Observed, memory: Memory, pending: int
) -> AskListening | Wait | Finish | None:
    """Return what has to happen before a publish on the channel, None where it may follow."""
    if observed.state.controller is None:
        return Wait("the cluster has no controller right now", pending)
    if memory.attempts >= PUBLISH_ATTEMPTS:
        return changing()
    return None if channel in memory.listening else AskListening(channel)


def changing() -> Finish:
    """Finish: the cluster had changed since it was read at every attempt to publish."""
    return Finish(
        OperationState.FAILED,
        "the cluster keeps changing",
        StalePlanError(
            f"The publish was refused {PUBLISH_ATTEMPTS} times: topics, brokers or controller kept changing.",
            next_command="kadmin diff FILE, and apply again when the cluster is quiet",
        ),
    )


def foreign_request(place: str) -> Finish:
    """Finish: the request of another tool is pending where ours would go."""
    return Finish(OperationState.RUNNING, f"{place} holds the request of another tool", occupied(place))


def occupied(place: str) -> BusyError:
    """Build the error for a request of another tool that is pending where ours would go."""
    return BusyError(
        f"{place} holds entries that are not of this operation; it was left unchanged.",
        cause="another tool or operator is at work, or an entry was left behind",
        next_command="kadmin doctor; kadmin resume, when it is gone",
    )


def deaf(place: str, *, probed: bool) -> NotCompletedError:
    """Build the error for a controller that would not see a request; it says what was written."""
    written = "only kadmin's own record and the probe node were written" if probed else "nothing was changed"
    return NotCompletedError(
        f"The controller does not watch {place} and would not see a plan written there; {written}.",
        cause="the node was deleted or overwritten by hand before; from Kafka 1.1 on that ends the watch",
        next_command=f"kadmin heal, then kadmin {'resume' if probed else 'apply FILE'}",
    )


def probe_unanswered(place: str) -> Finish:
    """Finish: the controller did not answer our probe, so the plan was not written."""
    return Finish(OperationState.RUNNING, f"the controller does not watch {place}", deaf(place, probed=True))


def awaiting_pickup(reason: str, pending: int, memory: Memory, now: float) -> Wait:
    """Wait for the controller to begin with our request; past PICKUP_WARNING_S with a warning."""
    late = now - memory.step_seen_at > PICKUP_WARNING_S
    warning = f"the controller has not begun with the request for {PICKUP_WARNING_S:g} s" if late else None
    return Wait(reason, pending, warning)


def not_picked_up(place: str) -> Finish:
    """Finish: the controller did not begin with our request."""
    return Finish(
        OperationState.RUNNING,
        f"the controller did not pick up {place}",
        NotCompletedError(
            f"The controller did not pick up {place} within the deadline; no partition has changed.",
            cause="it does not watch the node (deleted or overwritten by hand before), or is busy for longer than that",
            next_command="kadmin heal, then kadmin resume",
        ),
    )
