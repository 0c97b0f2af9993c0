"""Writes docs/eras.md from the table of claims."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.eras.api_claims import KRAFT_CLAIMS, KRAFT_VERSIONS, READING_CLAIMS, READING_VERSIONS
from support.eras.claims import CLAIMS, VERSIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from support.eras.claims import Claim

_HEAD = """# What each version of Kafka does

Every row is proved on live brokers of each version by the test that the list below its table names.
`make test-matrix` runs them on every version, `make test-eras` on both sides of each change.
Versions between two columns behave as one of the two; the exact version of a change was not determined.

Generated from `tests/support/eras/` by `PYTHONPATH=tests python -m support.eras.page`.
"""
_TABLES = (
    ("ZooKeeper mode, through its znodes", VERSIONS, CLAIMS),
    ("KRaft mode, through the brokers' API", KRAFT_VERSIONS, KRAFT_CLAIMS),
    ("ZooKeeper mode, read through the brokers' API", READING_VERSIONS, READING_CLAIMS),
)


def eras_page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *("\n".join(_table(*each)) for each in _TABLES)])


def _table(title: str, versions: Sequence[str], claims: Sequence[Claim]) -> list[str]:
    lines = [f"## {title}\n", f"| | {' | '.join(versions)} |", f"|---|{'---|' * len(versions)}"]
    lines += [f"| {each.title} | {' | '.join(each.seen[version] for version in versions)} |" for each in claims]
    lines.append("\nWhy it matters:\n")
    lines += [f"- **{each.title}.** {each.matters} (`test_{each.name}`)" for each in claims]
    return [*lines, ""]


if __name__ == "__main__":
    (Path(__file__).parents[3] / "docs" / "eras.md").write_text(eras_page(), encoding="utf-8")
