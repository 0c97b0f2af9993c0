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
_FIRST_OF_TWO: tuple[str, ...] = ("cluster", "wave", "rate", "left")
_SECOND_OF_TWO = ("operation", "last event", "signal")
"""The columns of rows of two lines, where one line has too little for the last event."""
_LEAST_EVENT = 24
_SHORT_ID = 9
"""The width of an operation's id that keeps its random end alone."""
_GAP = "  "
_CUT = "..."
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
        Line(_cut(part, width))
        for text in rows[chosen].details
        for part in wrap(text, max(width, 1), subsequent_indent=_GAP * 2)
    ]
    lines = [*lines, Line(""), *details][: height - _FOOT]
    lines += [Line("")] * (height - 1 - len(lines))
    position = f"{_GAP}up, down: row {chosen + 1} of {len(rows)}" if len(rows) > 1 else ""
    keys = KEYS + position if len(KEYS + position) <= width else KEYS
    return [*lines, Line(_cut(message or keys, width))]


def _widths(rows: Sequence[Row], width: int) -> dict[str, int]:
    """Return the width of each column in the first line of a row.

    Where a last event is cut, ids of operations are; with too little of it, rows have two lines.
    """
    cells = [_cells(row) for row in rows]
    found = {
        name: max(len(each.get(name, "")) for each in [{name: name}, *cells]) for name in COLUMNS
    }
    if all(each.get("signal", NOTHING) == NOTHING for each in cells):
        del found["signal"]
    if _line_width(found) <= width:
        return found
    found["operation"] = _SHORT_ID
    least = found | {"last event": min(found["last event"], _LEAST_EVENT)}
    if _line_width(least) <= width:
        return found
    first = {name: found[name] for name in _FIRST_OF_TWO}
    missing = max(0, _line_width(first) - width)
    return first | {"cluster": max(first["cluster"] - missing, 0)}


def _line_width(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + len(_GAP) * len(widths)


def _row_lines(row: Row, widths: Mapping[str, int], width: int, *, chosen: bool) -> list[str]:
    cells = _cells(row)
    marker = "> " if chosen else _GAP
    first = [
        _cut(cells[name], wide, name).ljust(wide) for name, wide in widths.items() if name in cells
    ]
    if "last event" in widths:
        return [_cut(f"{marker}{_GAP.join([*first, row.text])}".rstrip(), width)]
    second = [
        _cut(cells[name], _SHORT_ID if name == "operation" else width, name)
        for name in _SECOND_OF_TWO
        if cells.get(name, NOTHING) != NOTHING
    ]
    return [
        _cut(f"{marker}{_GAP.join(first if row.cells else [row.cluster])}".rstrip(), width),
        _cut(f"{_GAP * 2}{_GAP.join([*second, row.text])}".rstrip(), width),
    ]


def _cells(row: Row) -> Mapping[str, str]:
    return {"cluster": row.cluster, **row.cells}


def _cut(text: str, width: int, column: str = "") -> str:
    """Return text of at most `width` characters.

    Names of clusters and ids of operations keep their ends, in which they differ.
    """
    if len(text) <= width:
        return text
    kept = max(0, width - len(_CUT))
    is_name = column in {"cluster", "operation"} and kept > 0
    return f"{_CUT}{text[-kept:]}" if is_name else f"{text[:kept]}{_CUT}"[:width]
