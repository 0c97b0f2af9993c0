"""The progress of an operation in one line of text, with the fields that fit its width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.units import readable_rate
from kadmin.report.text import about, duration, ending_text

if TYPE_CHECKING:
    from kadmin.operations.events import Progressed

_MOST_CELLS = 24
"""The cells of a bar between its brackets, at most."""
_FEWEST_CELLS = 3
_WORTHWHILE_CELLS = 6
_LEAST_REASON = 12
_FRAME = 3
"""The columns that a bar takes besides its cells: brackets, and a space after them."""
_DROPPED = ("reason", "rate", "bytes", "wave")
"""The fields that a narrow line goes without, the least important first."""


def fields(event: Progressed) -> dict[str, str]:
    """Return the known fields by name, in the order of the line."""
    found = {
        "wave": wave_text(event.wave, event.waves),
        "count": f"{event.done}/{event.total} done",
    }
    if event.total_bytes and event.done_bytes is not None:
        found["bytes"] = bytes_text(event.done_bytes, event.total_bytes)
    if event.rate is not None:
        found["rate"] = readable_rate(event.rate)
    if event.ending is not None:
        found["eta"] = ending_text(event.ending)
    elif event.eta_s is not None:
        found["eta"] = f"{duration(event.eta_s)} left"
    found["reason"] = event.reason
    return {name: text for name, text in found.items() if text}


def bytes_text(done: int, total: int) -> str:
    """Return `45.2 of 66.0 MB`, with both units where they differ."""
    (amount, unit), whole = about(done).split(), about(total)
    return f"{amount} of {whole}" if whole.endswith(f" {unit}") else f"{amount} {unit} of {whole}"


def wave_text(wave: int, waves: int) -> str:
    """Return `wave 2 of 7`, nothing for work without waves."""
    return f"wave {wave} of {waves}" if waves else ""


def progress_line(event: Progressed, width: int) -> tuple[str, str, str]:
    """Return the bar's full and empty cells and the text after it, in all at most `width` columns.

    Bar, done/total and the time left are the last to go; a reason is cut before it is dropped.
    """
    shown = fields(event)
    for name in ("", *_DROPPED):
        reason = shown.pop(name, "")
        text = "  ".join(shown.values())
        if (
            name == "reason"
            and (cut := width - len(text) - _FRAME - _WORTHWHILE_CELLS - 2) >= _LEAST_REASON
        ):
            text += "  " + (reason if len(reason) <= cut else f"{reason[: cut - 3]}...")
        if len(text) + _FRAME + _WORTHWHILE_CELLS <= width:
            return _with_bar(event, text, width)
    left = "" if event.eta_s is None else f" {duration(event.eta_s)}"
    return _with_bar(event, f"{event.done}/{event.total}{left}"[:width], width)


def _with_bar(event: Progressed, text: str, width: int) -> tuple[str, str, str]:
    cells = min(_MOST_CELLS, width - len(text) - _FRAME)
    if cells < _FEWEST_CELLS:
        return "", "", text
    full = int(cells * _share(event))
    return "#" * full, "." * (cells - full), text


def _share(event: Progressed) -> float:
    """Return the share that is done, 0 to 1: of bytes if known, else of partitions or topics."""
    if event.total_bytes and event.done_bytes is not None:
        return min(event.done_bytes / event.total_bytes, 1.0)
    return event.done / event.total if event.total else 0.0
