"""Waves: a plan cut into reassignments that are published together.

Goals: the plan's order is its priority, so waves are packed in that order; a wave is small, because the controller
writes the whole remainder of the admin node once per finished partition (O(n^2) bytes in ZooKeeper's log).
Constraints: entries, payload bytes, moves per broker in and out, bytes moved, each as the plan's `waves` says.
Algorithm: first fit over at most LOOK_AHEAD entries, so that one blocked broker does not leave a wave half empty and
a plan of any length is cut in linear time. Every partition stands in exactly one wave.
Example: limits {max_partitions: 2} over a, b, c gives [a, b], [c].
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kadmin.cluster.znodes.admin import encode_reassignment
from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.plan.model import Reassignment, WaveLimits

LOOK_AHEAD = 2_000

HARD_PACKET_BYTES = 900_000
"""Never exceeded whatever a plan asks: ZooKeeper cuts the connection at 1,048,575 bytes, checks counted."""

_CHECK_BYTES = 120
"""What one topic's check adds to the multi beside its name: header, version, and the path with a long chroot."""

_FRAME_BYTES = len('{"version":1,"partitions":[]}')


@dataclass(frozen=True, slots=True)
class Wave:
    """What one publish holds. `moved_bytes` is None where a size is unknown; counters are per broker."""

    index: int
    reassignments: tuple[Reassignment, ...]
    payload: bytes
    moves_in: dict[int, int]
    moves_out: dict[int, int]
    moved_bytes: int | None


def added(wish: Reassignment) -> tuple[int, ...]:
    """Return the brokers that get a copy they do not have, in target order; all of them where current is unknown."""
    return tuple(broker for broker in wish.target if broker not in (wish.current or ()))


def removed(wish: Reassignment) -> tuple[int, ...]:
    """Return the brokers that lose their copy, in current order."""
    return tuple(broker for broker in wish.current or () if broker not in wish.target)


def moved_bytes(wish: Reassignment) -> int | None:
    """Return the bytes that the network carries for this partition, None where its size is unknown."""
    copies = len(added(wish))
    if copies == 0:
        return 0
    return None if wish.size_bytes is None else copies * wish.size_bytes


def schedule(wishes: Sequence[Reassignment], limits: WaveLimits) -> tuple[Wave, ...]:
    """Cut wishes (without no-ops) into waves.

    Raises InvalidInputError where one entry alone breaks a limit, or `max_bytes` is given and a size is not known.
    """
    waves: list[Wave] = []
    window: list[Reassignment] = []
    rest = iter(wishes)
    while True:
        window.extend(_take(rest, LOOK_AHEAD - len(window)))
        if not window:
            return tuple(waves)
        packing = _Packing(limits)
        window = [wish for wish in window if not packing.take(wish)]
        if not packing.taken:
            raise packing.refusal(window[0])
        waves.append(packing.wave(len(waves)))


def _take(rest: Iterable[Reassignment], count: int) -> list[Reassignment]:
    iterator = iter(rest)
    return [wish for _, wish in zip(range(count), iterator, strict=False)]


def bytes_alone(wish: Reassignment) -> int:
    """Return the bytes of a payload that holds one entry alone."""
    return len(encode_reassignment({wish.partition: wish.target}))


@dataclass(slots=True)
class _Packing:
    """A wave while it is being filled."""

    limits: WaveLimits
    taken: list[Reassignment] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)
    payload_bytes: int = _FRAME_BYTES
    check_bytes: int = 0
    moved: int = 0
    moves_in: Counter[int] = field(default_factory=Counter)
    moves_out: Counter[int] = field(default_factory=Counter)

    def take(self, wish: Reassignment) -> bool:
        """Take the wish if every limit still holds with it."""
        if len(self.taken) >= self.limits.max_partitions:
            return False
        size = bytes_alone(wish) - _FRAME_BYTES + (1 if self.taken else 0)  # with its comma
        check = 0 if wish.partition.topic in self.topics else len(wish.partition.topic) + _CHECK_BYTES
        payload_bytes, check_bytes = self.payload_bytes + size, self.check_bytes + check
        if payload_bytes > self.limits.max_payload or payload_bytes + check_bytes > HARD_PACKET_BYTES:
            return False
        if not self._fits_brokers(wish) or not self._fits_bytes(wish):
            return False
        self.taken.append(wish)
        self.topics.add(wish.partition.topic)
        self.payload_bytes, self.check_bytes = payload_bytes, check_bytes
        self.moved += moved_bytes(wish) or 0
        self.moves_in.update(added(wish))
        self.moves_out.update(removed(wish))
        return True

    def wave(self, index: int) -> Wave:
        known = [moved_bytes(wish) for wish in self.taken]
        return Wave(
            index=index,
            reassignments=tuple(self.taken),
            payload=encode_reassignment({wish.partition: wish.target for wish in self.taken}),
            moves_in=dict(sorted(self.moves_in.items())),
            moves_out=dict(sorted(self.moves_out.items())),
            moved_bytes=None if None in known else self.moved,
        )

    def refusal(self, wish: Reassignment) -> InvalidInputError:
        """Say why even an empty wave cannot take this wish."""
        alone = bytes_alone(wish)
        if alone > self.limits.max_payload:
            cause = f"alone it makes a payload of {alone} bytes, more than max_payload: {self.limits.max_payload}"
        elif not self._fits_brokers(wish):
            cause = f"it alone moves more than max_moves_per_broker: {self.limits.max_moves_per_broker}"
        elif wish.size_bytes is None and added(wish):
            cause = "waves.max_bytes needs the size of every partition that moves, and this one has no size_bytes"
        else:
            cause = f"it alone moves {moved_bytes(wish)} bytes, more than max_bytes: {self.limits.max_bytes}"
        return InvalidInputError(
            f"{wish.partition} fits in no wave.", cause=cause, next_command="raise that limit under spec.waves"
        )

    def _fits_brokers(self, wish: Reassignment) -> bool:
        most = self.limits.max_moves_per_broker
        if most is None:
            return True
        return all(self.moves_in[broker] < most for broker in added(wish)) and all(
            self.moves_out[broker] < most for broker in removed(wish)
        )

    def _fits_bytes(self, wish: Reassignment) -> bool:
        if self.limits.max_bytes is None:
            return True
        size = moved_bytes(wish)
        return size is not None and self.moved + size <= self.limits.max_bytes
