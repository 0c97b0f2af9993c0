"""Builds the page of an operation: what it published, when, and what the cluster holds now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.errors import name_some
from kadmin.operations.record.record import OperationState
from kadmin.plan.progress import Progress
from kadmin.plan.units import format_rate
from kadmin.plan.waves import moved_bytes
from kadmin.report.kinds import step_words, words_of
from kadmin.report.pages.page import (
    Bar,
    Card,
    Notice,
    Page,
    PageCell,
    PageColumn,
    PageTable,
    Section,
    Tone,
    number,
    size,
)
from kadmin.report.pages.sections import (
    broker_section,
    charts,
    full_section,
    largest_section,
    loss_section,
    rack_section,
    worst_text,
)
from kadmin.report.text import UNKNOWN, about, count, duration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.insight.predict.forecast import Forecast
    from kadmin.operations.reading.timeline import Span, Timeline
    from kadmin.plan.model import PartitionTarget

TIMES = ("before", "now")
_TONES = {OperationState.COMPLETED: Tone.GOOD, OperationState.FAILED: Tone.BAD}
_MOST_SPANS = 500


def operation_page(
    found: Timeline, forecast: Forecast, progress: Mapping[TopicPartition, Progress], read_at: str
) -> Page:
    """Build the page; `progress` is how far each partition of a reassignment is now."""
    record, status = found.record, found.status
    sections = [_span_section(found)]
    if found.targets:
        sections += [
            broker_section(forecast, None, TIMES),
            rack_section(forecast, TIMES),
            loss_section(forecast, TIMES),
            largest_section(found.targets, "Largest moves"),
            full_section(found.targets),
        ]
    facts = (
        ("Operation", record.operation_id),
        ("Kind", record.kind.value),
        ("Cluster", record.cluster_id or UNKNOWN),
        ("By", f"{record.author.user}@{record.author.host}"),
        ("Recorded", record.created_at),
        ("Last change", status.updated_at),
        ("Plan", record.plan_digest),
        ("Cluster read", read_at),
    )
    return Page(
        title=f"{record.kind.value.capitalize()} {status.state.value}",
        kind="Operation",
        facts=tuple((key, one_line(value)) for key, value in facts),
        notices=_notices(found, progress),
        cards=_cards(found, progress, forecast),
        charts=charts(forecast, TIMES) if found.targets else (),
        sections=tuple(sections),
    )


def _notices(found: Timeline, progress: Mapping[TopicPartition, Progress]) -> tuple[Notice, ...]:
    status = found.status
    message = f": {one_line(status.message)}" if status.message else ""
    notices = [Notice(f"{status.state.value.capitalize()}{message}", _TONES.get(status.state, Tone.WARN))]
    if not status.state.finished:
        command = words_of(found.record.kind).commands(one_line(found.record.operation_id))[0]
        notices.append(Notice("The operation is not finished.", Tone.WARN, command))
    open_ = [each for each, where in progress.items() if where is not Progress.DONE]
    if progress and not open_:
        notices.append(Notice(f"All partitions are at their target now: {len(progress):,}.", Tone.GOOD))
    elif open_:
        named = name_some([one_line(str(each)) for each in open_])
        notices.append(Notice(f"Not at their target now: {named}.", Tone.WARN))
    return tuple(notices)


def _cards(found: Timeline, progress: Mapping[TopicPartition, Progress], forecast: Forecast) -> tuple[Card, ...]:
    took = UNKNOWN if found.took_s is None else duration(found.took_s)
    cards = [Card("State", found.status.state.value, tone=_TONES.get(found.status.state, Tone.NONE))]
    if found.status.state.finished:
        cards.append(Card("Took", took, "from record to end"))
    else:
        cards.append(Card("Since", took, "from record to its last change"))
    if found.targets:
        done = sum(where is Progress.DONE for where in progress.values())
        rate = None if found.record.throttle is None else format_rate(found.record.throttle.rate)
        cards += [
            Card("Partitions at target", f"{done:,} of {len(progress):,}", "now"),
            Card("Bytes copied", about(_copied(found)), f"throttled to {rate}" if rate else "no throttle"),
            Card("Waves published", f"{len(_published_waves(found)):,} of {found.waves:,}"),
            Card("Worst single failure", worst_text(forecast.losses_after), "now"),
        ]
    else:
        cards.append(Card("Steps", f"{len(found.spans):,}"))
    return tuple(cards)


def _copied(found: Timeline) -> int | None:
    """Return the bytes of the waves that were published; None unless the operation is completed."""
    if found.status.state is not OperationState.COMPLETED:
        return None
    sizes = [moved_bytes(target) for target in _published(found)]
    return None if None in sizes else sum(each or 0 for each in sizes)


def _published_waves(found: Timeline) -> set[int]:
    return {span.step.wave for span in found.spans if span.step.wave is not None}


def _published(found: Timeline) -> Sequence[PartitionTarget]:
    positions = {at for index in _published_waves(found) for at in found.record.waves[index : index + 1]}
    return [found.targets[at] for wave in positions for at in wave]


def _span_section(found: Timeline) -> Section:
    whole = found.took_s or 0
    columns = (
        PageColumn("Step"),
        PageColumn("What", numeric=False),
        PageColumn("Published at", numeric=False, whole=True),
        PageColumn("Took at most"),
        PageColumn(f"When, 0 to {duration(whole)}" if whole else "When", numeric=False, sortable=False),
        PageColumn("Partitions or topics"),
        PageColumn("Bytes"),
    )
    rows = tuple(_span_row(span, whole, found.waves) for span in found.spans[:_MOST_SPANS])
    rest = len(found.spans) - _MOST_SPANS
    lead = (
        "A step starts when it is published and ends at the latest when the next step or the end of the operation is "
        "recorded. Times are UTC, to the second."
    )
    if rest > 0:
        lead += f" Not shown: {count(rest, 'more step')}."
    if not rows:
        lead = "Nothing was published."
    return Section("steps", "What happened", lead, PageTable(columns, rows))


def _span_row(span: Span, whole: float, waves: int) -> tuple[PageCell, ...]:
    known = span.at_s is not None and span.until_s is not None
    took = span.until_s - span.at_s if span.at_s is not None and span.until_s is not None else None
    bars = (Bar(100 * (span.at_s or 0) / whole, 100 * (took or 0) / whole),) if known and whole else ()
    copies = span.moved_bytes
    return (
        PageCell(str(span.step.number), span.step.number),
        PageCell(_what(span, waves)),
        PageCell(one_line(span.step.at)),
        PageCell(UNKNOWN if took is None else duration(took), took),
        PageCell("" if bars else UNKNOWN, bars=bars),
        number(span.count),
        PageCell("none", 0) if copies == 0 else size(copies),
    )


def _what(span: Span, waves: int) -> str:
    wave = UNKNOWN if span.step.wave is None else f"{span.step.wave + 1:,}"
    return step_words(span.step.kind).done.format(wave=wave, waves=f"{waves:,}")
