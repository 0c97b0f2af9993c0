"""The kernel's mutable working state: each replica's broker, with counters by broker and by rack.

Lists are unordered here; next_leaders.py orders them at the end. Only `put`, `take` and their bulk
forms change slots, so that the counters always agree with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import (
    NONE,
    NoPlanError,
    any_per_row,
    fast_nonzero,
    list_lengths,
)

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem


class Placement:
    """`slots` [P, W]: the broker in each slot, NONE where open.

    `per_rack` [P, K] and `count` [B] are replicas. `load` [B] is in bytes. `strict`: no rack may
    hold two replicas of a partition. `floored`: the floor of racks allows less than the cap of one.
    """

    def __init__(self, problem: PlacementProblem) -> None:
        brokers = problem.brokers
        self.problem = problem
        self.slots = problem.start.copy()
        self.per_rack = np.zeros((len(problem), brokers.racks), np.int16)
        self.count = np.zeros(len(brokers), np.int64)
        self.load = np.zeros(len(brokers), np.int64)
        self.strict = bool(problem.rack_cap.max(initial=1) == 1)
        by_cap = -(-problem.rf // problem.rack_cap)
        self.floored = bool((problem.movable & (problem.rack_floor > by_cap)).any())
        filled = self.slots != NONE
        self._update_counters(fast_nonzero(filled)[0], self.slots[filled], 1)

    def take_all(self, partitions: Ints, slots: Ints) -> None:
        """Empty many slots; each slot occurs once."""
        self._update_counters(partitions, self.slots[partitions, slots], -1)
        self.slots[partitions, slots] = NONE

    def put_all(self, partitions: Ints, slots: Ints, brokers: Ints) -> None:
        """Fill many open slots with brokers."""
        self.slots[partitions, slots] = brokers
        self._update_counters(partitions, brokers, 1)

    def exchange_all(self, partitions: Ints, slots: Ints, held: Ints) -> bool:
        """Exchange brokers `held` of many pairs, all [2, N], where bytes fit; returns whether."""
        size, capacity = self.problem.size[partitions], self.problem.brokers.capacity
        load = self.load.copy()
        np.add.at(load, held, size[::-1] - size)
        if (load > np.maximum(capacity, self.load)).any():
            return False
        self.take_all(partitions.ravel(), slots.ravel())
        self.put_all(partitions.ravel(), slots.ravel(), held[::-1].ravel())
        return True

    def restore(self, slots: Ints) -> None:
        """Put every replica back on the broker of an earlier copy of `slots`."""
        changed = fast_nonzero(self.slots != slots)
        self.take_all(*changed)
        self.put_all(*changed, slots[changed])

    def _update_counters(self, partitions: Ints, held: Ints, sign: int) -> None:
        brokers = self.problem.brokers
        cells = partitions * brokers.racks + brokers.rack[held]
        np.add.at(self.per_rack.reshape(-1), cells, np.int16(sign))  # twice as fast on a flat array
        np.add.at(self.count, held, sign)
        np.add.at(self.load, held, sign * self.problem.size[partitions])

    def take(self, partition: int, slot: int) -> None:
        """Remove the replica in a slot."""
        broker = self.slots[partition, slot]
        self.slots[partition, slot] = NONE
        self.per_rack[partition, self.problem.brokers.rack[broker]] -= 1
        self.count[broker] -= 1
        self.load[broker] -= self.problem.size[partition]

    def put(self, partition: int, slot: int, broker: int) -> None:
        """Fill one open slot with a broker."""
        self.slots[partition, slot] = broker
        self.per_rack[partition, self.problem.brokers.rack[broker]] += 1
        self.count[broker] += 1
        self.load[broker] += self.problem.size[partition]

    def move(self, partition: int, slot: int, broker: int) -> None:
        """Move the replica in a slot to another broker."""
        self.take(partition, slot)
        self.put(partition, slot, broker)

    def open_slot(self, partition: int) -> int:
        """Return the first open slot of a partition."""
        return int(np.flatnonzero(self.slots[partition] == NONE)[0])

    def missing(self) -> Ints:
        """Return the replicas that each partition lacks to its replication factor, [P]."""
        return np.asarray(self.problem.rf - list_lengths(self.slots))

    def may_stay(self, partitions: Ints) -> Bools:
        """Whether each broker may keep replicas of each partition, [N, B]."""
        return np.asarray(
            self.problem.allowed[self.problem.group[partitions]] & self.problem.brokers.may_hold
        )

    def able_to_lead(self, partitions: Ints) -> Ints:
        """Return the number of replicas of each partition on brokers that may lead, [N]."""
        # The last element is for NONE.
        may_lead = np.append(self.problem.brokers.may_lead, np.False_)
        held = self.slots.take(partitions, axis=0)
        return list_lengths(np.where(may_lead[held], held, NONE))

    def may_cross(self, partitions: Ints, giver: int, taker: int) -> Bools:
        """Whether each partition's replica may go from giver to taker in a swap, [N].

        Capacity is not looked at.
        """
        brokers = self.problem.brokers
        free = ~any_per_row(self.slots.take(partitions, axis=0) == taker)
        if brokers.rack[giver] != brokers.rack[taker]:
            free &= self.rack_accepts(partitions, brokers.rack[taker], brokers.rack[giver])
        if brokers.may_lead[giver] and not brokers.may_lead[taker]:
            free &= self.able_to_lead(partitions) > 1
        return free

    def rack_accepts(
        self, partitions: Ints | int, rack: Ints | int, leaving: Ints | int = NONE
    ) -> Bools:
        """Whether a rack may get a replica of each partition in place of one on rack `leaving`.

        NONE: the replica fills an open slot. The three are broadcast, and so is the result.
        """
        held = self.per_rack[partitions, rack]
        free = held < self.problem.rack_cap[partitions]
        if self.floored:
            free &= self.spare_replicas(partitions, leaving) >= (held > 0)
        return np.asarray(free | (leaving == rack))

    def spare_replicas(self, partitions: Ints | int, leaving: Ints | int = NONE) -> Ints:
        """Return how many open slots of each partition need no rack of their own.

        The others do, to reach the floor; below 0 the floor is out of reach. A replica on the rack
        `leaving` counts as gone. Both are broadcast, and so is the result.
        """
        problem, held = self.problem, self.per_rack[partitions]
        still_open = problem.rf[partitions] - held.sum(axis=-1)
        spare = np.count_nonzero(held, axis=-1) + still_open - problem.rack_floor[partitions]
        return np.asarray(spare + (self.per_rack[partitions, leaving] > 1) * (leaving != NONE))

    def refuse_overfull(self) -> None:
        """Raise NoPlanError where a broker holds more than its capacity."""
        overfull = np.flatnonzero(self.load > self.problem.brokers.capacity)
        if overfull.size:
            raise NoPlanError(
                "no plan was found that keeps every broker within its capacity_bytes",
                "drain fewer brokers, add a broker, or raise capacity_bytes in the inventory",
                brokers=overfull,
            )

    def leaderless(self, partition: int, without: int = NONE) -> bool:
        """Whether none of a partition's replicas may lead, ignoring slot `without`."""
        row = self.slots[partition]
        kept = row[(row != NONE) & (np.arange(len(row)) != without)]
        return not self.problem.brokers.may_lead[kept].any()

    def accepts(self, partition: int, broker: int, instead: int = NONE) -> bool:
        """Whether a partition may get a replica on a broker, in place of that in slot `instead`."""
        brokers = self.problem.brokers
        roomy = self.load[broker] + self.problem.size[partition] <= brokers.capacity[broker]
        return bool(roomy) and self.suits(partition, broker, instead)

    def suits(self, partition: int, broker: int, instead: int = NONE) -> bool:
        """Whether a broker accepts a replica of a partition, capacity aside.

        A partition none of whose replicas may lead accepts only a broker that may.
        """
        problem, brokers = self.problem, self.problem.brokers
        row = self.slots[partition]
        if not (brokers.may_receive[broker] or (problem.start[partition] == broker).any()):
            return False
        if not (brokers.may_hold[broker] and problem.allowed[problem.group[partition], broker]):
            return False
        if (row == broker).any():
            return False
        rack = brokers.rack[broker]
        leaving = NONE if instead == NONE else int(brokers.rack[row[instead]])
        if self.per_rack[partition, rack] - (leaving == rack) >= problem.rack_cap[partition]:
            return False
        if self.floored and not self.rack_accepts(partition, rack, leaving):
            return False
        return bool(brokers.may_lead[broker]) or not self.leaderless(partition, instead)
