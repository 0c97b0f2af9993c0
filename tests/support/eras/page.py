"""Writes docs/eras.md from docs/eras.yaml."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.eras.claims import DOCS, TABLES

if TYPE_CHECKING:
    from support.eras.claims import Table

PAGE = DOCS / "eras.md"
_HEAD = """# What each version of Kafka does

Every row is proved on live brokers of each version by the test that the list below its table names.
`make test-matrix` runs them on every version, `make test-eras` on both sides of each change; \
some that take longer are in the former alone.
Versions between two columns behave as one of the two; \
the exact version of a change was not determined.

Generated from `docs/eras.yaml` by `PYTHONPATH=tests python -m support.eras.page`.
"""
_NEXT = "Next: [Compatibility](compatibility.md)\n"


def eras_page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *("\n".join(_section(each)) for each in TABLES.values()), _NEXT])


def _section(table: Table) -> list[str]:
    lines = [
        f"## {table.title}\n",
        f"| | {' | '.join(table.versions)} |",
        f"|---|{'---|' * len(table.versions)}",
    ]
    lines += [f"| {each.title} | {' | '.join(each.seen.values())} |" for each in table.claims]
    lines.append("\nWhy it matters:\n")
    lines += [f"- **{each.title}.** {each.matters} (`test_{each.name}`)" for each in table.claims]
    return [*lines, ""]


if __name__ == "__main__":
    PAGE.write_text(eras_page(), encoding="utf-8")
