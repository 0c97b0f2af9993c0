"""Builds the section of a page that shows brokers' disks, a bar for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.disks import DISK_FILL, DiskState
from kadmin.cluster.names import one_line
from kadmin.report.pages import page
from kadmin.report.plans.rows import fill_text
from kadmin.report.text import NOTHING, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.insight.tables.disks import DiskRow
    from kadmin.plan.disk_forecast import DiskForecast

MOST_ROWS = 50
_ROW_BYTES = 450


def bytes_in_page(disks: Sequence[DiskRow]) -> int:
    """Return about how many bytes of a page the section of disks takes."""
    return _ROW_BYTES * min(len(disks), MOST_ROWS)


def disk_sections(
    disks: Sequence[DiskRow], predicted: Sequence[DiskForecast] = ()
) -> Iterator[page.Section]:
    """Return the section of disks, the fullest first; none where no disk is known.

    `predicted` are those that a plan writes to: then the bars have their highest fill, too.
    """
    if not disks:
        return
    highest = {
        (each.broker_id, path): each.highest_fill for each in predicted for path in each.paths
    }
    columns = (
        page.PageColumn("Broker"),
        page.PageColumn("Directory", numeric=False),
        page.PageColumn("0 to 100 %", numeric=False, sortable=False),
        page.PageColumn("Used"),
        page.PageColumn("Free"),
        page.PageColumn("Size"),
        page.PageColumn("Replicas"),
        page.PageColumn("Their bytes"),
        *((page.PageColumn("Highest by the plan"),) if highest else ()),
    )
    ordered = sorted(disks, key=lambda row: _order(row, highest.get((row.broker_id, row.path))))
    lead = (
        "Each bar is the used part of a log directory's file system, by Kafka and by everything "
        "else, as it was read."
    )
    if highest:
        lead += (
            " The highest part over the waves is predicted: a replica goes to the log directory "
            "that the plan names, else to the one with the fewest replicas."
        )
    if len(ordered) > MOST_ROWS:
        lead += f" The {MOST_ROWS} fullest of {len(ordered):,} are shown, failed ones first."
    rows = tuple(
        (
            *_row(row),
            *((_highest(highest.get((row.broker_id, row.path))),) if highest else ()),
        )
        for row in ordered[:MOST_ROWS]
    )
    yield page.Section("disks", "Disks", lead, page.PageTable(columns, rows))


def _order(row: DiskRow, highest: float | None) -> tuple[bool, float, int, str]:
    """Sort failed disks first, then the fullest; those of unknown size come last."""
    fill = max(-1 if row.fill_percent is None else row.fill_percent, 100 * (highest or -1))
    return row.state is not DiskState.FAILED, -fill, row.broker_id, row.path


def _highest(fill: float | None) -> page.PageCell:
    full = fill is not None and fill >= DISK_FILL
    return page.PageCell(
        NOTHING if fill is None else fill_text(fill),
        fill,
        tone=page.Tone.BAD if full else page.Tone.NONE,
    )


def _row(row: DiskRow) -> tuple[page.PageCell, ...]:
    fill = row.fill_percent
    badges = () if row.state is DiskState.ONLINE else (row.state.value,)
    full = fill is not None and fill >= 100 * DISK_FILL
    return (
        page.PageCell(str(row.broker_id), row.broker_id),
        page.PageCell(one_line(row.path), badges=badges),
        page.PageCell("", bars=() if fill is None else (page.Bar(0, fill),)),
        page.PageCell(
            UNKNOWN if fill is None else f"{fill} %",
            fill,
            tone=page.Tone.BAD if full else page.Tone.NONE,
        ),
        page.size(row.usable_bytes),
        page.size(row.total_bytes),
        page.number(row.replicas),
        page.size(row.size_bytes),
    )
