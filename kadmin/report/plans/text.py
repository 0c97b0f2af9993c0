"""Changes of a plan, as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.throttle import describe_entities
from kadmin.plan.throttle_words import throttle_in_words
from kadmin.plan.units import readable_size
from kadmin.report.kinds import LASTING, election_text, lost_text, tiered_text
from kadmin.report.plans.rows import (
    BROKER_COLUMNS,
    DISK_COLUMNS,
    DISK_MOVE_COLUMNS,
    PARTITION_COLUMNS,
    broker_rows,
    busiest,
    disk_move_rows,
    disk_rows,
    end_text,
    growth_table,
    makespan_text,
    partition_row,
    target_table,
)
from kadmin.report.text import SHOWN_ROWS, duration, shortened, size_text, table
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan


def diff_text(plan: Plan, examination: Examination) -> str:
    """Show the changes of a plan, and the refusals."""
    blocks = []
    if examination.change is not None:
        blocks.append(_change(examination.change, examination.throttle))
    if examination.throttle is not None:
        blocks.append(_throttle(examination.throttle))
    if examination.work is not None and (elected := election_text(plan)) is not None:
        blocks.append(elected)
    if examination.targets:
        headers, rows = target_table(plan, examination)
        blocks.append(shortened(table(headers, rows[:SHOWN_ROWS]), len(rows)))
    if examination.new is not None:
        blocks += [table(*growth_table(examination.new)), LASTING]
    blocks += _bytes(examination)
    refused = [each.message for each in examination.refusals]
    if warnings := [
        each for each in examination.warnings if not any(each in message for message in refused)
    ]:
        shown = "\n\n".join(f"warning: {warning}" for warning in warnings[:SHOWN_ROWS])
        blocks.append(shortened(shown, len(warnings)))
    if examination.work is None and not examination.refusals:
        blocks.append("nothing to do")
    if refusals := examination.refusals:
        blocks.append(
            f"apply would stop with exit code {refusals[0].exit_code}: {refusals[0].message}"
        )
        blocks += [f"and then: {each.message}" for each in refusals[1:]]
    return "\n\n".join(blocks)


def _bytes(examination: Examination) -> Iterator[str]:
    if (lost := lost_text(examination)) is not None:
        yield f"{lost} would be destroyed, all replicas counted"
    if (tiered := tiered_text(examination)) is not None:
        yield tiered


def _change(found: PlanDiff, throttle: Throttle | None) -> str:
    head = (
        f"{count(len(found.pending), 'partition')} to reassign, "
        f"{count(len(found.settled), 'partition')} at the target already, "
        f"{count(found.replicas_added, 'replica')} to copy, {size_text(found.moved_bytes)}"
    )
    if not found.pending:
        return head
    partitions = [
        [target.partition, *partition_row(target)] for target in found.pending[:SHOWN_ROWS]
    ]
    shown = shortened(table(PARTITION_COLUMNS, partitions), len(found.pending))
    blocks = [head, shown]
    if moves := disk_move_rows(found):
        blocks.append(shortened(table(DISK_MOVE_COLUMNS, moves[:SHOWN_ROWS]), len(moves)))
    blocks += [_waves(found, throttle), table(BROKER_COLUMNS, broker_rows(found))]
    if disks := disk_rows(found):
        blocks.append(shortened(table(DISK_COLUMNS, disks[:SHOWN_ROWS]), len(disks)))
    return "\n\n".join(blocks)


def _waves(found: PlanDiff, throttle: Throttle | None) -> str:
    headers = ["wave", "partitions", "payload", "bytes", "most added", "most removed"]
    rows: list[list[object]] = [
        [
            wave.index + 1,
            len(wave.reassignments),
            readable_size(len(wave.payload)),
            size_text(wave.moved_bytes),
            busiest(wave.moves_in),
            busiest(wave.moves_out),
        ]
        for wave in found.waves
    ]
    if throttle is not None:
        headers.append("takes about")
        for row, seconds in zip(rows, throttle.wave_seconds, strict=True):
            row.append("?" if seconds is None else duration(seconds))
    return table(headers, rows)


def _throttle(throttle: Throttle) -> str:
    on = describe_entities(throttle.values)
    lines = [f"throttle: {throttle_in_words(throttle.asked, on=on)}, {makespan_text(throttle)}"]
    if throttle.hours is not None:
        lines.append(f"hours: {end_text(throttle)}")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in throttle.warnings)])
