"""The names of the assignment strategies.

They are apart from their code, so that the command line starts fast.
"""

from __future__ import annotations

from enum import StrEnum


class Strategy(StrEnum):
    """An assignment strategy of consumers of 0.9 and later; old consumers use range."""

    RANGE = "range"
    ROUND_ROBIN = "round-robin"
