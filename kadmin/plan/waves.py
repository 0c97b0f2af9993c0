"""Waves: a plan cut into reassignments that are published together, in plan order.

Goals: the plan's order is its priority, so waves are packed in that order (kadmin.plan.makespan
packs them anew where the plan asks for the shortest time); a wave is small, because the controller
writes the whole remainder of the admin node once per finished partition (O(n^2) bytes in
ZooKeeper's log).
Constraints: entries, payload bytes, moves per broker in and out, bytes moved, each as the plan's
`waves` says.
Algorithm: first fit over at most LOOK_AHEAD entries, so that one blocked broker does not leave a
wave half empty and a plan of any length is cut in linear time. Every partition is in exactly one
wave.
Example: limits {max_partitions: 2} over a, b, c gives [a, b], [c].
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.payloads import encode_reassignment
from kadmin.errors import InvalidInputError
from kadmin.plan.units import format_size, readable_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.plan.model import PartitionTarget, WaveLimits
    from kadmin.plan.pairs import Pair, PairLimit

LOOK_AHEAD = 2_000


_FRAME_BYTES = len('{"version":1,"partitions":[]}')


@dataclass(frozen=True, slots=True)
class Wave:
    """The reassignments of one publish.

    `moved_bytes` is None where a size is unknown; counters are per broker.
    """

    index: int
    reassignments: tuple[PartitionTarget, ...]
    payload: bytes
    moves_in: dict[int, int]
    moves_out: dict[int, int]
    moved_bytes: int | None


def moved_bytes(target: PartitionTarget) -> int | None:
    """Return the bytes that the network carries for this partition, None if its size is unknown."""
    copies = len(target.added)
    if copies == 0:
        return 0
    return None if target.size_bytes is None else copies * target.size_bytes


def copied_bytes(targets: Iterable[PartitionTarget]) -> int | None:
    """Return the bytes that are copied to reach targets, None where a size is unknown."""
    sizes = [moved_bytes(target) for target in targets]
    return None if None in sizes else sum(size or 0 for size in sizes)


def schedule(
    targets: Sequence[PartitionTarget],
    limits: WaveLimits,
    publish: PublishLimits,
    pairs: PairLimit | None = None,
) -> tuple[Wave, ...]:
    """Cut targets (without no-ops) into waves.

    Raises InvalidInputError where one entry alone breaks a limit, or `max_bytes` is given and a
    size is not known.
    """
    waves: list[Wave] = []
    window: list[PartitionTarget] = []
    rest = iter(targets)
    while True:
        window.extend(_take(rest, LOOK_AHEAD - len(window)))
        if not window:
            return tuple(waves)
        packing = Packing(limits, publish, pairs)
        window = [target for target in window if not packing.take(target)]
        if not packing.taken:
            raise packing.refusal(window[0])
        waves.append(packing.wave(len(waves)))


def _take(rest: Iterable[PartitionTarget], count: int) -> list[PartitionTarget]:
    iterator = iter(rest)
    return [target for _, target in zip(range(count), iterator, strict=False)]


def bytes_alone(target: PartitionTarget) -> int:
    """Return the bytes of a payload that holds one entry alone."""
    return len(encode_reassignment({target.partition: target.replicas}))


@dataclass(slots=True)
class Packing:
    """A wave while it is being filled; `taken` are its targets so far."""

    limits: WaveLimits
    publish: PublishLimits
    pairs: PairLimit | None = None
    taken: list[PartitionTarget] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)
    payload_bytes: int = _FRAME_BYTES
    check_bytes: int = 0
    moved: int = 0
    moves_in: Counter[int] = field(default_factory=Counter)
    moves_out: Counter[int] = field(default_factory=Counter)
    copies: Counter[Pair] = field(default_factory=Counter)

    def take(self, target: PartitionTarget) -> bool:
        """Take the target if every limit still holds with it."""
        if len(self.taken) >= self._most_partitions():
            return False
        if not self._fits_brokers(target) or not self._fits_bytes(target):
            return False
        size = bytes_alone(target) - _FRAME_BYTES + (1 if self.taken else 0)  # with its comma
        check = (
            0
            if target.partition.topic in self.topics
            else len(target.partition.topic) + self.publish.bytes_per_topic
        )
        payload_bytes, check_bytes = self.payload_bytes + size, self.check_bytes + check
        if (
            payload_bytes > self.limits.max_payload
            or payload_bytes + check_bytes > self.publish.max_bytes
        ):
            return False
        if self.pairs is not None and not self.pairs.takes(target, self.copies):
            return False
        self.taken.append(target)
        self.topics.add(target.partition.topic)
        self.payload_bytes, self.check_bytes = payload_bytes, check_bytes
        self.moved += moved_bytes(target) or 0
        self.moves_in.update(target.added)
        self.moves_out.update(target.removed)
        return True

    def fullness(self) -> float:
        """Return the share of the nearest limit, from 0 to 1.

        inf when no more partitions are taken.
        """
        most = self._most_partitions()
        if len(self.taken) >= most:
            return math.inf
        shares = len(self.taken) / most, self.payload_bytes / self.limits.max_payload
        return max(*shares, self.moved / (self.limits.max_bytes or math.inf))

    def wave(self, index: int) -> Wave:
        """Return the wave of the targets that were taken."""
        moved_bytes_of = [moved_bytes(target) for target in self.taken]
        entries = {
            target.partition: target.replicas
            for target in self.taken
            if target.replicas != target.current  # else it moves between disks alone
        }
        return Wave(
            index=index,
            reassignments=tuple(self.taken),
            payload=encode_reassignment(entries) if entries else b"",
            moves_in=dict(sorted(self.moves_in.items())),
            moves_out=dict(sorted(self.moves_out.items())),
            moved_bytes=None if None in moved_bytes_of else self.moved,
        )

    def refusal(self, target: PartitionTarget) -> InvalidInputError:
        """Return the reason that even an empty wave cannot take this target."""
        alone = bytes_alone(target)
        if alone > self.limits.max_payload:
            limit = format_size(self.limits.max_payload)
            cause = (
                f"alone it makes a payload of {readable_size(alone)}, more than max_payload: "
                f"{limit}"
            )
        elif not self._fits_brokers(target):
            cause = (
                f"it alone moves more than max_moves_per_broker: {self.limits.max_moves_per_broker}"
            )
        elif target.size_bytes is None and target.added:
            cause = (
                "waves.max_bytes needs the size of every partition that moves, and this one has "
                "no size_bytes"
            )
        else:
            moved, limit = moved_bytes(target) or 0, format_size(self.limits.max_bytes or 0)
            cause = f"it alone moves {readable_size(moved)}, more than max_bytes: {limit}"
        return InvalidInputError(
            f"{target.partition} fits in no wave.",
            cause=cause,
            next_step="raise that limit under spec.waves",
        )

    def _most_partitions(self) -> int:
        return min(
            self.limits.max_partitions, self.publish.max_partitions or self.limits.max_partitions
        )

    def _fits_brokers(self, target: PartitionTarget) -> bool:
        most = self.limits.max_moves_per_broker
        if most is None:
            return True
        return all(self.moves_in[broker] < most for broker in target.added) and all(
            self.moves_out[broker] < most for broker in target.removed
        )

    def _fits_bytes(self, target: PartitionTarget) -> bool:
        if self.limits.max_bytes is None:
            return True
        size = moved_bytes(target)
        return size is not None and self.moved + size <= self.limits.max_bytes
