"""Builds the section of a page that shows brokers' disks, a bar for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.disks import DISK_FILL, DiskState
from kadmin.cluster.names import one_line
from kadmin.report.pages import page
from kadmin.report.text import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.insight.tables.disks import DiskRow

MOST_ROWS = 50
_ROW_BYTES = 450


def bytes_in_page(disks: Sequence[DiskRow]) -> int:
    """Return about how many bytes of a page the section of disks takes."""
    return _ROW_BYTES * min(len(disks), MOST_ROWS)


def disk_sections(disks: Sequence[DiskRow]) -> Iterator[page.Section]:
    """Return the section of disks, the fullest first; none where no disk is known."""
    if not disks:
        return
    columns = (
        page.PageColumn("Broker"),
        page.PageColumn("Directory", numeric=False),
        page.PageColumn("0 to 100 %", numeric=False, sortable=False),
        page.PageColumn("Used"),
        page.PageColumn("Free"),
        page.PageColumn("Size"),
        page.PageColumn("Replicas"),
        page.PageColumn("Their bytes"),
    )
    ordered = sorted(disks, key=_order)
    lead = (
        "Each bar is the used part of a log directory's file system, by Kafka and by everything "
        "else, as it was read. What a plan does to single disks is not predicted."
    )
    if len(ordered) > MOST_ROWS:
        lead += f" The {MOST_ROWS} fullest of {len(ordered):,} are shown, failed ones first."
    rows = tuple(map(_row, ordered[:MOST_ROWS]))
    yield page.Section("disks", "Disks", lead, page.PageTable(columns, rows))


def _order(row: DiskRow) -> tuple[bool, int, int, str]:
    """Sort failed disks first, then the fullest; those of unknown size come last."""
    fill = -1 if row.fill_percent is None else row.fill_percent
    return row.state is not DiskState.FAILED, -fill, row.broker_id, row.path


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
