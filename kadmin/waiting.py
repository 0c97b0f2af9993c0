"""Polls until a deadline; spaces readings that take long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def poll(
    for_s: float,
    every_s: float,
    now: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] = time.sleep,
) -> Iterator[None]:
    """Yield at once, and every `every_s` seconds until `for_s` have passed."""
    give_up = now() + for_s
    while True:
        yield
        if now() >= give_up:
            return
        wait(every_s)


def next_at(began: float, ended: float, every_s: float) -> float:
    """Return the time of the next reading, `every_s` after one that ended.

    Readings take a tenth of the time at most.
    """
    return ended + max(every_s, 10 * (ended - began))
