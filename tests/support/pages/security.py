"""Writes the tables of docs/security.md: what brokers, ZooKeeper and kadmin refuse, and what is
said then.

Write them anew with `PYTHONPATH=tests python -m support.pages.security`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from support.kafka.kerberos_refusals import KERBEROS_REFUSED
from support.kafka.refusals import REFUSED
from support.zookeeper.kerberos_refusals import ZOOKEEPER_REFUSED
from support.zookeeper.refusals import MISSING
from support.zookeeper.refusals import REFUSED as REFUSED_BY_ZOOKEEPER

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).parents[3] / "docs" / "security.md"
_END = "<!-- end -->\n"


def page() -> str:
    """Return the page with its tables made anew."""
    brokers = [(each.fault, each.cause, each.remedy) for each in (*REFUSED, *KERBEROS_REFUSED)]
    zookeeper = [
        (each.fault, each.cause, each.remedy)
        for each in (*REFUSED_BY_ZOOKEEPER, *ZOOKEEPER_REFUSED, *MISSING)
    ]
    text = _with_table(PAGE.read_text(encoding="utf-8"), "what is refused", brokers)
    return _with_table(text, "what ZooKeeper refuses", zookeeper)


def _with_table(text: str, name: str, rows: Iterable[tuple[str, str, str]]) -> str:
    begin = f"<!-- {name}: generated -->\n"
    head, _, rest = text.partition(begin)
    table = [f"| {fault} | …{cause}… | {remedy}… |\n" for fault, cause, remedy in rows]
    made = "".join(["\n| what is wrong | cause | what to do |\n", "|---|---|---|\n", *table, "\n"])
    return f"{head}{begin}{made}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
