"""The events of a running operation as lines of text, with a progress line on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.operations.decide.wave import COPYING
from kadmin.operations.events import Ended, Progressed, StateChanged, StepPublished
from kadmin.operations.record.steps import StepKind
from kadmin.report.operations.event_line import event_line
from kadmin.report.operations.progress_line import fields, progress_line, wave_text
from kadmin.report.screen import ERASE_BELOW, Meaning
from kadmin.report.text import duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.operations.events import Event
    from kadmin.report.screen import Screen

REPEATED_S = 30.0
"""Seconds after which a pipe gets a line although only bytes changed."""


class Follower:
    """Writes a line for each event and each wave.

    On a terminal the progress is one line below them, drawn again. Lines of a terminal are broken
    between words at its width.

    The cursor waits at the start of the progress line: where a terminal that became narrower has
    broken that line, all of it is still below the cursor. `now` returns monotonic seconds.
    """

    def __init__(
        self, write: Callable[[str], None], screen: Screen, now: Callable[[], float]
    ) -> None:
        self._write = write
        self._screen = screen
        self._now = now
        self._drawn: Progressed | None = None
        self._cut: set[str] = set()
        self._told: tuple[int, int, str] | None = None
        self._told_at = 0.0
        self._waves_done = 0
        self._wave_since: float | None = None

    def __call__(self, event: Event) -> None:
        """Write one event; the end of the operation and of the command is left to the answer."""
        if isinstance(event, StateChanged | Ended):
            return
        if not isinstance(event, Progressed):
            if isinstance(event, StepPublished) and event.what == StepKind.WAVE:
                self._begin_wave()
            self._keep(event_line(event))
            return
        ended = self._end_waves(event)
        if self._screen.live:
            self._draw(event)
        elif ended and event.done == event.total:
            self._told, self._told_at = _key(event), self._now()  # the wave's line has said it all
        else:
            self._tell(event)

    def close(self) -> None:
        """End the progress line.

        Keep that of a completed run, erase any other, which would still show a time left.
        """
        if self._drawn is not None:
            self._write("\n" if self._drawn.done == self._drawn.total else ERASE_BELOW)
            self._drawn = None

    def _keep(self, line: str, meaning: Meaning | None = None) -> None:
        drawn, shown = self._drawn, self._screen.painted(self._screen.wrapped(line), meaning)
        self._write(f"{'' if drawn is None else ERASE_BELOW}{shown}\n")
        if drawn is not None:
            self._draw(drawn)

    def _draw(self, event: Progressed) -> None:
        # One column stays free: where the last one is written to, some terminals go to the next
        # line at once.
        full, empty, text = progress_line(event, self._screen.columns - 1)
        if event.reason != COPYING and event.reason not in text and event.reason not in self._cut:
            self._cut.add(event.reason)
            self._keep(event.reason)
        bar = f"[{self._screen.painted(full, Meaning.DONE)}{empty}] " if full or empty else ""
        self._write(f"\r{ERASE_BELOW}{bar}{text}\r")
        self._drawn = event

    def _tell(self, event: Progressed) -> None:
        now, seen = self._now(), _key(event)
        if self._told != seen or now - self._told_at >= REPEATED_S:
            self._told, self._told_at = seen, now
            self._write(event_line(event) + "\n")

    def _begin_wave(self) -> None:
        if self._wave_since is None:
            self._wave_since = self._now()

    def _end_waves(self, event: Progressed) -> bool:
        """Write a line for a wave that ended during this run.

        Of earlier waves only the end is known. Return whether a line was written.
        """
        written = False
        done = event.waves if event.done == event.total else event.wave - 1
        if done > self._waves_done:
            if self._wave_since is not None:
                shown = fields(event)
                amounts = ", ".join(shown[name] for name in ("count", "bytes") if name in shown)
                took = duration(self._now() - self._wave_since)
                line = f"{wave_text(done, event.waves)} done in {took}: {amounts}"
                self._keep(line, Meaning.DONE)
                written = True
            self._waves_done, self._wave_since = done, None
        if event.reason:
            self._begin_wave()
        return written


def _key(event: Progressed) -> tuple[int, int, str]:
    """Return the fields of which one must change before a pipe gets a new line."""
    return event.done, event.wave, event.reason
