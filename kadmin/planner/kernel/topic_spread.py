"""Spreads each topic over the brokers, among replicas that are under way anyway.

Goals: no broker holds more of a topic than another, as far as that costs nothing: no move, no count, hardly a byte.
Algorithm: two replicas of about the same size that are both new in one rack change brokers where that makes their
topics more even (the sum of squared replica counts by topic and broker falls). Neighbours in order of size are tried
first, then those further apart; many pairs at once, none of which touches a count that another one does.
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
"""How far apart in order of size two replicas may be."""

_NEAR = 0.05
"""How much two sizes may differ, as a part of what tolerance leaves to a broker of mean load."""

_NO_GAIN = 2
"""A replica that goes where its topic has as many, once it is there, as where it was changes nothing; nor do two."""

_CELLS = 2**26
"""So many counts, of a topic on a broker, are kept at once."""


def spread_topics(group: TopicGroup) -> None:
    """Let replicas under way change brokers until their topics are as even as that makes them."""
    placement = group.placement
    partition, slot = _underway(placement, group.members)
    if not len(partition):
        return
    near = _NEAR * group.tolerance * float(group.even_load().mean())
    racks = placement.problem.brokers.rack[placement.slots[partition, slot]]  # which no exchange changes
    for topics in _some_topics(placement, partition):
        here = topics[placement.problem.topic[partition]]
        spread = _Spread(placement, np.flatnonzero(topics), near)
        for rack in range(placement.problem.brokers.racks):
            chosen = here & (racks == rack)
            spread.run(partition[chosen], slot[chosen])


def _underway(placement: Placement, members: Ints) -> tuple[Ints, Ints]:
    """Return partition and slot of every replica that is new, those apart that were put there before the start."""
    problem, lists = placement.problem, placement.slots.take(members, axis=0)
    changed = np.flatnonzero(any_per_row(lists != problem.current.take(members, axis=0)))
    members, lists = members[changed], lists.take(changed, axis=0)
    before = [problem.current.take(members, axis=0), problem.start.take(members, axis=0)]
    new = lists != NONE
    for column, held in enumerate(lists.T):
        new[:, column] &= ~(contains(before[0], held) | contains(before[1], held))
    rows, slots = fast_nonzero(new)
    return members[rows], slots


def _some_topics(placement: Placement, partition: Ints) -> Iterator[Bools]:
    """Yield masks of the topics under way, so many at a time that their counts fit."""
    problem = placement.problem
    topics = np.flatnonzero(np.bincount(problem.topic[partition]))
    step = max(_CELLS // len(problem.brokers), 1)
    for first in range(0, len(topics), step):
        mask = np.zeros(int(problem.topic.max()) + 1, np.bool_)
        mask[topics[first : first + step]] = True
        yield mask


class _Spread:
    """The replica counts of some topics by broker, at work: `_count` [topics x B], `_row` [P] where a topic's begin."""

    def __init__(self, placement: Placement, topics: Ints, near: float) -> None:
        self._placement, self._problem, self._near = placement, placement.problem, near
        brokers, topic = len(self._problem.brokers), self._problem.topic
        number = np.full(int(topic.max()) + 1, NONE, np.int64)
        number[topics] = np.arange(len(topics))
        self._row = number[topic] * brokers
        here = number[topic] != NONE
        lists = placement.slots[here]
        cells = self._row[here][:, None] + lists
        self._count = np.bincount(cells[lists != NONE], minlength=len(topics) * brokers).astype(np.int32)

    def run(self, partition: Ints, slot: Ints) -> None:
        """Let replicas of one rack change brokers."""
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
        """Return the pairs ([2, N]) that make topics more even, none touching a count that another one does."""
        row, held = self._row[partition[pairs]], broker[pairs]
        cell, then = row + held, row + held[::-1]
        gain = (self._count[cell] - self._count[then]).sum(axis=0)
        better = np.flatnonzero((gain > _NO_GAIN) & (row[0] != row[1]))
        better = better[self._able(partition[pairs[:, better]], held[:, better])]
        return pairs[:, better[_apart(np.concatenate([cell[:, better], then[:, better]]))]]

    def _exchange(self, partition: Ints, slot: Ints, broker: Ints) -> None:
        """Exchange the brokers of pairs ([2, N])."""
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
        """Whether all exchanges together keep capacities."""
        capacity, load = self._problem.brokers.capacity, self._placement.load.copy()
        size = self._problem.size[partition]
        np.add.at(load, broker, size[::-1] - size)
        return bool((load <= np.maximum(capacity, self._placement.load)).all())


def _apart(cells: Ints) -> Bools:
    """Whether each column of [4, N] has no cell that an earlier one has."""
    flat = cells.T.ravel()
    order = stable_argsort(flat)
    again = np.zeros(len(flat), np.bool_)
    again[order[1:]] = flat[order[1:]] == flat[order[:-1]]
    return np.asarray(~again.reshape(-1, len(cells)).any(axis=1))
