"""Places most replicas with direct moves: from a broker above its quota to one below its quota.

Goals: as many moves as the lower bound; among the choices that leaves, bytes near each broker's
goal.
Algorithm: 1. Each open slot gets a rack, preferably one far below its quotas. 2. Racks above the
sum of their quotas, in replicas or bytes, give to racks below theirs (rack_transfers.py). 3. In
each rack, every broker above its quota gives exactly its surplus, of the replicas furthest above
the share of their topic, so that its bytes come near their goal; then the pending replicas of the
rack go, largest first, to the broker with most missing bytes per missing replica.
Replicas that find no broker this way are left to the augmenting paths.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.rack_transfers import transfer_between_racks
from kadmin.planner.kernel.replicas import PendingReplicas, Replicas, replicas_on, stable_argsort
from kadmin.planner.kernel.subset_sum import pick_exactly
from kadmin.planner.kernel.topic_counts import above_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Floats, Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_CHOICE, _LEAST_CHOICE = 1.05, 8
"""Candidates for each replica that a broker gives, and further ones."""


@dataclass(frozen=True, slots=True)
class _Needs:
    """Deficits of each rack, lists of K.

    They are replicas to the sum of its quotas, the sum of its brokers', and bytes.
    """

    places: list[float]
    deficit: list[float]
    size: list[float]

    def choose(self, free: Ints, missing: Ints, sizes: Ints) -> list[tuple[int, int]]:
        """Return (row, rack) for each missing replica that finds a rack.

        `free` [N, K]: replicas that each rack may still get of each partition; `missing` and
        `sizes` [N]. Racks below the sum of their quotas come first, then those with most missing
        bytes per missing replica.
        """
        choices: list[tuple[int, int]] = []
        rows = zip(free.tolist(), missing.tolist(), sizes.tolist(), strict=True)
        for row, (free_slots, wanted, size) in enumerate(rows):
            for _ in range(wanted):
                racks = [
                    rack
                    for rack, slots in enumerate(free_slots)
                    if slots > 0 and self.deficit[rack] > 0
                ]
                if not racks:
                    break
                rack = max(racks, key=self._urgency)
                choices.append((row, rack))
                free_slots[rack] -= 1
                self.places[rack] -= 1
                self.deficit[rack] -= 1
                self.size[rack] -= size
        return choices

    def _urgency(self, rack: int) -> tuple[bool, float]:
        places = self.places[rack]
        return (True, self.size[rack] / places) if places > 0 else (False, places)


def place_directly(group: TopicGroup) -> None:
    """Fill open slots and bring counts to their quotas as far as direct moves can."""
    placement = group.placement
    size, racks = placement.problem.size, placement.problem.brokers.racks
    even = group.even_load()
    pending = _open_slots(group, even)
    surplus = np.flatnonzero(group.surplus() > 0)
    on = replicas_on(placement, group.members, surplus)
    above = above_share(placement.problem, on)
    able = on.may_go(placement)
    on, above = on.only(able), above[able]
    if racks > 1 and len(on):
        pending = pending.joined(transfer_between_racks(group, on, pending, even))
    arriving = np.zeros(racks, np.int64)
    np.add.at(arriving, pending.rack, size[pending.partition])
    goal = group.load_within_racks(arriving)
    for rack in range(racks):
        given = _surplus(group, on, above, rack, goal)
        _deliver(group, pending.to_rack(rack).joined(given), rack, goal)


def _open_slots(group: TopicGroup, even: Floats) -> PendingReplicas:
    """Choose a rack for each open slot, for the partitions with the fewest possible racks first.

    Where the floor of racks ties some open slots of a partition to racks without it, all get one.
    """
    placement, brokers = group.placement, group.placement.problem.brokers
    missing = placement.missing()[group.members]
    lacking = group.members[missing > 0]
    receiving = np.bincount(brokers.rack[group.receives], minlength=brokers.racks) > 0
    free = np.where(
        receiving, placement.problem.rack_cap[lacking, None] - placement.per_rack[lacking], 0
    )
    free = np.maximum(free, 0)
    if placement.floored:
        tied = placement.spare_replicas(lacking) < missing[missing > 0]
        fresh = placement.per_rack[lacking] == 0
        free = np.where(tied[:, None], np.minimum(free, fresh), free)
    order = np.lexsort((lacking, -placement.problem.size[lacking], np.count_nonzero(free, axis=1)))
    needs = _Needs(
        places=group.per_rack(-group.surplus()).tolist(),
        deficit=group.per_rack(group.deficit()).tolist(),
        size=group.per_rack(even - placement.load).tolist(),
    )
    sizes = placement.problem.size[lacking[order]]
    choices = needs.choose(free[order], missing[missing > 0][order], sizes)
    rows = np.array([row for row, _ in choices], np.int64)
    partition = lacking[order][rows]
    return PendingReplicas(
        partition,
        _nth_open_slots(placement, partition),
        np.array([rack for _, rack in choices], np.int64),
        np.full(len(partition), NONE, np.int64),
    )


def _nth_open_slots(placement: Placement, partition: Ints) -> Ints:
    """Return an open slot for each entry of `partition` [N].

    It is a different one for each repetition (adjacent).
    """
    again = np.zeros(len(partition), np.int64)
    for step in range(1, placement.slots.shape[1]):
        again[step:] += partition[step:] == partition[:-step]
    is_open = placement.slots[partition] == NONE
    return np.asarray(np.argmax(np.cumsum(is_open, axis=1) == (again + 1)[:, None], axis=1))


def _surplus(
    group: TopicGroup, on: Replicas, above: Ints, rack: int, goal: Floats
) -> PendingReplicas:
    """Take from each broker of a rack exactly its surplus, so that its bytes come near the goal.

    They are chosen among little more than that many, furthest above their topic's share, `above`.
    """
    placement, problem = group.placement, group.placement.problem
    surplus, found = group.surplus(), []
    for broker in np.flatnonzero((problem.brokers.rack == rack) & (surplus > 0)).tolist():
        count, (low, high) = int(surplus[broker]), on.broker.searchsorted([broker, broker + 1])
        leaving = on.only(low + stable_argsort(above.max(initial=0) - above[low:high]))
        leaving = leaving.only(
            leaving.may_go(placement) & (placement.slots[leaving.partition, leaving.slot] == broker)
        )
        leaving = leaving.only(np.arange(len(leaving)) < round(count * _CHOICE) + _LEAST_CHOICE)
        excess = float(placement.load[broker] - goal[broker])
        found.append(leaving.only(pick_exactly(problem.size[leaving.partition], count, excess)))
    taken = Replicas.joined(found)
    placement.take_all(taken.partition, taken.slot)
    return PendingReplicas(
        taken.partition, taken.slot, np.full(len(taken), rack, np.int64), taken.broker
    )


def _deliver(group: TopicGroup, pending: PendingReplicas, rack: int, goal: Floats) -> None:
    """Put one rack's pending replicas, largest first, on brokers.

    Each goes to the broker with most missing bytes per missing replica. A replica that no broker
    accepts returns to its origin; an open slot stays open.
    """
    placement, size = group.placement, group.placement.problem.size[pending.partition]
    by_place = stable_argsort(pending.partition * placement.slots.shape[1] + pending.slot)
    some = pending.only(by_place[stable_argsort(-size[by_place])])
    receivers, volumes = (
        _Receivers(group, rack, goal),
        placement.problem.size[some.partition].tolist(),
    )
    if _only_lists_refuse(group, some, rack):
        refusing = (row.__contains__ for row in placement.slots[some.partition].tolist())
        found = np.fromiter(receivers.deal(refusing, volumes), np.int64, len(some))
        targets = np.where(found == NONE, some.origin, found)
        placed = targets != NONE
        placement.put_all(some.partition[placed], some.slot[placed], targets[placed])
        return
    refusing = (partial(_refuses, placement, partition) for partition in some.partition.tolist())
    places = zip(some.partition.tolist(), some.slot.tolist(), some.origin.tolist(), strict=True)
    for (partition, slot, origin), broker in zip(
        places, receivers.deal(refusing, volumes), strict=True
    ):
        if broker != NONE or origin != NONE:
            placement.put(partition, slot, origin if broker == NONE else broker)


def _only_lists_refuse(group: TopicGroup, pending: PendingReplicas, rack: int) -> bool:
    """Whether each broker of the rack accepts all pending replicas of partitions not on it."""
    placement, problem = group.placement, group.placement.problem
    if not problem.brokers.unconstrained or len(np.unique(pending.partition)) < len(pending):
        return False
    if placement.floored:
        return False
    return bool(
        (placement.per_rack[pending.partition, rack] < problem.rack_cap[pending.partition]).all()
    )


def _refuses(placement: Placement, partition: int, broker: int) -> bool:
    return not placement.accepts(partition, broker)


class _Receivers:
    """The brokers of a rack below their quota, in a heap by missing bytes per missing replica."""

    def __init__(self, group: TopicGroup, rack: int, goal: Floats) -> None:
        deficit, brokers = group.deficit(), group.placement.problem.brokers
        self._left, wanted = deficit.tolist(), goal - group.placement.load
        self._wanted = wanted.tolist()
        receivers = np.flatnonzero((brokers.rack == rack) & (deficit > 0)).tolist()
        self._heap = [(-self._wanted[broker] / self._left[broker], broker) for broker in receivers]
        heapq.heapify(self._heap)

    def deal(
        self, refusing: Iterable[Callable[[int], bool]], sizes: Iterable[int]
    ) -> Iterator[int]:
        """Yield the broker for each replica, NONE where all refuse.

        `refusing` are tests of a broker, `sizes` bytes.
        """
        heap, wanted, left = self._heap, self._wanted, self._left
        for refused, volume in zip(refusing, sizes, strict=True):
            passed = []
            while heap and refused(heap[0][1]):
                passed.append(heapq.heappop(heap))
            found = NONE
            if heap:
                found = heap[0][1]
                wanted[found] = bytes_left = wanted[found] - volume
                left[found] = places_left = left[found] - 1
                if places_left:
                    heapq.heapreplace(heap, (-bytes_left / places_left, found))
                else:
                    heapq.heappop(heap)
            for entry in passed:
                heapq.heappush(heap, entry)
            yield found
