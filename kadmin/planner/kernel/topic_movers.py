"""Chooses which replicas of a broker move, so that topics are more even at no further move.

Goals: brokers hold equally many replicas of a topic; moves, counts, racks and the leaders that lose
their replica stay as they are, and bytes nearly so.
Algorithm: a replica that moves from one broker to another returns, and one of another topic goes in
its place, of about the same size, where that makes both topics more even. On each broker, the
replica that helps most by its return meets the one that is furthest above the share of its topic,
and so on down both lists; in rounds, as counts change.
Example: three brokers become six. Instead of ten topics that move whole, half of each of twenty do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, contains, fast_nonzero
from kadmin.planner.kernel.replicas import Replicas, replicas_on, running_count
from kadmin.planner.kernel.topic_counts import above_share, meetings

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints
    from kadmin.planner.kernel.topic_counts import TopicCounts

_ROUNDS, _PAIRS = 8, 100_000
"""The most rounds, and the most moving replicas in all of them after the first."""

_CLASSES = 2**20
"""The most classes of sizes."""


def choose_movers(
    placement: Placement, new: tuple[Ints, Ints], members: Ints, counts: TopicCounts, near: float
) -> None:
    """Let other replicas of `members` move than the new ones, which are partitions and slots [N].

    Sizes in one class of `near` bytes count as equal.
    """
    moving = _moving(placement, *new)
    if not len(moving):
        return
    staying = replicas_on(placement, members, np.unique(moving.broker))
    # A topic at its share rounded up is above the share itself.
    high = above_share(placement.problem, staying) >= 0
    staying = staying.only(high & _is_home(placement, staying.partition, staying.broker))
    movers = _Movers(placement, counts, near)
    rounds = min(_ROUNDS, max(_PAIRS // len(moving), 1))
    for _ in range(rounds):
        if not movers.exchange(moving, staying):
            return


def _moving(placement: Placement, partition: Ints, slot: Ints) -> Replicas:
    """Return new replicas, each with a broker that lost one of their partition and may hold it.

    `broker` is not where they are, but where they may return to.
    """
    problem, brokers = placement.problem, placement.problem.brokers
    current = problem.current.take(partition, axis=0)
    lists = placement.slots.take(partition, axis=0)
    lost = current != NONE
    for held in lists.T:
        lost &= current != held[:, None]
    rows, columns = fast_nonzero(lost)
    found = Replicas(current[rows, columns], partition[rows], slot[rows])
    may_hold = problem.allowed[problem.group[found.partition], found.broker]
    may_hold &= brokers.may_hold[found.broker]
    return found.only(may_hold & _is_home(placement, found.partition, found.broker))


def _is_home(placement: Placement, partition: Ints, broker: Ints) -> Bools:
    """Whether each broker has a replica of the partition now and at the start, [N]."""
    current, start = placement.problem.current, placement.problem.start
    return contains(current.take(partition, axis=0), broker) & contains(
        start.take(partition, axis=0), broker
    )


class _Movers:
    """Exchanges of replicas that move with such that stay."""

    def __init__(self, placement: Placement, counts: TopicCounts, near: float) -> None:
        self._placement, self._problem, self._counts = placement, placement.problem, counts
        sizes = self._problem.size // max(near, 1)
        self._class = np.minimum(sizes, _CLASSES - 1).astype(np.int64)

    def exchange(self, moving: Replicas, staying: Replicas) -> int:
        """Exchange in one round and return the number of exchanges."""
        slots, counts = self._placement.slots, self._counts
        moving = moving.only(slots[moving.partition, moving.slot] != moving.broker)
        staying = staying.only(slots[staying.partition, staying.slot] == staying.broker)
        now = slots[moving.partition, moving.slot]
        gain = counts.on(moving.partition, now) - counts.on(moving.partition, moving.broker)
        held = counts.on(staying.partition, staying.broker)
        held -= running_count(
            self._problem.topic[staying.partition] * len(self._problem.brokers) + staying.broker
        )
        pairs = meetings(
            (self._key(moving.broker, moving.partition), gain),
            (self._key(staying.broker, staying.partition), held),
        )
        return sum(self._exchange(moving.only(one), staying.only(other)) for one, other in pairs)

    def _key(self, broker: Ints, partition: Ints) -> Ints:
        return np.asarray(broker * _CLASSES + self._class[partition])

    def _exchange(self, moving: Replicas, staying: Replicas) -> int:
        now = self._placement.slots[moving.partition, moving.slot]
        partition = np.stack([moving.partition, staying.partition])
        held = np.stack([now, moving.broker])
        better = self._counts.better(
            partition, held, lambda some: self._able(moving.only(some), staying.only(some))
        )
        partition, held = partition[:, better], held[:, better]
        slot = np.stack([moving.slot[better], staying.slot[better]])
        if not self._placement.exchange_all(partition, slot, held):
            return 0
        self._counts.exchange(partition, held)
        return len(better)

    def _able(self, moving: Replicas, staying: Replicas) -> Bools:
        placement, brokers = self._placement, self._problem.brokers
        slots, rack, leads = placement.slots, brokers.rack, self._problem.current[:, 0]
        lost, now = moving.broker, slots[moving.partition, moving.slot]
        able = ~contains(slots.take(moving.partition, axis=0), lost)
        able &= slots[staying.partition, staying.slot] == lost
        able &= ~contains(slots.take(staying.partition, axis=0), now)
        able &= brokers.may_lead[lost] == brokers.may_lead[now]
        able &= placement.rack_accepts(moving.partition, rack[lost], rack[now])
        able &= placement.rack_accepts(staying.partition, rack[now], rack[lost])
        able &= (leads[staying.partition] != lost) | (leads[moving.partition] == lost)
        return np.asarray(able)
