"""A real pseudo-terminal for a process to write to, and what it would show."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

ROOT = Path(__file__).parents[3]
_HANDLED_S = 5.0
WAIT_S = 60.0
_OF_THE_CALLER = {
    *("NO_COLOR", "COLUMNS", "LINES", "TERM_PROGRAM", "VTE_VERSION", "FORCE_HYPERLINK"),
    *("KONSOLE_VERSION", "WT_SESSION", "DOMTERM"),
}
"""Variables by which the terminal of whoever runs the tests would change the output."""
_TOKEN = re.compile(r"\x1b\[([?;\d]*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


@dataclass
class Shown:
    """What a terminal of some columns shows. An escape sequence that it does not know is an
    error.
    """

    columns: int
    rows: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    column: int = 0
    cursor: bool = True
    coloured: bool = False
    kept: tuple[list[str], int, int] | None = None
    """Rows and cursor from before a screen of a program's own, while that is shown."""

    @property
    def text(self) -> str:
        """All rows, without the blanks at their ends."""
        return "\n".join(row.rstrip() for row in self.rows)

    def write(self, text: str) -> None:
        """Show text."""
        assert len("".join(each.group() for each in _TOKEN.finditer(text))) == len(text), text
        for token in _TOKEN.finditer(text):
            self._take(token.group(), token.group(1), token.group(2))

    def _take(self, text: str, number: str | None, final: str | None) -> None:
        if final == "J":
            self.rows[self.row :] = [self.rows[self.row][: self.column]]
        elif final == "A":
            self.row = max(0, self.row - int(number or 1))
        elif final in {"h", "l"}:
            self._switch(text, on=final == "h")
        elif text == "\x1b[H":
            self.row = self.column = 0
        elif final is not None:
            assert final == "m", text
            self.coloured = True
        elif text == "\r":
            self.column = 0
        elif text == "\n":
            self._down()
        else:
            self._put(text)

    def _switch(self, text: str, *, on: bool) -> None:
        if text.startswith("\x1b[?25"):
            self.cursor = on
        elif on:
            assert text == "\x1b[?1049h", text
            self.kept = self.rows, self.row, self.column
            self.rows, self.row, self.column = [""], 0, 0
        elif self.kept is not None:
            (self.rows, self.row, self.column), self.kept = self.kept, None

    def _put(self, sign: str) -> None:
        if self.column == self.columns:
            self._down()
            self.column = 0
        line = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = line[: self.column] + sign + line[self.column + 1 :]
        self.column += 1

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append("")


def in_terminal(
    command: Sequence[str],
    columns: int,
    *,
    rows: int = 24,
    typed: str = "",
    interrupt_at: str | None = None,
    **environment: str,
) -> tuple[int, str]:
    """Run a command whose three streams are a pseudo-terminal; return its exit code and what the
    terminal was sent.

    It gets SIGINT when it has written `interrupt_at` at the end. Python handles a signal that comes
    right before a read only after it, so a line is typed where nothing follows.
    """
    process, master = _start(command, columns, rows, environment)
    os.write(master, typed.encode())
    written = b""
    try:
        while part := _read(master):
            written += part
            if interrupt_at is not None and written.decode(errors="ignore").endswith(interrupt_at):
                process.send_signal(signal.SIGINT)
                if not select.select([master], [], [], _HANDLED_S)[0]:
                    os.write(master, b"\n")
        return process.wait(timeout=60), written.decode()
    finally:
        os.close(master)
        process.kill()
        process.wait()


class Terminal:
    """A process on a pseudo-terminal of its own, which a test types to when it shows a text."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        columns: int = 80,
        rows: int = 24,
    ) -> None:
        self.shown = Shown(columns)
        self._written = codecs.getincrementaldecoder("utf-8")()
        self._unfinished = ""
        self.process, self._master = _start(command, columns, rows, environment)
        self.modes_before = self.modes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    @property
    def modes(self) -> list[object]:
        """The modes of the terminal: echo, lines or keys, signals."""
        return termios.tcgetattr(self._master)

    def type(self, keys: str, after: str) -> None:
        """Type keys once the terminal shows a text."""
        self.wait_for(after)
        os.write(self._master, keys.encode())

    def answer(self, line: str, prompt: str) -> None:
        """Type a line once the last words on the terminal are a prompt: earlier ones stay there."""
        self._wait(lambda: self.shown.text.endswith(prompt), prompt)
        os.write(self._master, f"{line}\n".encode())

    def wait_for(self, text: str) -> None:
        """Wait until the terminal shows a text."""
        self._wait(lambda: text in self.shown.text, text)

    def _wait(self, condition: Callable[[], bool], text: str) -> None:
        until = time.monotonic() + WAIT_S
        while not condition():
            left = max(0.0, until - time.monotonic())
            readable = select.select([self._master], [], [], left)[0]
            assert readable, f"{text!r} is not on the screen:\n{self.shown.text}"
            assert self._read(), f"ended without {text!r}:\n{self.shown.text}"

    def ended(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        while self._read():
            pass
        return self.process.wait(timeout=60)

    def _read(self) -> bool:
        """Show what was written meanwhile; an escape sequence may come in two parts."""
        part = _read(self._master)
        text = self._unfinished + self._written.decode(part)
        whole, escape, rest = text.rpartition("\x1b")
        is_whole = not escape or _TOKEN.match(escape + rest) is not None
        self._unfinished = "" if is_whole else escape + rest
        self.shown.write(text if is_whole else whole)
        return bool(part)


def python(code: str) -> list[str]:
    """Return the command that runs Python code."""
    return [sys.executable, "-c", code]


def _start(
    command: Sequence[str], columns: int, rows: int, environment: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], int]:
    """Start a process on a new pseudo-terminal, and return the end that is typed to."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (rows, columns))
    unset = {name: value for name, value in os.environ.items() if name not in _OF_THE_CALLER}
    process = subprocess.Popen(
        command,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env={**unset, "TERM": "xterm", **environment},
    )
    os.close(slave)
    return process, master


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # Linux's way to say that nobody holds the other end any more
        return b""
