"""Builds the page of a plan: its changes, the result's balance, and the errors that refuse it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kadmin.cluster.names import one_line
from kadmin.plan.throttle_words import throttle_in_words
from kadmin.report.kinds import lost_text, tiered_text, words_of
from kadmin.report.pages import page, sections
from kadmin.report.pages.charts import charts, rack_colours
from kadmin.report.pages.disk_bars import bytes_in_page, disk_sections
from kadmin.report.pages.disk_bytes import disk_section
from kadmin.report.pages.even_share import even_shares
from kadmin.report.pages.load_hours import load_charts, load_sections
from kadmin.report.pages.questions import plan_questions
from kadmin.report.plans.rows import busiest, end_text, makespan_text
from kadmin.report.proposals import figure_rows
from kadmin.report.text import UNKNOWN, about, duration
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.insight.predict.forecast import Forecast
    from kadmin.insight.tables.disks import DiskRow
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan
    from kadmin.plan.waves import Wave
    from kadmin.planner.load.hours import LoadHours
    from kadmin.report.kinds import KindWords

TIMES = ("before", "after")
_HOURS_BYTES = 100_000
"""Bytes of the page for the heat maps of 100 brokers."""
_MOST_WAVES = 200
_MOST_TARGETS = 500


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """The plan, its file and the source of the state.

    Its figures (schemas/answers/figures), load and the brokers' disks are there if known.
    """

    plan: Plan
    source: str
    seen_in: str
    cluster_id: str | None
    figures: Mapping[str, Any] | None = None
    load_hours: LoadHours | None = None
    disks: tuple[DiskRow, ...] = ()


def plan_page(facts: PlanFacts, found: Examination, forecast: Forecast) -> page.Page:
    """Build the page."""
    change, header = found.change, facts.plan.header
    rows = [
        ("Plan", facts.source),
        ("Cluster", facts.cluster_id or UNKNOWN),
        ("Seen in", facts.seen_in),
    ]
    rows += [("About", header.description)] if header.description else []
    rows += sorted(header.labels.items())
    name = header.name or facts.source
    parts, limits = [], None
    shares = even_shares(forecast, facts.figures, reassigned=change is not None)
    if facts.figures is not None:
        parts.append(_figures_section(facts.figures))
        limits = (facts.figures["bound"]["replicas_max"], facts.figures["bound"]["leaders_max"])
    racks = rack_colours(forecast)
    parts += [
        sections.brokers(forecast, shares, TIMES, racks, limits),
        sections.racks(forecast, TIMES, racks),
    ]
    drawn = charts(forecast, shares, TIMES, racks)
    list_bytes = sections.LIST_BYTES - bytes_in_page(facts.disks)
    if facts.load_hours is not None:
        list_bytes -= _HOURS_BYTES
        parts += load_sections(facts.load_hours, TIMES)
        drawn += load_charts(facts.load_hours, TIMES, racks)
    if change is not None and change.pending:
        parts.append(_wave_section(change, found.throttle))
    if facts.figures is not None and facts.figures.get("disks", {}).get("disks"):
        parts.append(disk_section(facts.figures["disks"]))
    parts += disk_sections(facts.disks, () if change is None else change.disks.disks)
    parts.append(sections.losses(forecast, TIMES))
    if change is not None and change.pending:
        parts += [
            sections.largest_moves(change.pending),
            sections.every_change(change.pending, list_bytes),
        ]
    elif found.targets:
        parts.append(_targets_section(words_of(facts.plan), found.targets))
    return page.Page(
        title=one_line(name),
        kind="Plan",
        facts=tuple((one_line(key), one_line(value)) for key, value in rows),
        notices=_notices(facts, found),
        cards=_cards(facts, found, forecast),
        charts=drawn,
        sections=tuple(parts),
        questions=plan_questions(facts.plan, found, forecast),
    )


def _notices(facts: PlanFacts, found: Examination) -> tuple[page.Notice, ...]:
    notices = [
        page.Notice(
            f"apply would stop with exit code {error.exit_code}: {one_line(error.message + cause)}",
            page.Tone.BAD,
            one_line(error.next_command or ""),
        )
        for error in found.refusals
        for cause in [f" ({error.cause})" if error.cause else ""]
    ]
    notices += [page.Notice(one_line(warning), page.Tone.WARN) for warning in found.warnings]
    if found.throttle is not None:
        notices += [
            page.Notice(one_line(warning), page.Tone.WARN) for warning in found.throttle.warnings
        ]
    if not found.refusals:
        settled = "Nothing to do: the cluster is at the target already."
        verdict = settled if found.work is None else "Nothing was found that would stop this plan."
        notices.insert(0, page.Notice(verdict, page.Tone.GOOD))
    if (tiered := tiered_text(found)) is not None:
        notices.append(page.Notice(f"{tiered}."))
    figures = facts.figures or {}
    if figures.get("proved_optimal"):
        notices.append(page.Notice("Proved optimal: no plan as even moves less.", page.Tone.GOOD))
    notices += [page.Notice(one_line(note)) for note in figures.get("notes", ())]
    if figures.get("left_out"):
        notices.append(
            page.Notice(
                f"{count(figures['left_out'], 'entry', 'entries')} left out by the request's "
                "limits."
            )
        )
    return tuple(notices)


def _cards(facts: PlanFacts, found: Examination, forecast: Forecast) -> tuple[page.Card, ...]:
    cards: list[page.Card] = []
    if found.change is not None:
        cards += _change_cards(found.change, found.throttle, facts.figures)
    elif found.targets:
        cards.append(page.Card(words_of(facts.plan).title, f"{len(found.targets):,}"))
    if (lost := lost_text(found)) is not None:
        cards.append(page.Card("Destroyed", lost, "all copies counted", page.Tone.BAD))
    before, after = (
        sections.worst_text(forecast.losses_before),
        sections.worst_text(forecast.losses_after),
    )
    unknown = f"; {forecast.unknown:,} not known" if forecast.unknown else ""
    return (*cards, page.Card("Worst single failure", after, f"{TIMES[0]}: {before}{unknown}"))


def _change_cards(
    change: PlanDiff, throttle: Throttle | None, figures: Mapping[str, Any] | None
) -> list[page.Card]:
    changes = sum((target.current or ())[:1] != target.replicas[:1] for target in change.pending)
    settled = f"{len(change.settled):,} at the target already" if change.settled else ""

    def least(name: str, shown: Callable[[int], str] = "{:,}".format) -> str:
        bound = (figures or {}).get(name)
        return f"proven least: {shown(bound)}" if bound else ""

    return [
        page.Card("Partitions to reassign", f"{len(change.pending):,}", settled),
        page.Card("Replicas to copy", f"{change.replicas_added:,}", least("moves_bound")),
        page.Card("Bytes to copy", about(change.moved_bytes), least("moved_bytes_bound", about)),
        page.Card("Leader changes", f"{changes:,}", least("leader_changes_bound")),
        page.Card("Waves", f"{len(change.waves):,}", _time(throttle)),
    ]


def _time(throttle: Throttle | None) -> str:
    if throttle is None:
        return "time unknown: no throttle"
    shown = f"at {throttle_in_words(throttle.asked)}: {makespan_text(throttle)}"
    return shown if throttle.hours is None else f"{shown}; hours: {end_text(throttle)}"


def _figures_section(figures: Mapping[str, Any]) -> page.Section:
    columns = (
        page.PageColumn("Figure", numeric=False, sortable=False),
        *(page.PageColumn(name, sortable=False) for name in ("Before", "After", "Proven bound")),
    )
    rows = tuple(
        tuple(page.PageCell(UNKNOWN if text == "-" else text) for text in row)
        for row in figure_rows(figures)
    )
    lead = (
        f"Brokers that may hold replicas: {figures['brokers']:,}; partitions: "
        f"{figures['partitions']:,}. No valid plan is better than the bound."
    )
    return page.Section("figures", "How even", lead, page.PageTable(columns, rows))


def _wave_section(change: PlanDiff, throttle: Throttle | None) -> page.Section:
    seconds: Sequence[float | None] = (
        [None] * len(change.waves) if throttle is None else throttle.wave_seconds
    )
    lengths, scale = _lengths(change.waves, seconds)
    total = max(sum(lengths), 1.0)
    rows, start = [], 0.0
    for wave, wave_seconds, length in zip(change.waves, seconds, lengths, strict=True):
        bar = page.Bar(100 * start / total, 100 * length / total)
        start += length
        rows.append(_wave_row(wave, wave_seconds, bar))
    columns = (
        page.PageColumn("Wave"),
        page.PageColumn("Partitions"),
        page.PageColumn("Bytes"),
        page.PageColumn("At least"),
        page.PageColumn(f"One after the other, {scale}", numeric=False, sortable=False),
        page.PageColumn("Most in", numeric=False, sortable=False),
        page.PageColumn("Most out", numeric=False, sortable=False),
        page.PageColumn("Payload"),
    )
    lead = (
        "Waves are published one after the other; the next waits until every partition of the "
        "last is in sync."
    )
    if throttle is None:
        lead += " The plan has no throttle, so how long the copying takes is not known."
    if len(rows) > _MOST_WAVES:
        lead += f" The first {_MOST_WAVES} of {len(rows):,} are shown."
    return page.Section("waves", "Waves", lead, page.PageTable(columns, tuple(rows[:_MOST_WAVES])))


def _lengths(waves: Sequence[Wave], seconds: Sequence[float | None]) -> tuple[list[float], str]:
    """Return the length of each wave's bar and its unit.

    The unit is time where it is known, else bytes, else partitions.
    """
    measured = [each for each in seconds if each is not None]
    if measured and len(measured) == len(waves):
        return measured, f"0 to {duration(sum(measured))}"
    sizes = [float(wave.moved_bytes) for wave in waves if wave.moved_bytes is not None]
    if len(sizes) == len(waves) and any(sizes):
        return sizes, "by bytes"
    return [float(len(wave.reassignments)) for wave in waves], "by partitions"


def _wave_row(wave: Wave, seconds: float | None, bar: page.Bar) -> tuple[page.PageCell, ...]:
    return (
        page.PageCell(str(wave.index + 1), wave.index),
        page.number(len(wave.reassignments)),
        page.size(wave.moved_bytes),
        page.PageCell(UNKNOWN if seconds is None else duration(seconds), seconds),
        page.PageCell("", bars=(bar,)),
        page.PageCell(busiest(wave.moves_in)),
        page.PageCell(busiest(wave.moves_out)),
        page.size(len(wave.payload)),
    )


def _targets_section(words: KindWords, targets: Sequence[str]) -> page.Section:
    rows = tuple((page.PageCell(one_line(name)),) for name in targets[:_MOST_TARGETS])
    rest = len(targets) - _MOST_TARGETS
    shown = f"; the first {_MOST_TARGETS} are shown" if rest > 0 else ""
    lead = f"{words.targets(len(targets))}{shown}."
    return page.Section(
        "targets",
        words.title,
        lead,
        page.PageTable((page.PageColumn("Name", numeric=False),), rows),
    )
