"""Polls until a deadline."""

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
