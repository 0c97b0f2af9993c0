"""Places the bulk of what has to move: whole lists at once, each replica straight to a broker with room.

Goals: every move goes from a broker above its quota (or an open slot) to one below it, so the number of moves is the
bound's; among the choices that leaves, bytes end up near each broker's share.
Algorithm: open slots choose racks, the neediest first; racks above their totals give to racks below theirs; then, rack
by rack, every broker above its quota gives exactly its surplus, chosen so that its bytes come near its share, and
everything under way in the rack goes, largest first, to the broker that wants most bytes for each place it has left.
What finds no place by this rule is left to the augmenting paths.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.problem import NONE
from kadmin.planner.kernel.replicas import Replicas, replicas_on
from kadmin.planner.kernel.subset import pick_exactly

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.problem import Bools, Floats, Ints
    from kadmin.planner.kernel.share import Share

_STRIDES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Errands:
    """Replicas under way to a rack, arrays of shape [N]: `origin` is the broker that gave, NONE for an open slot."""

    partition: Ints
    slot: Ints
    rack: Ints
    origin: Ints

    def __len__(self) -> int:
        """Return N."""
        return len(self.partition)

    def joined(self, others: Errands) -> Errands:
        """Return these errands and others."""
        return Errands(
            np.concatenate([self.partition, others.partition]),
            np.concatenate([self.slot, others.slot]),
            np.concatenate([self.rack, others.rack]),
            np.concatenate([self.origin, others.origin]),
        )

    def to(self, rack: int) -> Errands:
        """Return those that go to one rack."""
        return self.at(self.rack == rack)

    def at(self, which: Bools | Ints) -> Errands:
        """Return those that a mask or positions name."""
        return Errands(self.partition[which], self.slot[which], self.rack[which], self.origin[which])


@dataclass(frozen=True, slots=True)
class _Needs:
    """What each rack still needs: places to its total, room on brokers below their quotas, and bytes."""

    places: list[float]
    room: list[float]
    size: list[float]

    def choose(self, free: Ints, missing: Ints, sizes: Ints) -> list[tuple[int, int]]:
        """Return (row, rack) for every replica that is missing and finds a rack, [N, K] spots being `free`.

        A rack below its total comes before one that is not; then the one that wants most bytes for each place.
        """
        choices: list[tuple[int, int]] = []
        rows = zip(free.tolist(), missing.tolist(), sizes.tolist(), strict=True)
        for row, (spots, wanted, size) in enumerate(rows):
            for _ in range(wanted):
                racks = [rack for rack, spot in enumerate(spots) if spot > 0 and self.room[rack] > 0]
                if not racks:
                    break
                rack = max(racks, key=self._urgency)
                choices.append((row, rack))
                spots[rack] -= 1
                self.places[rack] -= 1
                self.room[rack] -= 1
                self.size[rack] -= size
        return choices

    def _urgency(self, rack: int) -> tuple[bool, float]:
        places = self.places[rack]
        return (True, self.size[rack] / places) if places > 0 else (False, places)


def fill(share: Share) -> None:
    """Place open slots and even out counts as far as straight moves reach."""
    placement = share.placement
    size, racks = placement.problem.size, placement.problem.brokers.racks
    even = share.even_load()
    errands = _open_slots(share, even)
    errands = errands.joined(_between_racks(share, errands, even))
    arriving = np.zeros(racks, np.int64)
    np.add.at(arriving, errands.rack, size[errands.partition])
    goal = share.load_within_racks(arriving)
    surplus = share.surplus()
    on = replicas_on(placement, share.members, np.flatnonzero(surplus > 0))
    for rack in range(racks):
        _deliver(share, errands.to(rack), goal)
        _deliver(share, _surplus(share, on, rack, goal), goal)


def _open_slots(share: Share, even: Floats) -> Errands:
    """Choose a rack for each open slot: the neediest that the partition may use, the pickiest partitions first."""
    placement, brokers = share.placement, share.placement.problem.brokers
    missing = placement.missing()[share.members]
    lacking = share.members[missing > 0]
    receiving = np.bincount(brokers.rack[share.receives], minlength=brokers.racks) > 0
    free = np.where(receiving, placement.problem.rack_cap[lacking, None] - placement.per_rack[lacking], 0)
    free = np.maximum(free, 0)
    order = np.lexsort((lacking, -placement.problem.size[lacking], np.count_nonzero(free, axis=1)))
    needs = _Needs(
        places=_per_rack(share, -share.surplus()).tolist(),
        room=_per_rack(share, share.room()).tolist(),
        size=_per_rack(share, even - placement.load).tolist(),
    )
    sizes = placement.problem.size[lacking[order]]
    choices = needs.choose(free[order], missing[missing > 0][order], sizes)
    rows = np.array([row for row, _ in choices], np.int64)
    partition = lacking[order][rows]
    return Errands(
        partition,
        _nth_open_slots(placement, partition),
        np.array([rack for _, rack in choices], np.int64),
        np.full(len(partition), NONE, np.int64),
    )


def _nth_open_slots(placement: Placement, partition: Ints) -> Ints:
    """Return an open slot for each entry, another one each time a partition comes again (entries are together)."""
    again = np.zeros(len(partition), np.int64)
    for step in range(1, placement.slots.shape[1]):
        again[step:] += partition[step:] == partition[:-step]
    is_open = placement.slots[partition] == NONE
    return np.asarray(np.argmax(np.cumsum(is_open, axis=1) == (again + 1)[:, None], axis=1))


def _between_racks(share: Share, errands: Errands, even: Floats) -> Errands:
    """Take replicas from racks above their totals for racks below theirs; only brokers above their quota give."""
    problem = share.placement.problem
    net = _per_rack(share, share.surplus()).astype(np.int64)
    np.add.at(net, errands.rack, 1)
    excess = _per_rack(share, share.placement.load - even)
    np.add.at(excess, errands.rack, problem.size[errands.partition])
    taken = errands.to(NONE)
    if not (net > 0).any():
        return taken
    surplus = np.maximum(share.surplus(), 0)
    on = replicas_on(share.placement, share.members, np.flatnonzero(surplus > 0))
    on = on.only(on.may_go(share.placement) & ~np.isin(on.partition, errands.partition))
    for source in np.argsort(-net, kind="stable").tolist():
        for target in np.argsort(net, kind="stable").tolist():
            count = int(min(net[source], -net[target]))
            if count > 0:
                wanted = (excess[source] * count / net[source] + excess[target] * count / net[target]) / 2
                on, some = _pick_for_rack(share, on, (source, target), count, wanted)
                taken = taken.joined(some)
                moved = float(problem.size[some.partition].sum())
                net[[source, target]] += [-len(some), len(some)]
                excess[[source, target]] += [-moved, moved]
    return taken


def _pick_for_rack(
    share: Share, on: Replicas, racks: tuple[int, int], count: int, wanted: float
) -> tuple[Replicas, Errands]:
    """Take `count` replicas of about `wanted` bytes from one rack for another; what is left in `on` comes back too."""
    placement, problem = share.placement, share.placement.problem
    source, target = racks
    giving = problem.brokers.rack[on.broker] == source
    giving &= placement.per_rack[on.partition, target] < problem.rack_cap[on.partition]
    chosen = np.flatnonzero(giving)
    chosen = chosen[_spread(problem.size[on.partition[chosen]])]
    chosen = chosen[np.sort(np.unique(on.partition[chosen], return_index=True)[1])]
    chosen = chosen[_running_count(on.broker[chosen]) < share.surplus()[on.broker[chosen]]]
    chosen = chosen[pick_exactly(problem.size[on.partition[chosen]], count, wanted)]
    some = on.only(chosen)
    placement.take_all(some.partition, some.slot)
    errands = Errands(some.partition, some.slot, np.full(len(some), target, np.int64), some.broker)
    return on.only(~np.isin(on.partition, some.partition)), errands


def _per_rack(share: Share, values: Ints | Floats) -> Floats:
    brokers = share.placement.problem.brokers
    return np.bincount(brokers.rack, weights=values, minlength=brokers.racks).astype(np.float64)


def _spread(sizes: Ints) -> Ints:
    """Return an order in which every stretch holds small and large alike."""
    order = np.argsort(sizes, kind="stable")
    return np.concatenate([order[start::_STRIDES] for start in range(_STRIDES)])


def _running_count(values: Ints) -> Ints:
    """Return how often each value has come before."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), np.int64)
    ascending = values[order]
    ranks[order] = np.arange(len(values)) - np.searchsorted(ascending, ascending)
    return ranks


