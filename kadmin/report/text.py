"""Building blocks of plain text: tables, sizes and durations."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.plan.units import readable_size

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 79
SHOWN_ROWS = 50
"""The number of rows of a long list that are shown as text; JSON has all of them."""
UNKNOWN = "unknown"
NOTHING = "-"
"""A cell of a table without a value."""


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return aligned columns, numbers (or NOTHING among them) to the right; without rows the headers alone."""
    given = zip(*rows, strict=True) if rows else ([] for _ in headers)
    columns = [_aligned(header, list(cells)) for header, cells in zip(headers, given, strict=True)]
    return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))


def _aligned(header: str, cells: Sequence[object]) -> list[str]:
    known = [cell for cell in cells if cell != NOTHING]
    numeric = bool(known) and all(isinstance(cell, int | float) for cell in known)
    texts = [header, *map(str, cells)]
    width = max(map(len, texts))
    return [text.rjust(width) if numeric else text.ljust(width) for text in texts]


def shortened(text: str, total: int, indent: str = "") -> str:
    """Append how many rows of `total` a list of at most SHOWN_ROWS leaves out."""
    return (
        text if total <= SHOWN_ROWS else f"{text}\n{indent}... and {total - SHOWN_ROWS} more (all of them with -o json)"
    )


def size_text(size_bytes: int | None) -> str:
    """Return `1.24 TB`, or `? bytes`."""
    return "? bytes" if size_bytes is None else readable_size(size_bytes)


def about(size_bytes: int | None) -> str:
    """Return bytes with three digits, `1.24 TB`, or `unknown`."""
    return UNKNOWN if size_bytes is None else readable_size(size_bytes)


def wrapped(text: str, indent: str = "") -> list[str]:
    """Break text into lines of at most WIDTH characters, later ones indented, control characters escaped."""
    return textwrap.wrap(
        escaped(text, len(text)), WIDTH, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
    )


def change(before: object, after: object) -> str:
    """Return `before -> after`, or one of them where they are equal."""
    return str(after) if before == after else f"{before} -> {after}"


def replicas(ids: Sequence[int] | None) -> str:
    """Return ordered replicas as `1,2,3`, unknown ones as `?`."""
    return "?" if ids is None else ",".join(str(broker) for broker in ids)


def duration(seconds: float) -> str:
    """Return `1:30` or `2:00:05`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
