"""Looks ahead to the next action of an operation that a runner would resume now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import (
    Advance,
    AskEmpty,
    AskStop,
    Finish,
    NoteGone,
    RunErrand,
    Wait,
)
from kadmin.operations.reading.empty import see_empty
from kadmin.operations.reading.stop import see_stop
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import OperationSpec


def advanced(
    context: Context, work: OperationSpec, observed: Observed, memory: Memory, now: float
) -> Memory:
    """Return the memory in the wave that is under way, with the answers of gates where asked.

    An errand counts as done: what follows it says what an operation waits for.
    """
    answered: Memory | None = memory
    while answered is not None:
        memory = answered
        answered = _answered(context, decide(work, observed, memory, now), memory)
    return memory


def _answered(context: Context, action: Action, memory: Memory) -> Memory | None:
    """Return the memory with the answer to a question; None where an action is none."""
    match action:
        case AskStop():
            return replace(memory, stop=see_stop(context, action))
        case AskEmpty():
            return replace(memory, empty=see_empty(context, action))
        case RunErrand() if action.errand not in memory.errands:
            return replace(memory, errands=memory.errands | {action.errand})
        case Advance():
            return replace(memory, wave=action.wave)
    return None


def obstacle_of(action: Action) -> str:
    """Return the reason for which a runner would wait or stop; empty for any other action.

    A stop that no runner has put on record yet is one: it would be asked for again.
    """
    if isinstance(action, Wait):
        return action.warning or action.reason
    if isinstance(action, NoteGone):
        brokers = brokers_in_words(action.brokers)
        return f"a runner that sees {brokers} stopped; resume before you start it"
    if isinstance(action, Finish) and action.error is not None:
        error = action.error
        return error.message if error.cause is None else f"{error.message} ({error.cause})"
    return ""
