"""A real pseudo-terminal for a process to write to, and what it would show."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[3]
_HANDLED_S = 5.0
_OF_THE_CALLER = {
    *("NO_COLOR", "COLUMNS", "LINES", "TERM_PROGRAM", "VTE_VERSION", "FORCE_HYPERLINK"),
    *("KONSOLE_VERSION", "WT_SESSION", "DOMTERM"),
}
"""Variables by which the terminal of whoever runs the tests would change the output."""
_TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|\r|\n|[^\x1b\r\n]")


@dataclass
class Shown:
    """What a terminal of some columns shows. An escape sequence that it does not know is an
    error.
    """

    columns: int
    rows: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    column: int = 0

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
        elif final is not None:
            assert final == "m", text
        elif text == "\r":
            self.column = 0
        elif text == "\n":
            self._down()
        else:
            if self.column == self.columns:
                self._down()
                self.column = 0
            line = self.rows[self.row].ljust(self.column)
            self.rows[self.row] = line[: self.column] + text + line[self.column + 1 :]
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


def python(code: str) -> list[str]:
    """Return the command that runs Python code."""
    return [sys.executable, "-c", code]


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65536)
    except OSError:  # Linux's way to say that nobody holds the other end any more
        return b""
