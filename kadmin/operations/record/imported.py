"""The result of `history import`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Imported:
    """The operations that were carried over, in order, and how many were on both sides already."""

    carried: tuple[str, ...]
    already: int
