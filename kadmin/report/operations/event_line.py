"""One event of a running operation in one line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.operations.events import (
    Ended,
    OperationStarted,
    Progressed,
    StateChanged,
    StepPublished,
)
from kadmin.operations.record.steps import StepKind
from kadmin.report.kinds import STEP_WORDS
from kadmin.report.operations.progress_line import fields
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.events import Event


def event_line(event: Event) -> str:
    """Return an event in words, as one line.

    An Ended with its exit code and the command to type next.
    """
    return one_line(_words(event))


def _words(event: Event) -> str:
    match event:
        case OperationStarted():
            return f"operation {event.operation_id} is on record"
        case StepPublished():
            words = STEP_WORDS[StepKind(event.what)]
            tried = f", try {event.attempt}" if event.attempt > 1 else ""
            return (
                f"step {event.step}: {words.published} of {count(event.count, words.subject)} "
                f"published{tried}"
            )
        case Progressed():
            return ", ".join(fields(event).values())
        case StateChanged():
            return (
                event.text if event.text.startswith(event.state) else f"{event.state}: {event.text}"
            )
        case Ended():
            following = "" if event.next_step is None else f"; next: {event.next_step}"
            return f"exit code {event.exit_code}: {event.text}{following}"
    return event.text
