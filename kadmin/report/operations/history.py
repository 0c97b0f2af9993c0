"""One operation with its whole record, as text and JSON, and the lines of its timeline."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.answers.events import FollowedSignal
from kadmin.answers.operations import (
    HistoryAnswer,
    PublishedStep,
    RecordedEvent,
    RecordedOperation,
    Refused,
    ReplacedData,
)
from kadmin.answers.partitions import Partition
from kadmin.cluster.names import one_line
from kadmin.operations.reading.timeline import TimelineEventKind, moments
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.steps import (
    CancelStep,
    ElectionStep,
    ErrandStep,
    GoneStep,
    HealStep,
    ReassigningStep,
    ThrottleChange,
    ThrottleStep,
    TopicStep,
    WaveStep,
)
from kadmin.operations.record.throttle_steps import current_throttle, throttle_changes
from kadmin.plan.throttle import rates_of
from kadmin.plan.throttle_words import rate_in_words, throttle_in_words
from kadmin.report.kinds import STEP_WORDS
from kadmin.report.operations.status import listed
from kadmin.report.text import NOTHING, UNKNOWN, about, duration, table
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from kadmin.operations.reading.timeline import StepSpan, Timeline, TimelineEvent
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Replaced, Step

_ASKED_AT = re.compile(r" at \d{4}-\d\d-\d\dT\S+$")
"""The time in a request to pause or cancel: the line has its own."""
_MOST_DATA = 200
"""Characters of replaced data that a line of text shows; JSON has all of them."""


def operation_text(found: Timeline, holder: Holder | None) -> str:
    """Show the head of an operation, then its timeline; `holder` has the lock."""
    record = found.record
    state = found.listing.described_state(has_runner=is_run_by(record.operation_id, holder))
    throttle = current_throttle(record, [span.step for span in found.spans])
    head = {
        "plan": f"{record.plan_name or 'without a name'}, {record.plan_digest}",
        "file": ""
        if found.listing.file_digest is None
        else f"sha256sum {found.listing.file_digest}",
        "cluster": record.cluster_id or UNKNOWN,
        "throttle": "" if throttle is None else str(throttle),
        "to copy": about(found.to_copy_bytes) if found.targets else "",
    }
    rows = [
        [each.at, *_amounts(each.span), moment_text(each, record, found.waves)]
        for each in moments(found)
    ]
    lines = [
        f"operation {record.operation_id} ({record.kind}, {state})",
        *(f"  {name}: {one_line(text)}" for name, text in head.items() if text),
        "",
        table(["at", "took at most", "count", "bytes", "what"], rows),
    ]
    return "\n".join(lines)


def operation_answer(found: Timeline) -> HistoryAnswer:
    """Answer `history ID`: the one operation, with the details that `history` leaves out."""
    record = found.record
    throttle = current_throttle(record, [span.step for span in found.spans])
    operation = RecordedOperation(
        **listed(found.listing) | {"plan_name": record.plan_name},
        cluster_id=record.cluster_id,
        throttle=None if throttle is None else throttle.rate,
        to_copy_bytes=found.to_copy_bytes if found.targets else None,
        waves=found.waves,
        events=tuple(_event_answer(each, found) for each in moments(found)),
    )
    return HistoryAnswer((operation,))


def moment_text(moment: TimelineEvent, record: OperationRecord, waves: int) -> str:
    """Describe an event of the timeline in one line; `waves` are those of the operation."""
    if moment.span is not None:
        return _step_text(moment.span, waves)
    if moment.status is None or moment.turn is TimelineEventKind.RESUMED:
        first = record.throttle if moment.turn is TimelineEventKind.STARTED else None
        throttle = "" if first is None else f"; throttle {first}"
        return one_line(f"{moment.turn.name.lower()} by {moment.by}{throttle}")
    if moment.turn is TimelineEventKind.ENDED and moment.status.throttle_removed:
        return one_line(f"{moment.status}; the throttle is removed")
    text = one_line(
        moment.status.message if moment.turn is TimelineEventKind.ASKED else str(moment.status)
    )
    return _ASKED_AT.sub("", text)


def _step_text(span: StepSpan, waves: int) -> str:
    step = span.step
    if isinstance(step, HealStep):
        return "moved the controller" if step.replaced is None else _replaced_text(step.replaced)
    text = STEP_WORDS[step.kind].done
    match step:
        case ThrottleStep(throttle=ThrottleChange() as change):
            found = change.request
            rate = None if found is None else throttle_in_words(found.asked, found.hours)
            why = f" ({change.why})" if change.why else ""
            text = text.format(rate=rate or rate_in_words(change.rate)) + why
        case ThrottleStep():
            return "wrote configs of the throttle; a request got no answer"
        case WaveStep():
            text = text.format(wave=f"{step.wave + 1:,}", waves=f"{waves:,}")
        case TopicStep():
            text = f"{text}: {name_some(step.topics)}"
        case ElectionStep():
            text = f"{text}: {name_some(step.partitions)}"
        case ErrandStep():
            text = f"{text.format(errand=step.errand)} {brokers_in_words(step.brokers)}"
        case GoneStep():
            text = f"{text}: {brokers_in_words(step.brokers)}"
    refused = len(_refused(step))
    return f"{text}; refused: {refused}" if refused else text


def _refused(step: Step) -> tuple[Refused, ...]:
    match step:
        case TopicStep():
            return tuple(
                Refused(each, None, reason) for each, reason in sorted(step.refused_topics.items())
            )
        case ReassigningStep() | ElectionStep():
            refused = sorted(step.refused.items())
            return tuple(Refused(each.topic, each.partition, reason) for each, reason in refused)
    return ()


def _replaced_text(replaced: Replaced) -> str:
    verb = {True: "deleted", False: "replaced", None: "replaced or deleted"}[replaced.deleted]
    data = one_line(_decoded(replaced.data) or "nothing")
    shown = data if len(data) <= _MOST_DATA else f"{data[:_MOST_DATA]}..."
    return f"{verb} {one_line(replaced.path)}, version {replaced.version}, which held {shown}"


def _amounts(span: StepSpan | None) -> list[object]:
    if span is None:
        return [NOTHING] * 3
    took = took_s(span)
    return [
        NOTHING if took is None else duration(took),
        NOTHING if span.count is None else span.count,
        about(span.moved_bytes) if span.moved_bytes else NOTHING,
    ]


def took_s(span: StepSpan) -> float | None:
    """Return the most seconds that a step took; None where unknown."""
    return None if span.at_s is None or span.until_s is None else span.until_s - span.at_s


def _event_answer(moment: TimelineEvent, found: Timeline) -> RecordedEvent:
    status, span = moment.status, moment.span
    return RecordedEvent(
        moment.at,
        status.state.value
        if moment.turn is TimelineEventKind.ENDED and status is not None
        else moment.turn.name.lower(),
        by=moment.by or None,
        message=None if status is None else status.message,
        throttle=_rate_set_at(moment, found),
        step=None if span is None else _step_answer(span),
    )


def _rate_set_at(moment: TimelineEvent, found: Timeline) -> int | None:
    """Return the rate of the throttle that is on record from a moment on.

    It is None where it does not change then.
    """
    change = found.record.throttle if moment.turn is TimelineEventKind.STARTED else None
    if moment.span is not None:
        return _rate(moment.span.step)
    return None if change is None else change.rate


def _rate(step: Step) -> int | None:
    return next((change.rate for change in throttle_changes((step,))), None)


def _step_answer(span: StepSpan) -> PublishedStep:
    step = span.step
    replaced = step.replaced if isinstance(step, HealStep) else None
    partitions = step.partitions if isinstance(step, CancelStep | ElectionStep) else ()
    return PublishedStep(
        step.number,
        step.kind,
        wave=step.wave + 1 if isinstance(step, WaveStep) else None,
        count=span.count,
        moved_bytes=span.moved_bytes,
        took_s=took_s(span),
        partitions=tuple(Partition(**asdict(each)) for each in partitions),
        topics=step.topics if isinstance(step, TopicStep) else (),
        throttle=_rate(step),
        refused=_refused(step),
        replaced=None if replaced is None else _replaced_answer(replaced),
        **_change_answer(step),
    )


def _change_answer(step: Step) -> dict[str, Any]:
    """Return the fields of the shape PublishedStep that only a change of the throttle has."""
    return {
        name: value
        for change in throttle_changes((step,))
        for name, value in {
            "why": change.why,
            "rates": {str(broker): rate for broker, rate in rates_of(change.changes).items()},
            "signals": {
                each.name: FollowedSignal(each.value, each.limit) for each in change.signals
            },
        }.items()
        if value
    }


def _replaced_answer(replaced: Replaced) -> ReplacedData:
    return ReplacedData(replaced.path, replaced.version, _decoded(replaced.data), replaced.deleted)


def _decoded(data: bytes | None) -> str | None:
    return None if data is None else data.decode(errors="backslashreplace")
