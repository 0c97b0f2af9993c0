"""Every command that a message of kadmin names can be typed: it exists, with these options and arguments."""

from __future__ import annotations

import ast
import functools
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.cli.in_process import command, every_command
from typer.core import TyperCommand

from kadmin.cli.sandbox import MigrationStep
from kadmin.contexts.address import ClusterAddress

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

PACKAGE = Path(__file__).parents[2] / "kadmin"
COMMANDS = every_command()
NAMES = {name.partition(" ")[0] for name in COMMANDS if name}
OPTIONS = {option for each in COMMANDS.values() for parameter in each.params for option in parameter.opts}
VALUE = "VALUE"
"""What takes the place of a value that is known only when the message is written."""
NAMED = re.compile(r"\bkadmin (?=[a-z])((?:(?!, |; |: | \(|\)|$).)*)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
PLACEHOLDER = re.compile(r"[A-Z]+|/|.*VALUE.*|.*[.].*")
OF_OTHER_TOOLS = {
    "--add",
    "--allow-principal",
    "--operation",
    "--alter",
    "--describe",
    "--bootstrap-server",
    "--no-four-letter-words",
    "--help",
}
NAMES_OF_PROGRAMS = {"validate", "propose rebalance"}
"""What kadmin calls itself where Spark, GitHub or JUnit show it."""


@dataclass(frozen=True, slots=True)
class Text:
    """One string of the package: where it is, and whether it is the `next_command` of an error."""

    place: str
    text: str
    following: bool


@functools.cache
def texts() -> tuple[Text, ...]:
    """Return every string in the package."""
    return tuple(found for path in sorted(PACKAGE.rglob("*.py")) for found in texts_of(path))


def texts_of(path: Path) -> Iterator[Text]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    following = {
        id(part)
        for call in nodes
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if keyword.arg == "next_command"
        for part in ast.walk(keyword.value)
    }
    apart = {id(part) for text in nodes if isinstance(text, ast.JoinedStr) for part in text.values}
    apart |= {id(node.value) for node in nodes if isinstance(node, ast.Expr)}  # docstrings
    for node in nodes:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and id(node) not in apart):
            text = text_of(node)
            if text is not None:
                yield Text(f"{path.relative_to(PACKAGE)}:{node.lineno}", text, id(node) in following)


def text_of(node: ast.expr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)
    return node.value.replace("{}", VALUE) if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_every_command_that_a_message_names_can_be_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {
        (each.place, found[1].rstrip(". "))
        for each in texts()
        if not each.place.startswith("cli/examples.py")
        for found in NAMED.finditer(each.text)
        if each.following or (found[1].partition(" ")[0] in NAMES and found[1] not in NAMES_OF_PROGRAMS)
    }
    ran: list[str] = []
    monkeypatch.setenv("KADMIN_ZOOKEEPER", "zk:2181")
    monkeypatch.setattr(TyperCommand, "invoke", lambda _self, context: ran.append(context.command_path))
    for place, line in sorted(lines):
        answer = command(*shlex.split(line.replace(VALUE, "1")))
        assert (answer.status, answer.err) == (0, ""), f"{place}: {line}"
        name = ran[-1].partition(" ")[2]
        given = shlex.split(line)[len(name.split()) :]
        words = [word for word in given if word[0] != "-" and not PLACEHOLDER.fullmatch(word)]
        assert words in ([], ["plan"], *([step.value] for step in MigrationStep)), f"{place}: {line}"
    assert len(ran) == len(lines) > 100


def test_every_command_that_an_error_names_gets_the_address_that_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KADMIN_ZOOKEEPER", raising=False)
    monkeypatch.setattr(TyperCommand, "invoke", lambda *_: None)
    for each in texts():
        if each.following and "kadmin " in each.text:
            for found in NAMED.finditer(ClusterAddress(zookeeper="zk1:2181/kafka").named_in(each.text)):
                answer = command(*shlex.split(found[1].replace(VALUE, "1")))
                assert (answer.status, answer.err) == (0, ""), f"{each.place}: {found[0]}"


def test_every_option_that_an_error_advises_exists() -> None:
    unknown = {
        (each.place, option)
        for each in texts()
        if each.following
        for option in OPTION.findall(each.text)
        if option not in OPTIONS | OF_OTHER_TOOLS
    }
    assert unknown == set()
