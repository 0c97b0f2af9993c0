"""Writes the table and the headings of docs/codes.md, each with the meaning of the code:
`kadmin/plan/codes.py` has it.

Write the page anew with `PYTHONPATH=tests python -m support.pages.codes`; a new code first needs
its heading.
"""

from __future__ import annotations

import re
from pathlib import Path

from kadmin.plan.codes import TABLE

PAGE = Path(__file__).parents[3] / "docs" / "codes.md"
_TABLE = re.compile(r"(?<=\| code \| what it says \|\n\|---\|---\|\n)(?:\| .*\n)*")
_HEADING = re.compile(r"^## (KA[0-9]{3})\n\n.*\n", re.MULTILINE)


def codes_page(page: str) -> str:
    """Return the page with the meanings of now."""
    rows = (f"| [{code}](#{code.lower()}) | {each.meaning} |\n" for code, each in TABLE.items())
    return _HEADING.sub(
        lambda found: f"## {found[1]}\n\n{TABLE[found[1]].meaning}\n",
        _TABLE.sub("".join(rows), page),
    )


if __name__ == "__main__":
    PAGE.write_text(codes_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
