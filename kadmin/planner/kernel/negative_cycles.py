"""Cancels negative cycles.

It makes counts as even and moves as few as possible, and proves it where none is left.

Goals: the most even counts that racks, broker sets and replication factors allow, and among those
the fewest moves.
Algorithm: an assignment is a flow from partitions through racks to brokers. It is optimal iff its
residual network has no negative cycle (Klein, 1967). The network is reduced to brokers: the arc a
-> b is a replica that may go from a to b, and costs the moves that it adds (-1, 0 or 1). An extra
node, the hub, has arcs to and from every broker, which cost the broker's level before and after its
count changes by one. Bellman-Ford finds a negative cycle, the replicas on it move, and this repeats
until there is none.
Example: partition 1 moved from a to b and partition 2 from c to a. Moving 2 from c to b and 1 back
to a saves a move.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.placement_problem import NONE, fast_nonzero, replicas_and_bytes_on
from kadmin.planner.kernel.topic_group import most_that_fit

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints

_MOST_PAIRS = 4_000_000
"""The most pairs of partition and broker in a network; of a larger cluster a sample is used,
without a proof."""

_MOST_PAIRS_OF_GROUPS = 100_000
"""The same for a cluster with broker sets, which has many cycles; in a larger one none is
cancelled."""

_PAIRS_IN_ALL = 24_000_000
"""The most pairs in all networks together; the cycles left after that stay."""

NO_ARC = 2**60
"""The cost that marks a missing arc."""

_DECIMALS = 9
"""Decimal digits to which levels are compared."""


def cancel_negative_cycles(placement: Placement, quota: Ints, bound: int) -> bool:
    """Make counts as even and moves as few as possible; returns whether that is proved.

    `quota` [B] is updated where a cycle changes counts. `bound`: every plan that reaches the quotas
    has at least so many moves; NONE where the quotas are not known to be the most even counts.
    """
    if (
        np.array_equal(placement.count, quota)
        and int(moves_per_partition(placement.problem, placement.slots).sum()) <= bound
    ):
        return True
    if (
        bound == NONE
        and int(placement.problem.movable.sum()) * len(placement.count) > _MOST_PAIRS_OF_GROUPS
    ):
        return False
    network = ResidualNetwork(placement, quota)
    network.cancel_all()
    proved = network.proves()
    if proved:
        quota[:] = placement.count
    return proved


class ResidualNetwork:
    """The residual network, rebuilt after each cycle.

    Partitions that made their own cycle impossible are barred. `_most` [B] is the most replicas
    that fit each broker's capacity.
    """

    def __init__(self, placement: Placement, quota: Ints) -> None:
        problem = placement.problem
        self._placement, self._quota = placement, quota
        self._brokers = len(problem.brokers)
        self._members = np.flatnonzero(problem.movable)
        base, base_load = replicas_and_bytes_on(
            problem, problem.start, np.flatnonzero(~problem.movable)
        )
        self._most = base + most_that_fit(problem, self._members, base_load)
        self._barred = np.zeros(len(problem), np.bool_)
        self._led_anyway = problem.brokers.all_lead
        most = max(_MOST_PAIRS // max(self._brokers, 1), 1)
        self._stride = -(-len(self._members) // most)
        self._complete = self._stride <= 1
        self._pairs_left = _PAIRS_IN_ALL

    def cancel_all(self) -> None:
        """Cancel cycles until there is none, or the pairs allowed in all networks are used up."""
        while (cycle := self.negative_cycle()) is not None and not self._spent():
            self._cancel(cycle)

    def _spent(self) -> bool:
        """Whether the pairs allowed in all networks are used up.

        That ends the search without a proof.
        """
        self._pairs_left -= self._brokers * len(self._members) // self._stride
        self._complete &= self._pairs_left > 0
        return self._pairs_left <= 0

    def proves(self) -> bool:
        """Whether the absence of a cycle proves that counts and moves are optimal.

        A relaxed network, without the leader rule and without barred partitions, must have no
        negative cycle either.
        """
        if not self._complete or (self._led_anyway and not self._barred.any()):
            return self._complete
        self._led_anyway, self._barred[:] = True, False
        return self.negative_cycle() is None

    def negative_cycle(self) -> list[int] | None:
        """Return the nodes of a negative cycle in order, the hub being B.

        None where there is none.
        """
        return negative_cycle(self._network())

    def _cancel(self, cycle: list[int]) -> None:
        """Move the replicas on a cycle.

        Where one move is impossible, undo all and bar its partition.
        """
        hub = self._brokers
        if hub in cycle:
            at = cycle.index(hub)
            path = [*cycle[at + 1 :], *cycle[:at]]
        else:
            path = [*cycle, cycle[0]]
        gone: list[tuple[int, int, int, int]] = []
        for giver, taker in itertools.pairwise(path):
            partition, slot = self._cheapest(giver, taker)
            if partition == NONE:  # impossible after the moves before it
                self._undo(gone, gone[-1][0])
                return
            self._placement.take(partition, slot)
            gone.append((partition, slot, giver, taker))
        for partition, slot, _, taker in gone:
            if not self._placement.accepts(partition, taker):
                self._undo(gone, partition)
                return
            self._placement.put(partition, slot, taker)
        if hub in cycle:
            self._quota[[path[0], path[-1]]] += [-1, 1]

    def _undo(self, gone: list[tuple[int, int, int, int]], blocking: int) -> None:
        for partition, slot, giver, _ in gone:
            if self._placement.slots[partition, slot] != NONE:
                self._placement.take(partition, slot)
            self._placement.put(partition, slot, giver)
        self._barred[blocking] = True

    def _network(self) -> Ints:
        """Return the cost of each arc, [B + 1, B + 1].

        One step of evenness outweighs all moves of a cycle.
        """
        brokers = self._brokers
        cost = np.full((brokers + 1, brokers + 1), NO_ARC, np.int64)
        rows = self._rows()
        for slot in range(self._placement.slots.shape[1]):
            held, fits, price = self._arcs(rows, slot)
            at, to = fast_nonzero(fits)
            np.minimum.at(cost.reshape(-1), held[at] * len(cost) + to, price[at, to])
        cost[brokers, :brokers], cost[:brokers, brokers] = self._hub()
        return cost

    def _hub(self) -> tuple[Ints, Ints]:
        """Return the costs of the arcs from the hub to each broker, and back, [B]."""
        unit = 2 * self._brokers + 3
        full, fuller = self._levels()
        fits = self._placement.count < self._most
        return -full * unit, np.where(fits, fuller * unit, NO_ARC)

    def _levels(self) -> tuple[Ints, Ints]:
        """Return the level (replicas per weight) of each broker, [B].

        Also return its level with one replica more, [B]. Levels are ranks: a cycle through the hub
        lowers one broker's level and raises another's, and ranks suffice to compare the two.
        """
        held = np.stack([self._placement.count, self._placement.count + 1])
        levels = np.round(held / self._placement.problem.brokers.weight, _DECIMALS)
        full, fuller = np.unique(levels, return_inverse=True)[1].reshape(levels.shape)
        return full, fuller

    def _rows(self) -> Ints:
        """Return the partitions in the network, a sample of them where there are too many."""
        return self._members[~self._barred[self._members]][:: self._stride]

    def _arcs(self, rows: Ints, slot: int) -> tuple[Ints, Bools, Ints]:
        """Return the costs of moving the replicas in a slot.

        They are the broker [N], the brokers allowed as targets and the costs, [N, B].
        """
        placement, problem = self._placement, self._placement.problem
        brokers, held = problem.brokers, placement.slots[rows, slot]
        rows, held = rows[held != NONE], held[held != NONE]
        fits = placement.may_stay(rows)
        fits &= brokers.may_receive | _one_hot(problem.start[rows], self._brokers)
        fits &= ~_one_hot(placement.slots[rows], self._brokers)
        free = placement.rack_accepts(
            rows[:, None], np.arange(brokers.racks), brokers.rack[held][:, None]
        )
        fits &= free[:, brokers.rack]
        if not self._led_anyway:
            able = (_one_hot(placement.slots[rows], self._brokers) & brokers.may_lead).sum(axis=1)
            fits &= brokers.may_lead | (able > brokers.may_lead[held])[:, None]
        return held, fits, self._price(rows, held)

    def _price(self, rows: Ints, held: Ints) -> Ints:
        """Return the moves that each replica on `held` adds on each other broker, [N, B]."""
        home = _one_hot(self._placement.problem.current[rows], self._brokers)
        return np.asarray(home[np.arange(len(rows)), held][:, None].astype(np.int64) - home)

    def _cheapest(self, giver: int, taker: int) -> tuple[int, int]:
        """Return partition and slot of the cheapest replica that may go from one broker to another.

        Without one, return NONE twice.
        """
        rows, best = self._rows(), (NO_ARC, NONE, NONE)
        rows = rows[(self._placement.slots[rows] == giver).any(axis=1)]
        for slot in range(self._placement.slots.shape[1]):
            leaving = rows[self._placement.slots[rows, slot] == giver]
            _, fits, price = self._arcs(leaving, slot)
            for at in np.flatnonzero(fits[:, taker]).tolist():
                best = min(best, (int(price[at, taker]), int(leaving[at]), slot))
        return best[1], best[2]


def negative_cycle(cost: Ints) -> list[int] | None:
    """Return the nodes of a cycle of negative cost in order; None where there is none.

    `cost` [nodes, nodes] of each arc, NO_ARC where there is none.
    """
    nodes = len(cost)
    distance, before = np.zeros(nodes, np.int64), np.full(nodes, NONE, np.int64)
    for _ in range(nodes):
        reach = distance[:, None] + cost
        nearest = reach.argmin(axis=0)
        found = reach[nearest, np.arange(nodes)]
        nearer = found < distance
        if not nearer.any():
            return None
        distance = np.where(nearer, found, distance)
        before[nearer] = nearest[nearer]
        if cycle := _cycle(before):
            return cycle
    return None


def _one_hot(lists: Ints, brokers: int) -> Bools:
    """Return whether each list ([N, W]) contains each broker, [N, B]."""
    held = np.zeros((len(lists), brokers + 1), np.bool_)  # the last element collects NONE
    np.put_along_axis(held, lists, values=True, axis=1)
    return held[:, :-1]


def _cycle(before: Ints) -> list[int]:
    """Return a cycle among predecessors [nodes], in the order of its arcs.

    Empty where there is none.
    """
    state = [0] * len(before)  # 0: not visited; else the number of the walk that visited it
    links = before.tolist()
    for start in range(len(links)):
        at = start
        while at != NONE and state[at] == 0:
            state[at] = start + 1
            at = links[at]
        if at != NONE and state[at] == start + 1:
            cycle = [at]
            while links[cycle[-1]] != at:
                cycle.append(links[cycle[-1]])
            return cycle[::-1]
    return []
