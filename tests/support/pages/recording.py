"""Records commands in a terminal, as asciinema's text, and draws a recording as an animated SVG.

The recording docs/first-look.cast is of real brokers; `tests/live/test_recording.py` makes it. Draw
it anew with `PYTHONPATH=tests python -m support.pages.recording`.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import termios
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DOCS = Path(__file__).parents[3] / "docs"
CAST = DOCS / "first-look.cast"
PICTURE = DOCS / "first-look.svg"

COLUMNS, ROWS = 80, 24
LONGEST_PAUSE_S = 1.5
"""What takes longer is shown as if it took this long."""
_READING_S = 2.0
"""The time before each command, to read what stands there."""
_TOKEN = re.compile(r"\x1b\[(\d*)([A-Za-z])|[\r\n]|[^\x1b\r\n]+")
_COLOURS = {"31": "e", "33": "w", "32": "d"}
_LINE_PX, _CHAR_PX, _EDGE_PX = 18, 8.43, 14
_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" \
viewBox="0 0 {width} {height}" role="img" aria-label="{title}">
<style>
svg {{ --back: #ffffff; --text: #1f2328; --edge: #d1d9e0; --error: #cf222e; --warning: #9a6700; \
--done: #1a7f37; }}
@media (prefers-color-scheme: dark) {{ svg {{ --back: #0d1117; --text: #e6edf3; --edge: #3d444d; \
--error: #ff7b72; --warning: #d29922; --done: #3fb950; }} }}
rect {{ fill: var(--back); stroke: var(--edge); }}
text {{ font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; \
fill: var(--text); }}
.c {{ font-weight: bold; }} .e {{ fill: var(--error); }} .w {{ fill: var(--warning); }} \
.d {{ fill: var(--done); }}
.past {{ opacity: 0; animation: shown steps(1); }}
.last {{ animation: hidden steps(1); }}
.screen {{ animation: scroll {seconds}s step-end; transform: translateY({last}px); }}
@keyframes shown {{ from, to {{ opacity: 1; }} }}
@keyframes hidden {{ from, to {{ opacity: 0; }} }}
@keyframes scroll {{ {scroll} }}
@media (prefers-reduced-motion: reduce) {{ .past, .last, .screen {{ animation: none; }} }}
</style>
<rect x="0.5" y="0.5" width="{rect_width}" height="{rect_height}" rx="6"/>
<svg x="{edge}" y="{edge}" width="{inner_width}" height="{inner_height}">
<g class="screen">
"""


@dataclass(frozen=True, slots=True)
class Typed:
    """A command that is typed; it is killed where it has written `killed_at`."""

    line: str
    killed_at: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a terminal is sent at a time, in seconds from the beginning."""

    at_s: float
    text: str


def record(
    commands: Sequence[Typed], folder: Path, environment: Mapping[str, str]
) -> Iterator[Output]:
    """Type commands in a terminal; yields what it is sent, without long pauses."""
    at_s = 0.0
    for command in commands:
        yield Output(at_s, f"$ {command.line}\r\n")
        previous = time.monotonic()
        for text in _run(command, folder, environment):
            now = time.monotonic()
            at_s += min(now - previous, LONGEST_PAUSE_S)
            previous = now
            yield Output(at_s, text)
        if command.killed_at is not None:
            yield Output(at_s, "\r\nKilled\r\n")
        yield Output(at_s, "\r\n")
        at_s += _READING_S


def _run(command: Typed, folder: Path, environment: Mapping[str, str]) -> Iterator[str]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (ROWS, COLUMNS))
    process = subprocess.Popen(
        ["bash", "-c", f"exec {command.line}"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env={**environment, "TERM": "xterm"},
    )
    os.close(slave)
    written = ""
    try:
        while part := _read(master):
            text = part.decode()
            written += text
            yield text
            if command.killed_at is not None and command.killed_at in written:
                process.kill()
                break
    finally:
        process.kill()
        process.wait()
        os.close(master)


def _read(master: int) -> bytes:
    try:
        return os.read(master, 65_536)
    except OSError:  # Linux's way to say that nobody holds the other end any more
        return b""


def cast_text(title: str, outputs: Iterable[Output]) -> str:
    """Return a recording in asciinema's format, version 2."""
    head = {"version": 2, "width": COLUMNS, "height": ROWS, "title": title}
    lines = [json.dumps(head), *(json.dumps([round(o.at_s, 2), "o", o.text]) for o in outputs)]
    return "\n".join(lines) + "\n"


def outputs_of(cast: str) -> list[Output]:
    """Return what a recording holds."""
    events = (json.loads(line) for line in cast.splitlines()[1:])
    return [Output(at_s, text) for at_s, _, text in events]


