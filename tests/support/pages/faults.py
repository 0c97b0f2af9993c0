"""docs/faults.md: what goes wrong, what kadmin does then, and the tests that show it.

A test belongs to a row when its name or one of its parameters carries the row's number. Write the page anew with
`PYTHONPATH=tests python -m support.pages.faults`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "faults.md"

OWED: frozenset[str] = frozenset()
"""Rows that need no test yet; who writes the first takes the row out of here."""

_NUMBER = re.compile(r"(?<![A-Za-z0-9])[Ff](\d\d)(?!\d)")
_HEAD = """# When something breaks

What kadmin does when ZooKeeper, the network, the controller, this machine or a colleague gets in the way. Whatever
happens, the operation record and the original replicas stay whole, and `kadmin resume` goes on. The numbers are the
exit codes of [exit-codes.md](exit-codes.md). Written by
`PYTHONPATH=tests python -m support.pages.faults`; each row is held by its tests.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault in operators' words."""

    number: str
    fault: str
    outcome: str


ROWS = (
    Row("F01", "the answer to a write is lost", "0: the step record shows that it happened; written once"),
    Row("F02", "a write is lost on its way", "0: seen not to have happened, and written again, once"),
    Row("F03", "the connection breaks in the middle of a write", "as F02"),
    Row("F04", "the answer is lost and the controller is quicker than our next look", "0: the step record tells"),
    Row("F05", "the answer is lost and ZooKeeper stays away", "7: unknown; `kadmin status`, then `kadmin resume`"),
    Row(
        "F06",
        "ZooKeeper stands still before, during or after a write",
        "6, or 7 when a write was out; never later than `--timeout` and two seconds",
    ),
    Row("F07", "the ZooKeeper session expires while copies run", "0: connects, takes the lock again, goes on"),
    Row(
        "F08",
        "the session expires between lock and write",
        "0: nothing is written without the lock; 5 and the holder's name when another took it",
    ),
    Row("F09", "the leader of the ensemble is killed", "0, within ten seconds of the election"),
    Row(
        "F10",
        "the ensemble loses its quorum",
        "0 when it comes back within a minute (or `--timeout`), else 6 with the line that resumes",
    ),
    Row("F11", "the server is in read-only mode", "6, and says so"),
    Row("F12", "the server lags behind its leader", "0 while every partition is still at `current`, else 4"),
    Row("F13", "two people apply at once", "one goes ahead; 5 with the holder's name for the other"),
    Row("F14", "another tool creates the admin node first", "5; its node stays byte for byte as it is"),
    Row("F15", "a reassignment through the brokers' API is running", "5"),
    Row(
        "F16",
        "a topic was deleted, made again or changed after the plan",
        "4, naming it. New partitions elsewhere in the topic do not matter. A topic that is deleted and made again in "
        "the milliseconds between kadmin's last look and its write looks the same to ZooKeeper",
    ),
    Row("F17", "a target broker died after the plan", "4, naming it and a substitute"),
    Row("F18", "the plan is for another cluster", "4, before the lock"),
    Row("F19", "a mistyped chroot, an empty ZooKeeper, KRaft or a migration to it", "6; nothing is created"),
    Row("F20", "an ACL forbids", "6 with the remedy; nothing is left behind"),
    Row("F21", "a certificate is not trusted, for another host, or expired", "6, and says which"),
    Row("F22", "a plan too large for one write", "0: split; 3 with the size when a single entry is too large"),
    Row("F23", "servers with a lowered `jute.maxbuffer`", "6, naming `jute.maxbuffer` and `waves.max_payload`"),
    Row(
        "F24", "the controller ignores a plan, or copies never end", "8 with what is pending and the line that resumes"
    ),
    Row("F25", "the controller takes the node away and changes nothing", "8: rejected; not written again"),
    Row("F26", "the controller moves in the middle", "0"),
    Row("F27", "kadmin is killed at any moment", "after `kadmin resume`: each wave written once and in order"),
    Row("F28", "SIGINT, SIGTERM, SIGHUP", "130, 143, 129 at the next safe point; the second one ends it at once"),
    Row(
        "F29",
        "a plan, report or snapshot cannot be written (disk full, read-only, a folder in its place)",
        "8; ZooKeeper is untouched",
    ),
    Row("F30", "the clock jumps", "nothing: deadlines are monotonic"),
    Row(
        "F31",
        "a pipe to `head`, no terminal, 20 columns, TERM=dumb",
        "141 when the reader has gone, else as ever; plain text",
    ),
    Row(
        "F32",
        "the plan file was edited, cut off or is of another version; the plan on record was edited",
        "3 with the place, or 4",
    ),
    Row(
        "F33",
        "a deletion of an absent topic, one in mid-move, or where deletion is disabled",
        "4 (0 when we deleted it), 5, 8",
    ),
    Row(
        "F34",
        "an election whose preferred replica is offline",
        "8, with the reason per partition; the others are elected",
    ),
    Row("F35", "the controller does not watch the admin node", "8 before the plan is written; `kadmin heal`"),
    Row(
        "F36", "a node that poisons or blocks the controller; no controller at all", "named; `kadmin heal`, saved first"
    ),
    Row("F37", "`cancel --now`", "the exact original order, added copies gone, other entries unharmed"),
    Row("F38", "the lock is released by hand while a write is out", "5: the write fails on the fence"),
    Row("F39", "killed while throttled copies run; a throttle edited meanwhile", "throttles stay; the edit is kept"),
    Row("F40", "a probe left behind by a killed run", "recognised as ours"),
    Row("F41", "`cancel` from another machine", "the runner stops at its next look: 8"),
)


def shown_by() -> dict[str, tuple[str, ...]]:
    """Return the names of the tests of each row, by file and place."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        tables = {name: node.value for node in tree.body for name in _assigned(node) if hasattr(node, "value")}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in sorted(_numbers(node, tables)):
                    found[number].append(node.name)
    return {number: tuple(names) for number, names in found.items()}


def page() -> str:
    """Return the page."""
    named = shown_by()
    lines = [_HEAD, "| | what happens | what kadmin does | shown by |", "|---|---|---|---|"]
    for row in (each for each in ROWS if each.number in named):  # what no test shows is not claimed
        shown = "<br>".join(f"`{name}`" for name in named[row.number])
        lines.append(f"| {row.number} | {row.fault} | {row.outcome} | {shown} |")
    return "\n".join(lines) + "\n"


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _numbers(test: ast.FunctionDef, tables: dict[str, ast.expr]) -> set[str]:
    """Find the rows in a test's name, in what it is parametrised with, and in the tables and fixtures named there."""
    texts = [test.name.replace("_", " ")]
    for decorator in test.decorator_list:
        names = {each.id for each in ast.walk(decorator) if isinstance(each, ast.Name)}
        texts += [ast.unparse(decorator), *(ast.unparse(tables[name]) for name in names & set(tables))]
    return {f"F{number}" for text in texts for number in _NUMBER.findall(text)}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
