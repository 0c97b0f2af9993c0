"""Writes docs/eras.md from the table of claims."""

from __future__ import annotations

from pathlib import Path

from support.eras.claims import CLAIMS, VERSIONS

_HEAD = """# What each version of Kafka does

Every row is proved on live brokers of each version by the test that the second list names (`make test-eras`). Versions
between two columns behave as one of the two; the exact version of a change was not determined.

Generated from `tests/support/eras/claims.py` by `PYTHONPATH=tests python -m support.eras.page`.
"""


def eras_page() -> str:
    """Return the page."""
    lines = [_HEAD, f"| | {' | '.join(VERSIONS)} |", f"|---|{'---|' * len(VERSIONS)}"]
    lines += [f"| {each.title} | {' | '.join(each.seen[version] for version in VERSIONS)} |" for each in CLAIMS]
    lines.append("\n## Why it matters\n")
    lines += [f"- **{each.title}.** {each.matters} (`test_{each.name}`)" for each in CLAIMS]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[3] / "docs" / "eras.md").write_text(eras_page(), encoding="utf-8")
