"""Links of a terminal (OSC 8) from the names of codes and troubles to their pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_NAMED = re.compile(r"\bKA\d{3}\b|(?<=\. )[a-z]+(?:-[a-z]+)+(?=:| \()")
"""A code anywhere, or the name of a numbered finding of doctor: `1. election-loop (stops ...`."""


def linked(text: str, address_of: Callable[[str], str | None]) -> str:
    """Return text in which each name that has an address is a link to it."""

    def link(found: re.Match[str]) -> str:
        address = address_of(found[0])
        return found[0] if address is None else f"\x1b]8;;{address}\x1b\\{found[0]}\x1b]8;;\x1b\\"

    return _NAMED.sub(link, text)
