"""The screen of `status --watch` for several contexts: draws it, and runs a command for a key."""

from __future__ import annotations

import os
import re
import select
import shlex
import signal
import sys
import termios
import tty
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer
from rich.console import Console, ConsoleDimensions
from rich.live import Live
from rich.text import Text

from kadmin.cli.execution import own_line
from kadmin.cli.protection import name_to_type
from kadmin.errors import StoppedError
from kadmin.operations.context import POLL_S
from kadmin.report.operations.clusters_screen import screen_lines, selected
from kadmin.report.operations.watched_clusters import rows_of
from kadmin.report.screen import Meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kadmin.cli.fleet_watch import FleetWatch
    from kadmin.contexts.address import ClusterAddress
    from kadmin.report.operations.clusters_screen import Line
    from kadmin.report.operations.watched_clusters import Row
    from kadmin.report.screen import Screen

_STYLES = {Meaning.ERROR: "red", Meaning.WARNING: "yellow", Meaning.DONE: "green", None: ""}
_KEY = re.compile(rb"\x1b[\[O][0-9;]*.|.", re.DOTALL)
_UP, _DOWN = (b"k", b"\x1b[A", b"\x1bOA"), (b"j", b"\x1b[B", b"\x1bOB")
_INTERRUPT = b"\x03"
_COMMANDS = (b"p", b"c", b"t")
_RATE = "Rate of the throttle, as 50MB/s or 10MB/s..200MB/s (Enter: as it is)"


def show(watch: FleetWatch, screen: Screen) -> None:
    """Show the clusters until q or the deadline; raises StoppedError for a signal and ^C.

    A command that a key starts has the terminal as it was before, and its own questions.
    """
    chosen: Row | None = None
    while True:
        # Signals wait for a safe point: one in the middle of drawing would leave the terminal as
        # it is then.
        with watch.clock.deferring_signals(), _keys() as read, _drawing(screen) as draw:
            key, chosen = _follow(watch, screen, chosen, read, draw)
        watch.clock.stop_if_asked("nothing was changed")
        if key == _INTERRUPT:
            raise StoppedError("nothing was changed", signal_number=signal.SIGINT)
        if key not in _COMMANDS:
            return
        _run(key, chosen, watch.fleet.clusters[chosen.cluster])


def _follow(
    watch: FleetWatch,
    screen: Screen,
    chosen: Row | None,
    read: Callable[[], list[bytes]],
    draw: Callable[[Text], None],
) -> tuple[bytes, Row]:
    """Draw answers as they come until a key ends it; return that key and the chosen row."""
    message = ""
    while True:
        while watch.take(0) is not None:
            pass
        rows = [row for cluster in watch.latest for row in rows_of(cluster)]
        at = selected(rows, chosen)
        chosen = rows[at]
        draw(_text(screen_lines(rows, at, screen.size(), message), screen))
        if watch.clock.over or watch.clock.stop_signal is not None:
            return b"", chosen
        for key in read():
            message = ""
            if key in _COMMANDS and chosen.operation_id is None:
                message = f"no operation is unfinished on {chosen.cluster}"
            elif key in (b"q", b"", _INTERRUPT, *_COMMANDS):
                return key, chosen
            elif key in (*_UP, *_DOWN):
                at = (at + (1 if key in _DOWN else -1)) % len(rows)
                chosen = rows[at]


@contextmanager
def _drawing(screen: Screen) -> Iterator[Callable[[Text], None]]:
    """Yield a function that draws on a screen of its own; the terminal has its lines back then."""
    console = Console(highlight=False)
    with Live(
        console=console,
        screen=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    ) as live:

        def draw(text: Text) -> None:
            console.size = ConsoleDimensions(*screen.size())
            live.update(text, refresh=True)

        yield draw


@contextmanager
def _keys() -> Iterator[Callable[[], list[bytes]]]:
    """Yield a function that returns the keys of a moment, and b"" once the terminal is gone.

    Keys are not echoed; ^C is a key, too. Unread ones are dropped at both ends: nobody answers a
    question that was not asked yet.
    """
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)

    def read() -> list[bytes]:
        if not select.select([terminal], [], [], POLL_S)[0]:
            return []
        return _KEY.findall(os.read(terminal, 1024)) or [b""]

    try:
        tty.setcbreak(terminal)
        changed = termios.tcgetattr(terminal)
        changed[3] &= ~termios.ISIG
        termios.tcsetattr(terminal, termios.TCSAFLUSH, changed)
        yield read
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)


def _text(lines: Sequence[Line], screen: Screen) -> Text:
    texts = [
        Text(
            line.text,
            f"{_STYLES[line.meaning]} {'reverse' if line.chosen else ''}" if screen.colour else "",
        )
        for line in lines
    ]
    return Text("\n", no_wrap=True, overflow="crop").join(texts)


def _run(key: bytes, row: Row, address: ClusterAddress) -> None:
    """Run the command that a key stands for, and wait until its output was read."""
    from kadmin.cli import run

    with suppress(typer.Abort), own_line():
        words = _command(key, row.operation_id or "", address)
        if not words:
            return
        arguments = [*words, "--context", row.cluster]
        typer.echo(f"$ kadmin {shlex.join(arguments)}", err=True)
        status = run(arguments)
        if status in {128 + signal.SIGTERM, 128 + signal.SIGHUP}:
            raise StoppedError("nothing was changed", signal_number=status - 128)
        typer.prompt("Enter goes back to the screen", default="", show_default=False, err=True)


def _command(key: bytes, operation_id: str, address: ClusterAddress) -> list[str]:
    """Return the words of the command, which asks before it acts; none where there is no yes."""
    if key == b"c":
        return ["cancel", operation_id]
    if key == b"t":
        rate = typer.prompt(_RATE, default="", show_default=False, err=True)
        return ["throttle", "set", "--rate", rate] if rate else []
    # The command asks in a protected context alone.
    question = f"Pause operation {operation_id} on {address}?"
    yes = name_to_type(address) is not None or typer.confirm(question, err=True)
    return ["pause", operation_id] if yes else []