@dataclass(slots=True)
class Row:
    """What a row of the terminal shows from a time on: text in pieces, each with its colour."""

    since_s: float
    pieces: list[tuple[str, str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text without colours."""
        return "".join(text for text, _ in self.pieces)


@dataclass(slots=True)
class Screen:
    """A terminal without an end below, and what each of its rows showed before."""

    rows: list[Row] = field(default_factory=lambda: [Row(0.0)])
    past: list[tuple[int, Row, float]] = field(default_factory=list)
    row: int = 0
    colour: str = ""
    fresh: bool = False

    def write(self, output: Output) -> None:
        """Show text. A line that begins anew replaces the one that stands there."""
        for token in _TOKEN.finditer(output.text):
            self._take(token, output.at_s)

    def _take(self, token: re.Match[str], at_s: float) -> None:
        number, final = token.group(1), token.group(2)
        if final == "m":
            self.colour = _COLOURS.get(number, "")
        elif final == "A":
            self.row -= int(number or 1)
        elif final in ("J", "K"):
            for each in range(self.row, len(self.rows) if final == "J" else self.row + 1):
                self._replace(each, at_s)
        elif token.group() == "\r":
            self.fresh = True
        elif token.group() == "\n":
            self.fresh = False
            self._down(at_s)
        else:
            if self.fresh:
                self._replace(self.row, at_s)
            self.fresh = False
            self._show(token.group(), at_s)

    def _show(self, text: str, at_s: float) -> None:
        room = COLUMNS - len(self.rows[self.row].text)
        if text[:room]:
            self.rows[self.row].pieces.append((text[:room], self.colour))
        if text[room:]:
            self._down(at_s)
            self._show(text[room:], at_s)

    def _down(self, at_s: float) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append(Row(at_s))

    def _replace(self, number: int, at_s: float) -> None:
        row = self.rows[number]
        if row.text.strip() and at_s > row.since_s:
            self.past.append((number, row, at_s))
        self.rows[number] = Row(at_s)


def shown(cast: str) -> Screen:
    """Return the terminal after a recording."""
    screen = Screen()
    for output in outputs_of(cast):
        screen.write(output)
    while not screen.rows[-1].text.strip():
        screen.rows.pop()
    return screen


def picture(cast: str) -> str:
    """Draw a recording: each line appears at its time, and where nothing moves all is there."""
    title = json.loads(cast.splitlines()[0])["title"]
    screen = shown(cast)
    seconds = outputs_of(cast)[-1].at_s + LONGEST_PAUSE_S
    inner_width, inner_height = round(COLUMNS * _CHAR_PX), ROWS * _LINE_PX
    width, height = inner_width + 2 * _EDGE_PX, inner_height + 2 * _EDGE_PX
    head = _HEAD.format(
        title=escape(title),
        width=width,
        height=height,
        rect_width=width - 1,
        rect_height=height - 1,
        edge=_EDGE_PX,
        inner_width=inner_width,
        inner_height=inner_height,
        seconds=f"{seconds:.2f}",
        last=-_LINE_PX * max(0, len(screen.rows) - ROWS),
        scroll=_scroll(screen, seconds),
    )
    lines = [
        f'<g class="last" style="animation-duration: {row.since_s:.2f}s">{_line(number, row)}</g>'
        for number, row in enumerate(screen.rows)
        if row.text.strip()
    ]
    lines += [
        f'<g class="past" style="animation-delay: {row.since_s:.2f}s; '
        f'animation-duration: {until_s - row.since_s:.2f}s">{_line(number, row)}</g>'
        for number, row, until_s in screen.past
    ]
    return head + "\n".join(lines) + "\n</g>\n</svg>\n</svg>\n"


def _scroll(screen: Screen, seconds: float) -> str:
    """Return the keyframes that keep the newest row in sight."""
    first: dict[int, float] = {}
    for number, row in enumerate(screen.rows):
        times = [row.since_s, *(each.since_s for at, each, _ in screen.past if at == number)]
        first[number] = min(times)
    frames = {0.0: 0}
    for number in range(ROWS, len(screen.rows)):
        frames[round(100 * first[number] / seconds, 2)] = -_LINE_PX * (number - ROWS + 1)
    return " ".join(
        f"{percent}% {{ transform: translateY({pixels}px); }}" for percent, pixels in frames.items()
    )


def _line(number: int, row: Row) -> str:
    command = ' class="c"' if row.text.startswith("$ ") else ""
    pieces = "".join(
        f'<tspan class="{colour}">{escape(text)}</tspan>' if colour else escape(text)
        for text, colour in row.pieces
    )
    return f'<text{command} x="0" y="{number * _LINE_PX + 14}">{pieces}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(CAST.read_text(encoding="utf-8")), encoding="utf-8")
