"""Building blocks of Markdown for GitHub and GitLab: text and tables.

Text is escaped so that no plan adds markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ROWS = 50
"""Rows of each list: a comment on GitHub may have 65,536 characters."""
_SPECIAL = frozenset("\\`*_{}[]<>#|~&")
_LINK = re.compile(r"(?i)(www|:)(?=\.|//)")
_BACKTICKS = re.compile("`+")


def cell(text: str) -> str:
    """Return text for a table's cell, without markup, links or line breaks."""
    plain = "".join(f"\\{char}" if char in _SPECIAL else char for char in _plain(text))
    return _LINK.sub(r"\1\\", plain)


def code(text: str) -> str:
    """Return a name as a code span, also for a table's cell.

    GitHub makes no links or mentions in code spans.
    """
    plain = _plain(text).replace("|", "\\|")
    fence = "`" * (1 + max(map(len, _BACKTICKS.findall(plain)), default=0))
    return f"{fence} {plain} {fence}" if "`" in plain else f"{fence}{plain}{fence}"


def table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the first MOST_ROWS rows below headers, and the number of further rows."""
    lines = [headers, ["---"] * len(headers), *rows[:MOST_ROWS]]
    return "\n".join("| " + " | ".join(str(each) for each in line) + " |" for line in lines) + more(
        rows
    )


def folded(summary: str, headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table that is shown after a click on its summary."""
    return f"<details><summary>{summary}</summary>\n\n{table(headers, rows)}\n\n</details>"


def more(listed: Sequence[object]) -> str:
    """Return the number of a list's rows that are left out after MOST_ROWS."""
    rest = len(listed) - MOST_ROWS
    return f"\n\n... and {rest} more" if rest > 0 else ""


def _plain(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)