def _surplus(share: Share, on: Replicas, rack: int, goal: Floats) -> Errands:
    """Take from each broker of a rack exactly what is above its quota, its bytes brought near the goal."""
    placement, problem = share.placement, share.placement.problem
    surplus, found = share.surplus(), []
    for broker in np.flatnonzero((problem.brokers.rack == rack) & (surplus > 0)).tolist():
        here = on.of(broker)
        here = here.only(here.may_go(placement) & (placement.slots[here.partition, here.slot] == broker))
        excess = float(placement.load[broker] - goal[broker])
        found.append(here.only(pick_exactly(problem.size[here.partition], int(surplus[broker]), excess)))
    taken = Replicas.joined(found)
    placement.take_all(taken.partition, taken.slot)
    return Errands(taken.partition, taken.slot, np.full(len(taken), rack, np.int64), taken.broker)


def _deliver(share: Share, errands: Errands, goal: Floats) -> None:
    """Put errands of one rack, largest first, on the broker that wants most bytes for each place left."""
    if not len(errands):
        return
    placement, size = share.placement, share.placement.problem.size[errands.partition]
    takers = _Takers(share, int(errands.rack[0]), goal)
    welcome = _welcome_anywhere(share, errands)
    order = np.lexsort((errands.slot, errands.partition, -size))
    some = errands.at(order)
    targets = []
    for partition, slot, origin, volume in zip(
        some.partition.tolist(), some.slot.tolist(), some.origin.tolist(), size[order].tolist(), strict=True
    ):
        broker = takers.keenest() if welcome else takers.keenest_accepting(placement, partition)
        if broker != NONE:
            takers.took(broker, volume)
        targets.append(origin if broker == NONE else broker)
        if not welcome and targets[-1] != NONE:
            placement.put(partition, slot, targets[-1])
    if welcome:
        brokers = np.array(targets, np.int64)
        placed = brokers != NONE
        placement.put_all(some.partition[placed], some.slot[placed], brokers[placed])


