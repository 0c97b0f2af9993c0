"""`status --watch` for several contexts: one screen, or lines where there is no terminal."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import typer

from kadmin.cli.context import ticking
from kadmin.cli.fleet_watch import FleetWatch
from kadmin.cli.options import OutputFormat
from kadmin.cli.terminal import screen_of
from kadmin.report.operations.watched import Watched
from kadmin.report.operations.watched_clusters import cluster_lines, watched_answer
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from kadmin.contexts.address import Fleet


def watch_fleet(fleet: Fleet, timeout_s: float | None, output: OutputFormat) -> int:
    """Watch clusters until --timeout, on one screen or in lines; return the highest exit code.

    Lines also end once no operation is unfinished; a screen ends when its reader quits.
    """
    screen = screen_of(sys.stdout)
    on_screen = screen.live and sys.stdin.isatty() and output is OutputFormat.HUMAN
    # No alarm: this thread never waits beyond the deadline, and a command that a key has started
    # has limits of its own.
    with ticking(None) as clock:
        clock.until = math.inf if timeout_s is None else clock.now() + timeout_s
        watch = FleetWatch(fleet, clock, ends=not on_screen)
        watch.start()
        try:
            if on_screen:
                from kadmin.cli.status_screen import show

                show(watch, screen)
            else:
                _write_lines(watch, output)
        finally:
            watch.close()
        return watch.exit_code(timeout_s)


def _write_lines(watch: FleetWatch, output: OutputFormat) -> None:
    """Write each answer that is new, and every one again after a time."""
    lines: dict[tuple[str, int], Watched] = {}
    screen, clock = screen_of(sys.stdout), watch.clock
    while not watch.ended and not clock.over:
        found = watch.take(clock.until - clock.now())
        if found is None:
            continue
        head, texts = f"{found.name}: {clock.timestamp()} ", cluster_lines(found)
        if output is OutputFormat.JSON:
            text = to_json(watched_answer(found), indent=None)
            head, texts = "", [(text, text)]
        for at, (text, lasting) in enumerate(texts):
            line = lines.setdefault((found.name, at), Watched(_write, screen, clock))
            line.line(text, head, lasting)


def _write(text: str) -> None:
    typer.echo(text, nl=False)
