"""Bad input by command: what is told, word for word, without a network, and nothing written.

KADMIN_WRITE_GOLDEN=1 writes the files anew, for a reader of the diff to judge.
"""

from __future__ import annotations

import os
import shlex
import socket
from pathlib import Path

import pytest
from support.cli.in_process import command
from support.documents.bad_commands import COMMANDS
from support.pages.bad_input import GOLDEN_FOLDERS, PAGE, ROWS, page, shown_by

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", COMMANDS)
def test_golden(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = COMMANDS[name]
    for file, text in case.files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    with monkeypatch.context() as unplugged:
        unplugged.setattr(socket, "getaddrinfo", _unplugged)
        unplugged.setattr(socket.socket, "connect", _unplugged)
        answers = [command(*shlex.split(line)) for line in case.commands]
    told = "".join(
        f"$ kadmin {line}\n{answer.out}{answer.err}"
        for line, answer in zip(case.commands, answers, strict=True)
    )
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        (GOLDEN / f"{name}.txt").write_text(told, encoding="utf-8")
    assert told == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert {answer.status for answer in answers} == {case.status}
    assert sorted(tmp_path.rglob("*")) == before


def _unplugged(*_arguments: object, **_options: object) -> None:
    raise AssertionError("bad input is told without a network")


def test_every_golden_file_has_its_command() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(COMMANDS)


def test_every_row_has_a_golden_file() -> None:
    rows = {row.number for row in ROWS}
    assert rows == {f"B{number:02}" for number in range(1, 16)}
    assert set(shown_by()) == rows
    assert all(list(folder.glob("*.txt")) for folder in GOLDEN_FOLDERS)


def test_the_page_is_what_the_files_say() -> None:
    """Write it anew with: python -m support.pages.bad_input"""
    assert PAGE.read_text(encoding="utf-8") == page()
