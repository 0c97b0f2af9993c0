"""Writes docs/faults.md: what goes wrong and what kadmin does then, of docs/faults.yaml, and the
tests that show it.

A test belongs to a row when its name or one of its parameters carries the row's number. Write the
page anew with `PYTHONPATH=tests python -m support.pages.faults`.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import yaml

TESTS = Path(__file__).parents[2]
PAGE = TESTS.parent / "docs" / "faults.md"

_NUMBER = re.compile(r"(?<![A-Za-z0-9])([FfKk]\d\d)(?!\d)")
_HEAD = """# When something breaks

kadmin's behaviour when ZooKeeper, brokers, the network, \
the controller, this machine or another operator interferes.
In every case the operation record keeps the original replicas, and `kadmin resume` continues.
The numbers are exit codes ([exit-codes.md](exit-codes.md)).
Each row names the tests that show it.
Rows F are for clusters in ZooKeeper mode and this machine, \
rows K for clusters in KRaft mode ([kraft.md](kraft.md)).

Generated from `docs/faults.yaml` by `PYTHONPATH=tests python -m support.pages.faults`.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One fault in operators' words."""

    number: str
    fault: str
    outcome: str


ROWS = tuple(
    Row(number, **row)
    for number, row in yaml.safe_load(PAGE.with_suffix(".yaml").read_text(encoding="utf-8")).items()
)


def shown_by() -> dict[str, tuple[str, ...]]:
    """Return the names of the tests of each row, by file and place."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        tables = {
            name: node.value
            for node in tree.body
            for name in _assigned(node)
            if hasattr(node, "value")
        }
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for number in sorted(_numbers(node, tables)):
                    found[number].append(node.name)
    return {number: tuple(names) for number, names in found.items()}


def page() -> str:
    """Return the page."""
    named = shown_by()
    lines = [_HEAD, "| | what happens | what kadmin does | shown by |", "|---|---|---|---|"]
    for row in ROWS:
        shown = "<br>".join(f"`{name}`" for name in named[row.number])
        lines.append(f"| {row.number} | {row.fault} | {row.outcome} | {shown} |")
    return "\n".join([*lines, "", "Next: [Reports](report.md)"]) + "\n"


def _assigned(node: ast.stmt) -> list[str]:
    targets = (
        node.targets
        if isinstance(node, ast.Assign)
        else [node.target]
        if isinstance(node, ast.AnnAssign)
        else []
    )
    return [each.id for each in targets if isinstance(each, ast.Name)]


def _numbers(test: ast.FunctionDef, tables: dict[str, ast.expr]) -> set[str]:
    """Find the rows in a test's name, in what it is parametrised with, and in the tables and
    fixtures named there.
    """
    texts = [test.name.replace("_", " ")]
    for decorator in test.decorator_list:
        names = {each.id for each in ast.walk(decorator) if isinstance(each, ast.Name)}
        texts += [
            ast.unparse(decorator),
            *(ast.unparse(tables[name]) for name in names & set(tables)),
        ]
    return {number.upper() for text in texts for number in _NUMBER.findall(text)}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
