"""Writes the table of docs/migration.md: what `doctor migration` finds, and the tests that make it.

Write it anew with `PYTHONPATH=tests python -m support.pages.migration`.
"""

from __future__ import annotations

from itertools import dropwhile
from pathlib import Path

from support.live.migration_traps import TRAPS, WALKED

PAGE = Path(__file__).parents[3] / "docs" / "migration.md"
_HEAD = "| what is wrong | finding | | shown by |\n|---|---|---|---|\n"


def page() -> str:
    """Return the page with the table as it should be."""
    before, head, rest = PAGE.read_text(encoding="utf-8").partition(_HEAD)
    others = dropwhile(lambda line: line.startswith("|"), rest.splitlines(keepends=True))
    return before + head + table() + "".join(others)


def table() -> str:
    """Return a row for each trap."""
    test = "test_each_trap_is_found_and_gone_when_it_is_cured"
    seeded = [(trap.what, trap.code, trap.stops, f"{test}[{name}]") for name, trap in TRAPS.items()]
    return "".join(
        f"| {what} | `{code}` | {'no-go' if stops else 'go, with care'} | `{shown}` |\n"
        for what, code, stops, shown in (*seeded, *WALKED)
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
