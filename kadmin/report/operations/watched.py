"""Shows the same answer again and again: in place on a terminal, in a pipe when it changes."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

from kadmin.report.operations.follow import REPEATED_S
from kadmin.report.screen import ERASE_BELOW

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kadmin.operations.context import Clock
    from kadmin.report.screen import Screen

_INDENT = "    "


class Watched:
    """Writes an answer over the previous one on a terminal; in a pipe each has its time."""

    def __init__(self, write: Callable[[str], None], screen: Screen, clock: Clock) -> None:
        self._write = write
        self._screen = screen
        self._clock = clock
        self._drawn = ""
        self._told = ""
        self._told_at = 0.0

    def block(self, lines: Sequence[str]) -> None:
        """Show lines: drawn over the last ones on a terminal, each broken at its edge.

        Elsewhere as `line` does.
        """
        if not self._screen.live:
            self.line("\n".join(lines), f"{self._clock.timestamp()}\n")
            return
        columns, rows = self._screen.size()
        broken = [
            part
            for line in lines
            for part in wrap(line, max(columns - 1, 1), subsequent_indent=_INDENT) or [""]
        ]
        shown = broken[: rows - 1]  # what has scrolled away could not be drawn over
        self._drawn = "".join(f"{line}\n" for line in shown)
        self._write(f"\r{ERASE_BELOW}{self._drawn}\x1b[{len(shown)}A")

    def line(self, text: str, head: str = "", lasting: str | None = None) -> None:
        """Write text after its head, if it is new or the last was written REPEATED_S ago.

        `lasting` is the part that makes it new, where that is not the whole text.
        """
        now, told = self._clock.now(), text if lasting is None else lasting
        if told != self._told or now - self._told_at >= REPEATED_S:
            self._told, self._told_at = told, now
            self._write(f"{head}{text}\n")

    def close(self) -> None:
        """Leave the last lines on the terminal, and go below them."""
        if self._drawn:
            self._write(f"\r{ERASE_BELOW}{self._drawn}")
            self._drawn = ""
