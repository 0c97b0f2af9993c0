"""Changes of a plan in Markdown, for a comment on its pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.throttle_words import throttle_in_words
from kadmin.plan.units import readable_size
from kadmin.report.kinds import LASTING, election_text, lost_text, tiered_text, words_of
from kadmin.report.markdown import MOST_ROWS, cell, code, folded, more, table
from kadmin.report.plans.rows import (
    BROKER_COLUMNS,
    DISK_COLUMNS,
    DISK_MOVE_COLUMNS,
    PARTITION_COLUMNS,
    broker_rows,
    disk_move_rows,
    disk_rows,
    end_text,
    growth_table,
    makespan_text,
    partition_row,
    target_table,
)
from kadmin.report.text import size_text
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan


def diff_markdown(name: str, plan: Plan, examination: Examination) -> str:
    """Return a comment: the verdict, the refusals, the warnings, and the change in numbers."""
    blocks = [f"### kadmin: {code(name)}", _verdict(plan, examination)]
    if examination.refusals:
        rows = [
            [e.exit_code, cell(e.message), cell(e.next_command or "")] for e in examination.refusals
        ]
        blocks.append(table(["exit code", "what stops it", "next"], rows))
    if examination.warnings:
        warnings = [
            f"- **warning**: {cell(warning)}" for warning in examination.warnings[:MOST_ROWS]
        ]
        blocks.append("\n".join(warnings) + more(examination.warnings))
    if examination.change is not None and examination.change.pending:
        blocks += _change(examination.change, examination.throttle)
    elif examination.targets:
        (title, *others), named = target_table(plan, examination)
        blocks.append(
            folded(title, ["name", *others], [[code(name), *rest] for name, *rest in named])
        )
    if (tiered := tiered_text(examination)) is not None:
        blocks.append(f"{tiered}.")
    if examination.new is not None:
        blocks += [table(*growth_table(examination.new)), f"{LASTING}."]
    if examination.work is not None and (elected := election_text(plan)) is not None:
        blocks.append(f"{elected.capitalize()}.")
    return "\n\n".join(blocks) + "\n"


def _verdict(plan: Plan, examination: Examination) -> str:
    if examination.refusals:
        return "`kadmin apply` would be **refused**."
    if examination.work is None:
        return "Nothing to do."
    if examination.change is not None:
        found = examination.change
        size = "bytes unknown" if found.moved_bytes is None else readable_size(found.moved_bytes)
        return (
            f"**{count(len(found.pending), 'partition')}** to reassign in "
            f"{count(len(found.waves), 'wave')}, {count(found.replicas_added, 'replica')} to "
            f"copy, {size}."
        )
    lost = lost_text(examination)
    destroyed = "" if lost is None else f", {lost} would be destroyed"
    return f"{words_of(plan).targets(len(examination.targets))}{destroyed}."


def _change(found: PlanDiff, throttle: Throttle | None) -> list[str]:
    pace = []
    if throttle is not None:
        shown = throttle_in_words(throttle.asked)
        pace = [f"Throttled at {shown}: {makespan_text(throttle)}."]
    if throttle is not None and throttle.hours is not None:
        pace.append(f"Hours: {end_text(throttle)}.")
    waves = [
        [w.index + 1, len(w.reassignments), readable_size(len(w.payload)), size_text(w.moved_bytes)]
        for w in found.waves
    ]
    partitions = [[code(str(target.partition)), *partition_row(target)] for target in found.pending]
    return [
        *pace,
        table(BROKER_COLUMNS, broker_rows(found, changed_only=True)),
        *_disks(found),
        folded(count(len(waves), "wave"), ["wave", "partitions", "payload", "bytes"], waves),
        folded(count(len(partitions), "partition"), PARTITION_COLUMNS, partitions),
    ]


def _disks(found: PlanDiff) -> list[str]:
    moves = [
        [code(str(each.partition)), *map(cell, map(str, row[1:]))]
        for each, row in zip(found.disk_moves, disk_move_rows(found), strict=True)
    ]
    disks = [[cell(str(each)) for each in row] for row in disk_rows(found)]
    return [
        *([folded(count(len(disks), "disk"), DISK_COLUMNS, disks)] if disks else []),
        *([folded("log directories", DISK_MOVE_COLUMNS, moves)] if moves else []),
    ]
