"""The events of a running operation as lines of JSON."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from kadmin.answers.events import EventAnswer, FollowedSignal, LostRecordsAnswer
from kadmin.next_step import text_of
from kadmin.operations.events import (
    Ended,
    Note,
    OperationStarted,
    Progressed,
    ServerRequestLogged,
    StateChanged,
    StepPublished,
)
from kadmin.schema.shapes import ABSENT, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event, LostRecords


class JsonFollower:
    """Writes events as lines of JSON, schema `answers/event`.

    `now` gives the time of each (RFC 3339).
    """

    def __init__(self, write: Callable[[str], None], now: Callable[[], str]) -> None:
        self._write = write
        self._now = now
        self._opened: OperationStarted | None = None
        self._last: tuple[object, ...] = ()

    def __call__(self, event: Event) -> None:
        """Write one event.

        Progress only when something changed, and growing bytes as often as brokers are asked.
        """
        if isinstance(event, OperationStarted):
            self._opened = event
        if isinstance(event, Progressed):
            shown = (event.done, event.wave, event.done_bytes, event.reason)
            if self._last == shown:
                return
            self._last = shown
        self._write(to_json(event_answer(event, self._now(), self._opened), indent=None) + "\n")

    def close(self) -> None:
        """Do nothing: every line is complete."""


def event_answer(event: Event, at: str, opened: OperationStarted | None) -> EventAnswer:
    """Return the shape of an event; `opened` names the operation, None before it is on record."""
    cluster_id, operation_id = (
        (None, None) if opened is None else (opened.cluster_id, opened.operation_id)
    )
    answer = EventAnswer(at, cluster_id, operation_id, "noted")
    match event:
        case OperationStarted():
            answer = replace(answer, event="opened")
        case StepPublished():
            answer = replace(
                answer, event="published", what=event.what, count=event.count, step=event.step
            )
        case Progressed():
            answer = _progress(answer, event)
        case StateChanged():
            lost = tuple(map(_lost, event.lost_records))
            answer = replace(
                answer, event="state_changed", state=event.state, text=event.text, lost_records=lost
            )
        case Ended():
            answer = replace(answer, event="ended", exit_code=event.exit_code, text=event.text)
            answer = replace(answer, next_command=text_of(event.next_step))
        case Note() | ServerRequestLogged():
            answer = replace(
                answer,
                event="asked" if isinstance(event, ServerRequestLogged) else "noted",
                text=event.text,
            )
    return answer


def _lost(lost: LostRecords) -> LostRecordsAnswer:
    return LostRecordsAnswer(**asdict(lost) | asdict(lost.partition))


def _progress(answer: EventAnswer, event: Progressed) -> EventAnswer:
    return replace(
        answer,
        event="progressed",
        done=event.done,
        total=event.total,
        bytes_done=event.done_bytes,
        bytes_total=event.total_bytes,
        wave=event.wave,
        waves=event.waves,
        rate_bytes_per_s=event.rate,
        eta_s=event.eta_s,
        reason=event.reason,
        throttle_bytes_per_s=ABSENT if event.throttle is None else event.throttle,
        signals={each.name: FollowedSignal(each.value, each.limit) for each in event.signals}
        or ABSENT,
    )
