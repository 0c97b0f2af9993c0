"""Spreads each topic over the brokers, among replicas that move anyway.

Goals: brokers hold equally many replicas of a topic, as far as that adds no move and hardly changes
bytes.
Algorithm: two replicas of about the same size that are both new in one rack exchange brokers where
that makes their topics more even: the sum of squared replica counts per topic and broker falls.
Neighbours in order of size come first, then pairs further apart; many pairs at once, none of which
shares a count with another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, any_per_row, contains, fast_nonzero
from kadmin.planner.kernel.replicas import stable_argsort
from kadmin.planner.kernel.topic_counts import TopicCounts, topic_batches
from kadmin.planner.kernel.topic_cycles import cancel_topic_cycles
from kadmin.planner.kernel.topic_movers import choose_movers

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_STRIDES = 8
"""The largest distance of two replicas in order of size."""

_NEAR = 0.1
"""The largest difference of two sizes, as a fraction of the tolerance times the mean byte goal."""


def spread_topics(group: TopicGroup, quota: Ints) -> None:
    """Choose the replicas of a group that move, and their brokers, so that topics are more even."""
    placement, problem = group.placement, group.placement.problem
    partition, slot = _new_replicas(placement, group.members)
    if not len(partition) or cancel_topic_cycles(placement, quota):
        return
    near = _NEAR * group.tolerance * float(group.even_load().mean())
    for members in topic_batches(problem, group.members):
        counts = TopicCounts(problem, placement.slots, members)
        low, high = partition.searchsorted([members[0], members[-1] + 1])
        choose_movers(placement, (partition[low:high], slot[low:high]), members, counts, near)
        now = _new_replicas(placement, members)
        racks = problem.brokers.rack[placement.slots[now]]  # exchanges keep racks
        spread = _Spread(placement, counts, near)
        for rack in range(problem.brokers.racks):
            spread.exchange(*(each[racks == rack] for each in now))


def _new_replicas(placement: Placement, members: Ints) -> tuple[Ints, Ints]:
    """Return partition and slot of every replica in neither `current` nor `start`, both [N]."""
    problem, lists = placement.problem, placement.slots.take(members, axis=0)
    changed = np.flatnonzero(any_per_row(lists != problem.current.take(members, axis=0)))
    members, lists = members[changed], lists.take(changed, axis=0)
    before = [problem.current.take(members, axis=0), problem.start.take(members, axis=0)]
    new = lists != NONE
    for column, held in enumerate(lists.T):
        new[:, column] &= ~(contains(before[0], held) | contains(before[1], held))
    rows, slots = fast_nonzero(new)
    return members[rows], slots


class _Spread:
    """Exchanges among some topics."""

    def __init__(self, placement: Placement, counts: TopicCounts, near: float) -> None:
        self._placement, self._problem, self._near = placement, placement.problem, near
        self._counts = counts

    def exchange(self, partition: Ints, slot: Ints) -> None:
        """Exchange brokers among new replicas of one rack."""
        by_size = stable_argsort(self._problem.size[partition])
        partition, slot = partition[by_size], slot[by_size]
        size, broker = self._problem.size[partition], self._placement.slots[partition, slot]
        for stride in range(1, _STRIDES + 1):
            near = np.flatnonzero(size[stride:] - size[:-stride] <= self._near)
            turn = near // stride % 2
            for phase in (0, 1):
                first = near[turn == phase]
                pairs = np.stack([first, first + stride])
                pairs = pairs[:, self._better(partition[pairs], broker[pairs])]
                exchanged = partition[pairs], broker[pairs]
                if self._placement.exchange_all(exchanged[0], slot[pairs], exchanged[1]):
                    self._counts.exchange(*exchanged)
                    broker[pairs] = broker[pairs[::-1]]

    def _better(self, partition: Ints, broker: Ints) -> Ints:
        return self._counts.better(
            partition, broker, lambda some: self._able(partition[:, some], broker[:, some])
        )

    def _able(self, partition: Ints, broker: Ints) -> Bools:
        may_lead = self._problem.brokers.may_lead
        able = may_lead[broker[0]] == may_lead[broker[1]]
        for one, other in zip(partition, broker[::-1], strict=True):
            able &= ~contains(self._placement.slots.take(one, axis=0), other)
        return np.asarray(able)
