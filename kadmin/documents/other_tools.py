"""Maps words of other tools in a document's kinds and keys to kadmin's commands."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.next_step import NextStep

_ELECT = "to elect leaders: " + command("propose election", "--inventory", "DIR", "--out", "PLAN")
_MOVE = "to move topics: " + command(
    "propose rebalance", "REQUEST", "--inventory", "DIR", "--out", "PLAN"
)
_UNREGISTER = (
    "to unregister a broker, in KRaft mode: kafka-cluster unregister --bootstrap-server HOST:PORT "
    "--id ID"
)
_CONVERT = "to convert proposals of Cruise Control: " + command(
    "convert", "FILE", "--from", "cruise-control", "--to", "plan", "--out", "PLAN"
)
_ANSWERS: Mapping[str, NextStep | str] = {
    "elect": _ELECT,
    "election": _ELECT,
    "electleaders": _ELECT,
    "leaderelection": _ELECT,
    "proposals": _CONVERT,
    "topics": _MOVE,
    "topicstomove": _MOVE,
    "unregister": _UNREGISTER,
    "unregisterbroker": _UNREGISTER,
}


def answer_to(word: object) -> NextStep | str | None:
    """Return the equivalent in kadmin, or beside it; spaces, case and dashes do not count."""
    return _ANSWERS.get(re.sub(r"[\s_-]", "", word).lower()) if isinstance(word, str) else None
