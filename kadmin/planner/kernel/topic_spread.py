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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Bools, Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_STRIDES = 8
"""The largest distance of two replicas in order of size."""

_NEAR = 0.05
"""The largest difference of two sizes, as a fraction of the tolerance times the mean byte goal."""

_NO_GAIN = 2
"""The gain that a pair must exceed: two replicas of gain 1 each only exchange the counts of their
brokers."""

_CELLS = 2**26
"""The most counts (topics x brokers) in memory at once."""


def spread_topics(group: TopicGroup) -> None:
    """Exchange the brokers of new replicas of a group where that makes their topics more even."""
    placement = group.placement
    partition, slot = _new_replicas(placement, group.members)
    if not len(partition):
        return
    near = _NEAR * group.tolerance * float(group.even_load().mean())
    racks = placement.problem.brokers.rack[placement.slots[partition, slot]]  # exchanges keep racks
    for topics in _topic_batches(placement, partition):
        of_topic = topics[placement.problem.topic[partition]]
        spread = _Spread(placement, np.flatnonzero(topics), near)
        for rack in range(placement.problem.brokers.racks):
            chosen = of_topic & (racks == rack)
            spread.exchange(partition[chosen], slot[chosen])


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


def _topic_batches(placement: Placement, partition: Ints) -> Iterator[Bools]:
    """Yield masks over topics: those with new replicas, in batches whose counts fit _CELLS."""
    problem = placement.problem
    topics = np.flatnonzero(np.bincount(problem.topic[partition]))
    step = max(_CELLS // len(problem.brokers), 1)
    for first in range(0, len(topics), step):
        mask = np.zeros(int(problem.topic.max()) + 1, np.bool_)
        mask[topics[first : first + step]] = True
        yield mask


class _Spread:
    """Exchanges among some topics.

    `_count` [topics * B] are replica counts, `_row` [P] the offset of a topic's.
    """

    def __init__(self, placement: Placement, topics: Ints, near: float) -> None:
        self._placement, self._problem, self._near = placement, placement.problem, near
        brokers, topic = len(self._problem.brokers), self._problem.topic
        number = np.full(int(topic.max()) + 1, NONE, np.int64)
        number[topics] = np.arange(len(topics))
        self._row = number[topic] * brokers
        listed = number[topic] != NONE
        lists = placement.slots[listed]
        cells = self._row[listed][:, None] + lists
        self._count = np.bincount(cells[lists != NONE], minlength=len(topics) * brokers).astype(
            np.int32
        )

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
                pairs = self._better(partition, broker, np.stack([first, first + stride]))
                if pairs.size and self._fits(partition[pairs], broker[pairs]):
                    self._exchange(partition[pairs], slot[pairs], broker[pairs])
                    broker[pairs] = broker[pairs[::-1]]

    def _better(self, partition: Ints, broker: Ints, pairs: Ints) -> Ints:
        """Return the pairs of [2, N] that make topics more even.

        None shares a count with an earlier pair.
        """
        row, held = self._row[partition[pairs]], broker[pairs]
        cell, then = row + held, row + held[::-1]
        gain = (self._count[cell] - self._count[then]).sum(axis=0)
        better = np.flatnonzero((gain > _NO_GAIN) & (row[0] != row[1]))
        better = better[self._able(partition[pairs[:, better]], held[:, better])]
        return pairs[:, better[_apart(np.concatenate([cell[:, better], then[:, better]]))]]

    def _exchange(self, partition: Ints, slot: Ints, broker: Ints) -> None:
        """Exchange the brokers of pairs; all arrays are [2, N]."""
        self._placement.take_all(partition.ravel(), slot.ravel())
        self._placement.put_all(partition.ravel(), slot.ravel(), broker[::-1].ravel())
        self._count[self._row[partition] + broker] -= 1
        self._count[self._row[partition] + broker[::-1]] += 1

    def _able(self, partition: Ints, broker: Ints) -> Bools:
        may_lead = self._problem.brokers.may_lead
        able = may_lead[broker[0]] == may_lead[broker[1]]
        for one, other in zip(partition, broker[::-1], strict=True):
            able &= ~contains(self._placement.slots.take(one, axis=0), other)
        return np.asarray(able)

    def _fits(self, partition: Ints, broker: Ints) -> bool:
        """Whether all exchanges together respect capacities."""
        capacity, load = self._problem.brokers.capacity, self._placement.load.copy()
        size = self._problem.size[partition]
        np.add.at(load, broker, size[::-1] - size)
        return bool((load <= np.maximum(capacity, self._placement.load)).all())


def _apart(cells: Ints) -> Bools:
    """Whether each column of [4, N] shares no cell with an earlier column, [N]."""
    flat = cells.T.ravel()
    order = stable_argsort(flat)
    again = np.zeros(len(flat), np.bool_)
    again[order[1:]] = flat[order[1:]] == flat[order[:-1]]
    return np.asarray(~again.reshape(-1, len(cells)).any(axis=1))
