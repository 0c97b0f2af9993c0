"""Detects the abilities of the terminal behind a stream."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from kadmin.report.screen import Screen

_UNKNOWN_SIZE = (80, 24)


def screen_of(stream: TextIO | None) -> Screen:
    """Return the screen of a stream; that of a closed one (None) is not live.

    TERM=dumb is no terminal that can be drawn on; NO_COLOR leaves out colours.
    """
    from kadmin.report.screen import Screen

    live = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return Screen(live, live and not os.environ.get("NO_COLOR"), lambda: _size(stream))


def _size(stream: TextIO | None) -> tuple[int, int]:
    if stream is None:
        return _UNKNOWN_SIZE
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except OSError:
        return _UNKNOWN_SIZE
    return columns or _UNKNOWN_SIZE[0], rows or _UNKNOWN_SIZE[1]
