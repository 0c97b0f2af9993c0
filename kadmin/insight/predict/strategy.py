"""The names of the ways in which consumers share partitions; they cost nothing to import."""

from __future__ import annotations

from enum import StrEnum


class Strategy(StrEnum):
    """How partitions are shared: as the consumers of 0.9 and later do, the range also as the old ones.

    Sticky is what consumers of Kafka 3.9 do, where all subscribe to the same topics.
    """

    RANGE = "range"
    ROUND_ROBIN = "round-robin"
    STICKY = "sticky"
