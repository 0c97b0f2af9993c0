"""Lists of replicas as arrays, and fast stable sorting of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import fast_nonzero

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints

_MANY = 1500
_PLACE_BITS = 32
_PLACE = 2**_PLACE_BITS - 1


@dataclass(frozen=True, slots=True, eq=False)
class Replicas:
    """Replicas when the list was made: arrays [N], ascending by broker, partition, slot."""

    broker: Ints
    partition: Ints
    slot: Ints

    def __len__(self) -> int:
        """Return N."""
        return len(self.broker)

    @classmethod
    def joined(cls, parts: Sequence[Replicas]) -> Replicas:
        """Concatenate several lists."""
        empty = np.zeros(0, np.int64)
        return cls(
            np.concatenate([empty, *(part.broker for part in parts)]),
            np.concatenate([empty, *(part.partition for part in parts)]),
            np.concatenate([empty, *(part.slot for part in parts)]),
        )

    def only(self, which: Bools | Ints) -> Replicas:
        """Return those selected by a mask or by positions."""
        return Replicas(self.broker[which], self.partition[which], self.slot[which])

    def on_broker(self, broker: int) -> Replicas:
        """Return those on one broker."""
        low, high = np.searchsorted(self.broker, [broker, broker + 1])
        return Replicas(self.broker[low:high], self.partition[low:high], self.slot[low:high])

    def may_go(self, placement: Placement) -> Bools:
        """Whether each may move away while its partition keeps a replica that may lead, [N]."""
        may_lead = placement.problem.brokers.may_lead
        if may_lead.all():
            return np.ones(len(self), np.bool_)
        return (placement.able_to_lead(self.partition) > 1) | ~may_lead[self.broker]


@dataclass(frozen=True, slots=True, eq=False)
class PendingReplicas:
    """Replicas whose target rack is chosen and whose target broker is not: arrays [N].

    `origin` is the broker that gave the replica, NONE for an open slot.
    """

    partition: Ints
    slot: Ints
    rack: Ints
    origin: Ints

    def __len__(self) -> int:
        """Return N."""
        return len(self.partition)

    def joined(self, others: PendingReplicas) -> PendingReplicas:
        """Concatenate these and others."""
        return PendingReplicas(
            np.concatenate([self.partition, others.partition]),
            np.concatenate([self.slot, others.slot]),
            np.concatenate([self.rack, others.rack]),
            np.concatenate([self.origin, others.origin]),
        )

    def to_rack(self, rack: int) -> PendingReplicas:
        """Return those that go to one rack."""
        return self.only(self.rack == rack)

    def only(self, which: Bools | Ints) -> PendingReplicas:
        """Return those selected by a mask or by positions."""
        return PendingReplicas(
            self.partition[which], self.slot[which], self.rack[which], self.origin[which]
        )


def replicas_on(placement: Placement, members: Ints, brokers: Ints) -> Replicas:
    """Return the replicas of some partitions on some brokers (both ascending)."""
    wanted = np.zeros(len(placement.problem.brokers) + 1, np.bool_)  # the last element is for NONE
    wanted[brokers] = True
    lists = placement.slots.take(members, axis=0)
    here = wanted[lists]
    held, (rows, slots) = lists[here], fast_nonzero(here)
    order = stable_argsort(held)
    return Replicas(held[order], members[rows[order]], slots[order])


def stable_argsort(values: Ints) -> Ints:
    """Return `np.argsort(values, kind="stable")`, several times faster for many values.

    16-bit values are sorted by radix; larger ones by quicksort, with the position in the low bits
    as a tie-break.
    """
    if len(values) < _MANY:
        return np.argsort(values, kind="stable")
    least, most = int(values.min()), int(values.max())
    if least >= 0 and most <= np.iinfo(np.uint16).max:
        return np.argsort(values.astype(np.uint16), kind="stable")
    if least >= 0 and most <= np.iinfo(np.int32).max:
        return np.asarray(np.sort(values << _PLACE_BITS | np.arange(len(values))) & _PLACE)
    order = np.argsort(values)
    rank = np.zeros(len(values), np.int64)
    np.cumsum(values[order[1:]] != values[order[:-1]], out=rank[1:])
    return np.asarray(np.sort(rank << _PLACE_BITS | order) & _PLACE)


def running_count(values: Ints) -> Ints:
    """Return the number of earlier positions with each position's value, [N] (pandas' cumcount)."""
    order = stable_argsort(values)
    ranks = np.empty(len(values), np.int64)
    ascending = values[order]
    place = np.arange(len(values))
    first = np.zeros(len(values), np.int64)
    first[1:] = np.where(ascending[1:] != ascending[:-1], place[1:], 0)
    ranks[order] = place - np.maximum.accumulate(first)
    return ranks
