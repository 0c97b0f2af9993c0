"""Every command of a next step can be typed: it exists, with its options and arguments, and with a
cluster's.
"""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from support.cli.in_process import command, every_command
from typer.core import TyperCommand

from kadmin.cli.sandbox import MigrationStep
from kadmin.contexts.address import ClusterAddress
from kadmin.next_step import CommandLine, NextStep

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

PACKAGE = Path(__file__).parents[2] / "kadmin"
VALUE = "1"
"""What takes the place of an argument that is known only when the message is written."""
PLACEHOLDER = re.compile(r"\d+|[A-Z]+|/|.*[.].*|plan")


def commands_of(path: Path) -> Iterator[tuple[str, CommandLine]]:
    """Yield the command lines that a module makes."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "command":
            continue
        given = [each for each in node.args if not isinstance(each, ast.Starred)]
        if given and isinstance(given[0], ast.Constant):
            name, *arguments = (
                str(each.value) if isinstance(each, ast.Constant) else VALUE for each in given
            )
            yield f"{path.relative_to(PACKAGE)}:{node.lineno}", CommandLine(name, tuple(arguments))


def test_every_command_of_a_next_step_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KADMIN_ZOOKEEPER", raising=False)
    ran: list[str] = []
    monkeypatch.setattr(
        TyperCommand, "invoke", lambda _self, context: ran.append(context.command_path)
    )
    found = {
        line: place for path in sorted(PACKAGE.rglob("*.py")) for place, line in commands_of(path)
    }
    for line, place in found.items():
        on_cluster = ClusterAddress(zookeeper="zk1:2181/kafka").named(NextStep((line,)))
        answer = command(*shlex.split(str(on_cluster))[1:])
        assert (answer.status, answer.err) == (0, ""), f"{place}: {on_cluster}"
        assert ran.pop() == f"kadmin {line.name}", place
        words = {
            each
            for each in line.arguments
            if not each.startswith("-") and not PLACEHOLDER.fullmatch(each)
        }
        known = {"none", "json", "cruise-control", *(step.value for step in MigrationStep)}
        assert words <= known, f"{place}: {line}"
    assert len(found) > 50


def test_no_message_has_a_command_in_its_words() -> None:
    named = re.compile(rf"\bkadmin ({'|'.join(name for name in every_command() if name)})\b")
    elsewhere = {
        "cli/examples.py",  # tests/live/test_help_examples.py types them
        "planner/spark_session.py",  # what kadmin calls itself in Spark
        "report/plans/markdown.py",
        "report/problems/github.py",
        "report/problems/junit.py",
    }
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        prose |= {
            id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg == "help"
        }
        for node in nodes:
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in prose
            ):
                place = str(path.relative_to(PACKAGE))
                assert place in elsewhere or not named.search(node.value), f"{place}:{node.lineno}"
