"""The screen of several clusters: rows as lines of a terminal. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING

from kadmin.report.operations.watched_clusters import COLUMNS
from kadmin.report.text import NOTHING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.report.operations.watched_clusters import Row
    from kadmin.report.screen import Meaning

KEYS = "p pause  c cancel  t throttle  q quit"
_NARROW = 60
_NARROW_COLUMNS: tuple[str, ...] = ("cluster", "wave", "rate", "left")
"""The columns of a narrow screen; the others are in a second line of each row."""
_LEAST_EVENT = 24
_YIELDING = {"operation": 9, "signal": 14}
"""The columns that shrink where the last event has less than its least width, and their widths."""
_GAP = "  "
_LEAST_HEIGHT = 5
_FOOT = 2
"""Lines below rows and details: an empty one, and the keys."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the screen; one that is `chosen` is of the row that keys act on."""

    text: str
    meaning: Meaning | None = None
    chosen: bool = False


def selected(rows: Sequence[Row], chosen: Row | None) -> int:
    """Return the position of the chosen row, or of the first one of its cluster; else 0."""
    if chosen is None:
        return 0
    of_cluster = [at for at, row in enumerate(rows) if row.cluster == chosen.cluster]
    same = (at for at in of_cluster if rows[at].operation_id == chosen.operation_id)
    return next(same, next(iter(of_cluster), 0))


def screen_lines(
    rows: Sequence[Row], chosen: int, size: tuple[int, int], message: str = ""
) -> list[Line]:
    """Return the lines of a terminal of so many columns and rows.

    They are the rows around the chosen one, its details as far as they fit, and the keys, or a
    message in their place.
    """
    width, height = size[0] - 1, max(size[1], _LEAST_HEIGHT)
    widths = _widths(rows, width)
    blocks = [_row_lines(row, widths, width, chosen=at == chosen) for at, row in enumerate(rows)]
    shown = (height - 1 - _FOOT) // len(blocks[0])
    start = max(0, min(chosen - shown // 2, len(rows) - shown))
    head = _GAP.join(name.ljust(wide) for name, wide in widths.items())
    lines = [Line(_cut(f"{_GAP}{head}".rstrip(), width))]
    for at, block in enumerate(blocks[start : start + shown], start):
        lines += [Line(text, rows[at].meaning, at == chosen) for text in block]
    details = [
        Line(part)
        for text in rows[chosen].details
        for part in wrap(text, width, subsequent_indent=_GAP * 2)
    ]
    lines = [*lines, Line(""), *details][: height - _FOOT]
    lines += [Line("")] * (height - 1 - len(lines))
    position = f"{chosen + 1} of {len(rows)}{_GAP}" if len(rows) > shown else ""
    return [*lines, Line(_cut(message or f"{position}{KEYS}", width))]


def _widths(rows: Sequence[Row], width: int) -> dict[str, int]:
    """Return the width of each column of a row's first line."""
    names = _NARROW_COLUMNS if width < _NARROW else COLUMNS
    cells = [_cells(row) for row in rows]
    if all(each.get("signal", NOTHING) == NOTHING for each in cells):
        names = tuple(name for name in names if name != "signal")
    found = {
        name: max(len(each.get(name, "")) for each in [{name: name}, *cells]) for name in names
    }
    for name, least in _YIELDING.items():
        taken = sum(found.values()) + len(_GAP) * len(found)
        missing = taken - width - max(0, found.get("last event", 0) - _LEAST_EVENT)
        if name in found and missing > 0:
            found[name] = min(found[name], least)
    return found


def _row_lines(row: Row, widths: Mapping[str, int], width: int, *, chosen: bool) -> list[str]:
    cells = _cells(row)
    first = [
        _cut(cells[name], wide, name).ljust(wide) for name, wide in widths.items() if name in cells
    ]
    marker = "> " if chosen else _GAP
    if width >= _NARROW:
        return [_cut(f"{marker}{_GAP.join([*first, row.text])}".rstrip(), width)]
    below = [
        _cut(cells[name], _YIELDING.get(name, width), name)
        for name in COLUMNS
        if name not in widths and cells.get(name, NOTHING) != NOTHING
    ]
    second = _GAP.join(filter(None, [*below, row.text]))
    return [
        _cut(f"{marker}{_GAP.join(first)}".rstrip(), width),
        _cut(f"{_GAP * 2}{second}", width),
    ]


def _cells(row: Row) -> Mapping[str, str]:
    return {"cluster": row.cluster, **row.cells}


def _cut(text: str, width: int, column: str = "") -> str:
    """Return text of at most `width` characters: an operation's id keeps its random end."""
    if len(text) <= width:
        return text
    return f"...{text[3 - width :]}" if column == "operation" else f"{text[: width - 3]}..."
