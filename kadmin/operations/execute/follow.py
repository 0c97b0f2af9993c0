"""The loop of the runner and of heal: observe, decide, act."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from kadmin.errors import UnreachableError
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.decide.actions import Finish, Wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.errors import KadminError
    from kadmin.next_step import NextStep
    from kadmin.operations.context import Context

Seen = TypeVar("Seen")
Action = TypeVar("Action")

OUTAGE_S = 60.0
"""Seconds that a cluster may be unreachable, from the first failed call."""


@dataclass(frozen=True, slots=True)
class Loop(Generic[Seen, Action]):
    """The parts of a loop.

    `act` carries out an action; it returns the reason to wait before the next reading, None to read
    at once. `on_wait` is called at every wait. `past_deadline` builds the error at the command's
    end. `kept` describes the state after a signal, `again` is the command that resumes.
    """

    observe: Callable[[], Seen]
    decide: Callable[[Seen], Action | Wait | Finish]
    act: Callable[[Action, Seen], str | None]
    on_wait: Callable[[Wait, Seen], None]
    past_deadline: Callable[[str | None, Seen], KadminError]
    kept: str
    again: NextStep


def follow(loop: Loop[Seen, Action], context: Context) -> tuple[Finish, Seen]:
    """Observe, decide and act until an action is Finish; returns it with the last observation.

    While the cluster is unreachable the loop observes again, for OUTAGE_S. No action is repeated
    without observing. Raises StoppedError on a signal. At the command's end it raises the error of
    `past_deadline`, or of an outage that lasted until then.
    """
    clock, warned, give_up = context.clock, "", None
    unanswered: UnreachableError | None = None
    while True:
        clock.stop_if_asked(loop.kept, loop.again)
        try:
            seen = loop.observe()
            action = loop.decide(seen)
            if isinstance(action, Finish):
                return action, seen
            if clock.over:
                raise unanswered or loop.past_deadline(
                    action.reason if isinstance(action, Wait) else None, seen
                )
            wait = action if isinstance(action, Wait) else _acted(loop.act(action, seen))
        except UnreachableError as lost:
            unanswered, give_up = lost, _outlast(lost, give_up, loop.again, context)
            continue
        unanswered, give_up = None, None
        if wait is not None:
            loop.on_wait(wait, seen)
            if wait.warning is not None and wait.warning != warned:
                warned = wait.warning
                context.tell(events.Note(f"warning: {warned}"))
            clock.wait(POLL_S)


def _acted(reason: str | None) -> Wait | None:
    return None if reason is None else Wait(reason)


def _outlast(
    lost: UnreachableError, give_up: float | None, again: NextStep, context: Context
) -> float:
    """Wait for an unreachable cluster and return when to give up; refusals are raised at once."""
    clock = context.clock
    if type(lost) is not UnreachableError or clock.stop_signal is not None:
        raise lost
    give_up = min(clock.now() + OUTAGE_S, clock.until) if give_up is None else give_up
    if clock.now() >= give_up:
        raise UnreachableError(
            lost.message, cause=lost.cause, next_step=again + ", when the cluster is reachable"
        ) from lost
    context.tell(
        events.Note(
            f"the cluster does not answer; waiting, the operation is on record: {lost.message}"
        )
    )
    clock.wait(POLL_S)
    return give_up
