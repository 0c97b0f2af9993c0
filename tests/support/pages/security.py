"""Writes the table of docs/security.md: what brokers and kadmin refuse, and what is said then.

Write it anew with `PYTHONPATH=tests python -m support.pages.security`.
"""

from __future__ import annotations

from pathlib import Path

from support.kafka.kerberos_refusals import KERBEROS_REFUSED
from support.kafka.refusals import REFUSED

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
_BEGIN, _END = "<!-- what is refused: generated -->\n", "<!-- end -->\n"


def page() -> str:
    """Return the page with its table made anew."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(_BEGIN)
    rows = [f"| {each.fault} | …{each.cause}… | {each.remedy}… |\n" for each in (*REFUSED, *KERBEROS_REFUSED)]
    table = "".join(["\n| what is wrong | cause | what to do |\n", "|---|---|---|\n", *rows, "\n"])
    return f"{head}{_BEGIN}{table}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
