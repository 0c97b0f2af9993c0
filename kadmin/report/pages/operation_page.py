"""Builds the page of an operation: its steps with their times, and the partitions now."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.next_step import command
from kadmin.operations.reading.rate_history import changed_rates
from kadmin.operations.reading.timeline import moments
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import StepKind, waves_of
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.plan.progress import Progress
from kadmin.plan.throttle_words import hours_in_words
from kadmin.plan.waves import copied_bytes
from kadmin.report.kinds import words_of
from kadmin.report.operations.history import moment_text, took_s
from kadmin.report.pages import page, sections
from kadmin.report.pages.charts import charts, rack_colours
from kadmin.report.pages.disk_bars import disk_sections
from kadmin.report.pages.even_share import even_shares
from kadmin.report.pages.questions import operation_questions
from kadmin.report.pages.rate_figures import rate_section
from kadmin.report.text import NOTHING, UNKNOWN, about, duration
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.insight.predict.forecast import Forecast
    from kadmin.insight.tables.disks import DiskRow
    from kadmin.operations.reading.rate_history import RateHistory
    from kadmin.operations.reading.timeline import Timeline, TimelineEvent
    from kadmin.operations.record.holder import Holder
    from kadmin.plan.model import PartitionTarget

TIMES = ("before", "now")
_TONES = {OperationState.COMPLETED: page.Tone.GOOD, OperationState.FAILED: page.Tone.BAD}
_MOST_MOMENTS = 500


def operation_page(
    found: Timeline,
    forecast: Forecast,
    progress: Mapping[TopicPartition, Progress],
    read_at: str,
    runner: Holder | None,
    disks: Sequence[DiskRow] = (),
) -> page.Page:
    """Build the page.

    `progress` is that of each partition of a reassignment now, `runner` the holder that runs it.
    """
    record, status = found.record, found.status
    state = found.listing.described_state(has_runner=runner is not None)
    parts, shares = [_span_section(found)], even_shares(forecast)
    racks = rack_colours(forecast)
    if (rates := _rates(found)) is not None:
        parts.insert(0, rate_section(rates))
    if found.targets:
        parts += [
            sections.brokers(forecast, shares, TIMES, racks),
            sections.racks(forecast, TIMES, racks),
            *disk_sections(disks),
            sections.losses(forecast, TIMES),
            sections.largest_moves(found.targets),
            sections.every_change(found.targets),
        ]
    facts = (
        ("Operation", record.operation_id),
        ("Plan", record.plan_name or "without a name"),
        ("Kind", record.kind.value),
        ("Cluster", record.cluster_id or UNKNOWN),
        ("By", str(record.author)),
        ("Recorded", record.created_at),
        ("Last change", status.updated_at),
        ("Plan digest", record.plan_digest),
        ("Cluster read", read_at),
        *_hours(found),
    )
    return page.Page(
        title=f"{record.kind.value.capitalize()} {state}",
        kind="Operation",
        facts=tuple((key, one_line(value)) for key, value in facts),
        notices=(_verdict(found, state, runner), *_partition_notices(found, progress)),
        cards=(*_state_cards(found, state), *_work_cards(found, progress, forecast)),
        charts=charts(forecast, shares, TIMES, racks) if found.targets else (),
        sections=tuple(parts),
        questions=operation_questions(found, forecast, has_runner=runner is not None),
    )


def _rates(found: Timeline) -> RateHistory | None:
    if found.took_s is None:
        return None
    end = datetime.fromisoformat(found.record.created_at) + timedelta(seconds=found.took_s)
    return changed_rates(found.record, [span.step for span in found.spans], end)


def _hours(found: Timeline) -> Iterator[tuple[str, str]]:
    throttle = current_throttle(found.record, [span.step for span in found.spans])
    if throttle is not None and throttle.hours is not None:
        yield "Hours", hours_in_words(throttle.hours)


def _verdict(found: Timeline, state: str, runner: Holder | None) -> page.Notice:
    """Return the operation's state in words, and the next command.

    While a runner is at work that is `status`.
    """
    status = found.status
    verdict = f"{state.capitalize()}{f': {one_line(status.message)}' if status.message else ''}"
    if status.state.finished:
        return page.Notice(verdict, _TONES.get(status.state, page.Tone.WARN))
    if runner is not None:
        return page.Notice(
            f"{verdict}; runner: {one_line(str(runner))}",
            page.Tone.NONE,
            str(command("status", "--watch")),
        )
    onward = words_of(found.record.kind).commands(one_line(found.record.operation_id))[0]
    return page.Notice(f"{verdict}; no runner", page.Tone.WARN, str(onward))


def _partition_notices(
    found: Timeline, progress: Mapping[TopicPartition, Progress]
) -> Iterator[page.Notice]:
    open_ = [each for each, where in progress.items() if where is not Progress.DONE]
    if progress and not open_:
        yield page.Notice(
            f"All partitions are at their target now: {len(progress):,}.", page.Tone.GOOD
        )
    elif open_:
        named = name_some([one_line(str(each)) for each in open_])
        tone = page.Tone.WARN if found.status.state.finished else page.Tone.NONE
        yield page.Notice(f"Not at their target now: {named}.", tone)


def _state_cards(found: Timeline, state: str) -> tuple[page.Card, ...]:
    took = UNKNOWN if found.took_s is None else duration(found.took_s)
    ended = found.status.state.finished
    return (
        page.Card("State", state, tone=_TONES.get(found.status.state, page.Tone.NONE)),
        page.Card(
            "Took" if ended else "Time so far",
            took,
            f"from record to {'end' if ended else 'this report'}",
        ),
    )


def _work_cards(
    found: Timeline, progress: Mapping[TopicPartition, Progress], forecast: Forecast
) -> tuple[page.Card, ...]:
    cards = []
    if found.targets:
        done = sum(where is Progress.DONE for where in progress.values())
        throttle = current_throttle(found.record, [span.step for span in found.spans])
        cards += [
            page.Card("Partitions at target", f"{done:,} of {len(progress):,}", "now"),
            page.Card(
                "Bytes copied",
                _copied(found, progress),
                "no throttle" if throttle is None else f"throttled to {throttle}",
            ),
            page.Card("Waves published", f"{len(_published_waves(found)):,} of {found.waves:,}"),
            page.Card("Worst single failure", sections.worst_text(forecast.losses_after), "now"),
        ]
    else:
        cards.append(page.Card("Steps", f"{len(found.spans):,}"))
    return tuple(cards)


def _copied(found: Timeline, progress: Mapping[TopicPartition, Progress]) -> str:
    """Describe the bytes copied.

    They are all that were published for a completed operation, else those at the target.
    """
    published = _published(found)
    if found.status.state is OperationState.COMPLETED:
        published_bytes = copied_bytes(published)
        return about(found.to_copy_bytes if published_bytes is None else published_bytes)
    done = copied_bytes(
        [target for target in published if progress[target.partition] is Progress.DONE]
    )
    return UNKNOWN if done is None else f"{about(done)} of {about(found.to_copy_bytes)}"


def _published_waves(found: Timeline) -> set[int]:
    return set(waves_of(span.step for span in found.spans))


def _published(found: Timeline) -> Sequence[PartitionTarget]:
    positions = {
        at for index in _published_waves(found) for at in found.record.waves[index : index + 1]
    }
    return [found.targets[at] for wave in positions for at in wave]


def _span_section(found: Timeline) -> page.Section:
    whole = found.took_s or 0
    columns = (
        page.PageColumn("Step"),
        page.PageColumn("What", numeric=False, prose=True),
        page.PageColumn("At", numeric=False, whole=True),
        page.PageColumn("Took at most"),
        page.PageColumn(
            f"When, 0 to {duration(whole)}" if whole else "When", numeric=False, sortable=False
        ),
        page.PageColumn("Partitions or topics"),
        page.PageColumn("Bytes"),
    )
    every = moments(found)
    rows = tuple(_row(each, whole, found) for each in every[:_MOST_MOMENTS])
    rest = len(every) - _MOST_MOMENTS
    lead = (
        "A step starts when it is published and ends at the latest when the next step, a pause or "
        "the end of the operation is recorded. Times are UTC, to the second."
    )
    if rest > 0:
        lead += f" Not shown: {count(rest, 'more line')}."
    return page.Section("steps", "What happened", lead, page.PageTable(columns, rows))


def _row(moment: TimelineEvent, whole: float, found: Timeline) -> tuple[page.PageCell, ...]:
    span = moment.span
    if span is None:
        cells = (
            NOTHING,
            moment_text(moment, found.record, found.waves),
            one_line(moment.at),
            "",
            "",
            "",
            "",
        )
        return tuple(page.PageCell(text) for text in cells)
    took = took_s(span)
    bars = (
        (page.Bar(100 * (span.at_s or 0) / whole, 100 * took / whole),)
        if took is not None and whole
        else ()
    )
    copies = span.moved_bytes
    return (
        page.PageCell(str(span.step.number), span.step.number),
        page.PageCell(moment_text(moment, found.record, found.waves)),
        page.PageCell(one_line(moment.at)),
        page.PageCell(UNKNOWN if took is None else duration(took), took),
        page.PageCell("" if bars else UNKNOWN, bars=bars),
        page.PageCell("none", 0)
        if span.step.kind is StepKind.THROTTLE
        else page.number(span.count),
        page.PageCell("none", 0) if copies == 0 else page.size(copies),
    )
