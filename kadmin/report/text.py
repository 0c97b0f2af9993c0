"""Building blocks of plain text: tables, sizes and durations."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.plan.hours import time_in
from kadmin.plan.units import readable_size
from kadmin.wording import weekday_and_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.plan.hours import Ending

WIDTH = 79
SHOWN_ROWS = 50
"""The number of rows of a long list that are shown as text; JSON has all of them."""
UNKNOWN = "unknown"
NOTHING = "-"
"""A cell of a table without a value."""
_DAY_HOURS = 24
_GAP = "  "
_NARROW = 12
"""Cells up to this width are not folded: an amount and its unit stay together."""


def table(
    headers: Sequence[str], rows: Sequence[Sequence[object]], line_width: int | None = None
) -> str:
    """Return aligned columns, numbers (or NOTHING among them) to the right.

    Without rows the headers alone. For a terminal with lines of `line_width` characters, columns
    without any value are left out, and where the rest is too wide, the widest columns are folded
    between words, their headers also behind an underscore. Where that is not enough, each row is a
    block of lines.
    """
    given = [list(cells) for cells in zip(*rows, strict=True)] if rows else [[] for _ in headers]
    columns = [
        _Column(header, list(map(str, cells)), numeric=_are_numbers(cells))
        for header, cells in zip(headers, given, strict=True)
        if line_width is None or not rows or any(cell != NOTHING for cell in cells)
    ]
    widths = _widths(columns, line_width)
    if line_width is not None and rows and sum(widths) + len(_GAP) * (len(widths) - 1) > line_width:
        return _blocks(columns, line_width)
    lines = []
    for row in zip(
        *(column.folded(width) for column, width in zip(columns, widths, strict=True)), strict=True
    ):
        for parts in zip_longest(*row, fillvalue=""):
            cells = [
                part.rjust(width) if column.numeric else part.ljust(width)
                for column, part, width in zip(columns, parts, widths, strict=True)
            ]
            lines.append(_GAP.join(cells).rstrip())
    return "\n".join(lines)


def _blocks(columns: Sequence[_Column], width: int) -> str:
    """Return each row as lines `header: cell`, the first at the margin, without empty cells."""
    blocks = []
    for cells in zip(*(column.texts for column in columns), strict=True):
        named = [
            (column.header, cell)
            for column, cell in zip(columns, cells, strict=True)
            if cell != NOTHING
        ]
        lines = [
            part
            for header, cell in named
            for part in textwrap.wrap(
                f"{header}: {cell}",
                max(width - len(_GAP), 1),
                subsequent_indent=_GAP,
                break_long_words=False,
                break_on_hyphens=False,
            )
        ]
        blocks.append(f"\n{_GAP}".join(lines))
    return "\n\n".join(blocks)


@dataclass(frozen=True, slots=True)
class _Column:
    """The header and the cells of a column."""

    header: str
    texts: list[str]
    numeric: bool

    @property
    def width(self) -> int:
        """The width of the column where nothing is folded."""
        return max(map(len, (self.header, *self.texts)))

    @property
    def least(self) -> int:
        """The width below which a word would be broken, or a short cell folded."""
        words = (
            len(word) if len(text) > _NARROW else len(text)
            for text in self.texts
            for word in text.split() or [""]
        )
        return max(*map(len, _parts(self.header)), *words, 0)

    def folded(self, width: int) -> Iterator[list[str]]:
        """Yield the lines of the header, then of each cell."""
        yield [self.header] if len(self.header) <= width else _joined(_parts(self.header), width)
        for text in self.texts:
            whole = len(text) <= width
            yield (
                [text]
                if whole
                else textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
            )


def _parts(header: str) -> list[str]:
    return re.findall(r"[^_ ]*[_ ]?", header)[:-1]


def _joined(parts: Iterable[str], width: int) -> list[str]:
    """Join parts to lines of at most a width."""
    lines = [""]
    for part in parts:
        if lines[-1] and len((lines[-1] + part).rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return lines


def _are_numbers(cells: Iterable[object]) -> bool:
    shown = [cell for cell in cells if cell != NOTHING]
    return bool(shown) and all(isinstance(cell, int | float) for cell in shown)


def _widths(columns: Sequence[_Column], line_width: int | None) -> list[int]:
    """Return the width of each column.

    Where they do not fit, the widest shrink to their longest words.
    """
    widths = [column.width for column in columns]
    excess = 0 if line_width is None else sum(widths) + len(_GAP) * (len(widths) - 1) - line_width
    if excess <= 0:
        return widths
    least = [column.least for column in columns]
    while excess > 0:
        foldable = [(width, at) for at, width in enumerate(widths) if width > least[at]]
        if not foldable:
            break
        widths[max(foldable)[1]] -= 1
        excess -= 1
    return widths


def shortened(text: str, total: int, indent: str = "") -> str:
    """Append the number of rows of `total` that a list of at most SHOWN_ROWS leaves out."""
    return (
        text
        if total <= SHOWN_ROWS
        else f"{text}\n{indent}... and {total - SHOWN_ROWS} more (all of them with -o json)"
    )


def size_text(size_bytes: int | None) -> str:
    """Return `1.24 TB`, or `? bytes`."""
    return "? bytes" if size_bytes is None else readable_size(size_bytes)


def about(size_bytes: int | None) -> str:
    """Return bytes with three digits, `1.24 TB`, or `unknown`."""
    return UNKNOWN if size_bytes is None else readable_size(size_bytes)


def wrapped(text: str, indent: str = "", width: int = WIDTH) -> list[str]:
    """Break text between words into lines of at most `width` characters.

    Later ones are indented, controls escaped.
    """
    return textwrap.wrap(
        escaped(text, len(text)),
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def change(before: object, after: object) -> str:
    """Return `before -> after`, or one of them where they are equal."""
    return str(after) if before == after else f"{before} -> {after}"


def replicas(ids: Sequence[int] | None) -> str:
    """Return ordered replicas as `1,2,3`, unknown ones as `?`."""
    return "?" if ids is None else ",".join(str(broker) for broker in ids)


def duration(seconds: float) -> str:
    """Return `1:30`, `2:00:05`, or `3 d 2:00:05`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours >= _DAY_HOURS:
        return f"{hours // _DAY_HOURS:,} d {hours % _DAY_HOURS}:{minutes:02d}:{rest:02d}"
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def ending_text(ending: Ending) -> str:
    """Return `done on Sunday 03:10 Europe/Berlin`; both times where the rate has a range."""
    if ending.earliest == ending.latest:
        return f"done {time_in(ending.zone, ending.latest, ending.at)}"
    earliest, latest = (
        weekday_and_time(each, ending.at, ending.zone) for each in (ending.earliest, ending.latest)
    )
    return f"done {earliest} (at max), {latest} (at min), {ending.zone.key}"
