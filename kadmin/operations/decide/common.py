"""Rules that every kind of operation shares: pickup deadlines, controllers and foreign nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S,
    PICKUP_DEADLINE_S,
    PUBLISH_ATTEMPTS,
    AskListening,
    Finish,
    Wait,
)
from kadmin.operations.record.record import OperationState

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Memory, Observed


def overdue(memory: Memory, now: float) -> bool:
    """Whether the latest step should have been picked up by now; a controller that just changed gets longer."""
    changed = memory.epoch_changed_at
    recently = changed is not None and changed >= memory.step_seen_at - PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S
    since = max(memory.step_seen_at, changed) if recently and changed is not None else memory.step_seen_at
    limit = PICKUP_DEADLINE_AFTER_EPOCH_CHANGE_S if recently else PICKUP_DEADLINE_S
    return now - since > limit


def before_publish(path: str, observed: Observed, memory: Memory, pending: int) -> AskListening | Wait | Finish | None:
    """Say what stands between us and a publish on `path`, or None when nothing does."""
    if observed.state.controller is None:
        return Wait("the cluster has no controller right now", pending)
    if memory.attempts >= PUBLISH_ATTEMPTS:
        return changing()
    return None if path in memory.listening else AskListening(path)


def changing() -> Finish:
    """Every attempt to publish met a cluster that had changed since it was read."""
    return Finish(
        OperationState.FAILED,
        "the cluster keeps changing",
        StalePlanError(
            f"The publish was refused {PUBLISH_ATTEMPTS} times: topics, brokers or controller kept changing.",
            next_command="kadmin diff FILE, and apply again when the cluster is quiet",
        ),
    )


def foreign_node(path: str) -> Finish:
    """Somebody else's admin node stands where ours would go: it is left as it is."""
    return Finish(
        OperationState.RUNNING,
        f"somebody else's {path} is there",
        BusyError(
            f"{path} holds entries that are not of this operation; nothing of it was touched.",
            cause="another tool or operator is at work, or an entry was left behind",
            next_command="kadmin resume, when it is gone",
        ),
    )


def deaf(path: str, *, probed: bool) -> NotCompletedError:
    """Build the error for a controller that does not watch the node, saying what was written."""
    written = "only kadmin's own record and the probe node were written" if probed else "nothing was changed"
    return NotCompletedError(
        f"The controller does not watch {path}; a plan written now would not be seen, so {written}.",
        cause="the node was deleted or overwritten by hand before; from Kafka 1.1 on that ends the watch",
        next_command=f"kadmin heal, then kadmin {'resume' if probed else 'apply FILE'}",
    )


def probe_unanswered(path: str) -> Finish:
    """Our probe was not consumed: the controller is deaf, and the plan was not written."""
    return Finish(OperationState.RUNNING, f"the controller does not watch {path}", deaf(path, probed=True))


def not_picked_up(path: str) -> Finish:
    """Our node was not touched: nothing of it has happened, and nothing will until the controller changes."""
    return Finish(
        OperationState.RUNNING,
        f"the controller did not pick up {path}",
        NotCompletedError(
            f"The controller did not pick up {path} within the deadline; no partition has changed.",
            cause="it does not watch the node (deleted or overwritten by hand before), or is busy for longer than that",
            next_command="kadmin heal, then kadmin resume",
        ),
    )