def _welcome_anywhere(share: Share, errands: Errands) -> bool:
    """Whether any broker of the rack would accept each errand: no need to ask one by one."""
    placement, problem = share.placement, share.placement.problem
    nothing_there = (placement.per_rack[errands.partition, errands.rack[0]] == 0).all()
    one_each = (problem.rack_cap[errands.partition] == 1).all()
    return bool(nothing_there and one_each) and problem.brokers.boundless


class _Takers:
    """The brokers of a rack with places left, by the bytes that each wants for a place."""

    def __init__(self, share: Share, rack: int, goal: Floats) -> None:
        room, brokers = share.room(), share.placement.problem.brokers
        here = np.flatnonzero((brokers.rack == rack) & (room > 0)).tolist()
        self._left = {broker: int(room[broker]) for broker in here}
        self._wanted = {broker: float(goal[broker] - share.placement.load[broker]) for broker in here}
        self._heap = [(-self._wanted[broker] / self._left[broker], broker) for broker in here]
        heapq.heapify(self._heap)

    def keenest(self) -> int:
        """Take out the broker that wants most; NONE where none has a place left."""
        return heapq.heappop(self._heap)[1] if self._heap else NONE

    def keenest_accepting(self, placement: Placement, partition: int) -> int:
        """Take out, of those that accept a partition, the broker that wants most; NONE where none does."""
        passed, found = [], NONE
        while self._heap and found == NONE:
            entry = heapq.heappop(self._heap)
            if placement.accepts(partition, entry[1]):
                found = entry[1]
            else:
                passed.append(entry)
        for entry in passed:
            heapq.heappush(self._heap, entry)
        return found

    def took(self, broker: int, size: int) -> None:
        """Put a broker back that was taken out and got a replica."""
        self._wanted[broker] -= size
        self._left[broker] -= 1
        if self._left[broker]:
            heapq.heappush(self._heap, (-self._wanted[broker] / self._left[broker], broker))
