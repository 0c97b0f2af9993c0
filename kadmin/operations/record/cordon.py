"""A cordon on record, from before its request until its broker is seen without it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CordonRecord:
    """The author and time of a cordon, and the broker's own config before; None: it had none."""

    by: str
    at: str
    before: str | None

    def __str__(self) -> str:
        return f"by {self.by} at {self.at}"
