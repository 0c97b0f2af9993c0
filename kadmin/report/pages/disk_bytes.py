"""Builds the section of a page with the bytes of each disk before and after a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.report.disk_figures import bytes_of, most_changed, paths_of
from kadmin.report.pages import page

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_ROWS = 50


def disk_section(disks: Mapping[str, Any]) -> page.Section:
    """Return the section of a page with the bytes of each disk before and after."""
    columns = (
        page.PageColumn("Broker"),
        page.PageColumn("Directory", numeric=False),
        *(page.PageColumn(name) for name in ("Bytes before", "Bytes after", "Its part")),
    )
    changed = most_changed(disks)
    lead = (
        "The bytes of replicas on each disk of brokers with several, and its part of the broker's "
        "bytes by size or weight."
    )
    if len(changed) > _MOST_ROWS:
        lead += f" The {_MOST_ROWS} of {len(changed):,} that change most are shown."
    rows = tuple(
        (
            page.PageCell(str(each["broker_id"]), each["broker_id"]),
            page.PageCell(paths_of(each)),
            *map(page.size, bytes_of(each)),
        )
        for each in changed[:_MOST_ROWS]
    )
    return page.Section("disk-bytes", "Bytes per disk", lead, page.PageTable(columns, rows))
