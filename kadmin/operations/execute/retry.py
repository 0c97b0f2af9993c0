"""ZooKeeper away for a while: what can be done again is done again, for a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kadmin.errors import UnreachableError
from kadmin.operations.execute import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.execute.runner import Context

_Result = TypeVar("_Result")

OUTAGE_S = 60.0
"""How long an ensemble may be away, counted from the first call that nobody answered; then somebody should look."""

POLL_S = 0.2


def outlast(turn: Callable[[], _Result], context: Context, operation_id: str) -> _Result:
    """Repeat `turn` while ZooKeeper does not answer, for OUTAGE_S or until the command's end or a signal.

    `turn` must be one that can be repeated: a look, or a write that carries its own proof. A write whose outcome is
    unknown, and a refusal, are not waited out.
    """
    give_up: float | None = None
    while True:
        try:
            return turn()
        except UnreachableError as lost:
            now = context.clock.now()
            give_up = min(now + OUTAGE_S, context.clock.until) if give_up is None else give_up
            if type(lost) is not UnreachableError or context.clock.stop_signal is not None:
                raise
            if now >= give_up:
                raise UnreachableError(
                    lost.message,
                    cause=lost.cause,
                    next_command=f"kadmin resume {operation_id}, when ZooKeeper answers again",
                ) from lost
            context.tell(events.Noted("ZooKeeper does not answer; the operation is on record, waiting"))
            context.clock.wait(POLL_S)
