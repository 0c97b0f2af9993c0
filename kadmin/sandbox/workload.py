"""A skewed workload whose rates follow the time of day. Pure.

Rates of topics follow Zipf's law, those of a topic's partitions a log-normal distribution, and each
topic has its busiest hour in one of three time zones. The same seed gives the same records.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

DAY_H = 24
GROUPS = ("readers-1", "readers-2")
_ZIPF = 1.1
_SIGMA = 0.3
_AMPLITUDES = 0.3, 0.9
_ZONES = (0, 8, 16)
_RECORD_BYTES = (2_000, 4_000, 8_000)
"""Sizes of records, large enough that the 61 bytes of a batch of one record hardly count."""


@dataclass(frozen=True, slots=True)
class Stream:
    """The records of a partition.

    It has the mean number an hour, the amplitude and first hour of its swing, bytes of each.
    """

    per_hour: float
    amplitude: float
    phase_h: float
    record_bytes: int

    def until(self, hours: float) -> int:
        """Return the number of records from the start to a time."""
        angle = 2 * math.pi / DAY_H
        swing = (math.cos(angle * (hours - self.phase_h)) - math.cos(angle * self.phase_h)) / angle
        return math.floor(self.per_hour * (hours - self.amplitude * swing))


@dataclass(frozen=True, slots=True)
class Workload:
    """The streams of all partitions, and the partitions that each group reads."""

    streams: Mapping[TopicPartition, Stream]
    groups: Mapping[str, tuple[TopicPartition, ...]]

    @classmethod
    def of(cls, topics: Mapping[str, int], records_per_hour: float, seed: int) -> Workload:
        """Share the mean rate of all records out among topics with so many partitions each."""
        chooser = random.Random(seed)  # noqa: S311 - a reproducible skew, not a secret
        ranked = sorted(topics)
        chooser.shuffle(ranked)
        whole = sum((rank + 1) ** -_ZIPF for rank in range(len(ranked)))
        streams: dict[TopicPartition, Stream] = {}
        groups: dict[str, list[TopicPartition]] = {name: [] for name in GROUPS}
        for rank, topic in enumerate(ranked):
            shares = [chooser.lognormvariate(0, _SIGMA) for _ in range(topics[topic])]
            rate = records_per_hour * (rank + 1) ** -_ZIPF / whole / sum(shares)
            day = (
                chooser.uniform(*_AMPLITUDES),
                chooser.choice(_ZONES),
                chooser.choice(_RECORD_BYTES),
            )
            partitions = [TopicPartition(topic, number) for number in range(topics[topic])]
            streams.update(
                {
                    each: Stream(rate * share, *day)
                    for each, share in zip(partitions, shares, strict=True)
                }
            )
            readers = len(GROUPS) if rank == 0 else chooser.choice((0, 1, 1, 2))
            for name in GROUPS[:readers]:
                groups[name].extend(partitions)
        return cls(streams, {name: tuple(read) for name, read in groups.items()})

    def due(self, done_h: float, now_h: float) -> dict[TopicPartition, list[bytes]]:
        """Return the records from one time to another, in hours since the start."""
        found: dict[TopicPartition, list[bytes]] = {}
        for partition, stream in self.streams.items():
            first, last = stream.until(done_h), stream.until(now_h)
            if last > first:
                bodies = (f"{partition} {number} ".encode() for number in range(first, last))
                found[partition] = [body.ljust(stream.record_bytes, b".") for body in bodies]
        return found
