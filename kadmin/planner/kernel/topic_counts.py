"""Counts replicas or leaders by topic and broker; finds exchanges that make topics more even."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.replicas import running_count, stable_argsort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem
    from kadmin.planner.kernel.replicas import Replicas

_NO_GAIN = 2
"""The gain that an exchange must exceed: with 1 for each partition, the brokers only exchange their
counts."""

_PARTNERS = 4
"""Partners that each replica meets in a round."""

_CELLS = 2**26
"""The most counts (topics x brokers) in memory at once."""


def even_shares(problem: PlacementProblem) -> Ints:
    """Return the even share of each partition's topic on a broker, rounded up, [P].

    It is a share of the topic's replicas over the brokers that may hold replicas.
    """
    brokers = max(int(problem.brokers.may_hold.sum()), 1)
    total = np.bincount(problem.topic, problem.rf).astype(np.int64)
    return np.asarray(-(-total // brokers)[problem.topic])


def above_share(problem: PlacementProblem, replicas: Replicas) -> Ints:
    """Return how far each replica's broker is above the share of its topic, [N].

    The replicas before it, of the same topic and broker, count as gone; below the share it is
    negative. `replicas` are all that the brokers hold of these topics.
    """
    topic = problem.topic[replicas.partition]
    starts = np.ones(len(topic), np.bool_)
    starts[1:] = (topic[1:] != topic[:-1]) | (replicas.broker[1:] != replicas.broker[:-1])
    edges = np.append(np.flatnonzero(starts), len(topic))
    left = np.repeat(edges[1:], np.diff(edges)) - np.arange(len(topic))
    return np.asarray(left - even_shares(problem)[replicas.partition])


def topic_batches(problem: PlacementProblem, members: Ints) -> Iterator[Ints]:
    """Yield partitions topic by topic, in batches whose counts fit into memory."""
    topic = problem.topic[members]
    step = _CELLS // max(len(problem.brokers), 1) or 1
    for first in range(0, int(topic[-1]) + 1 if len(topic) else 0, step):
        low, high = topic.searchsorted([first, first + step])
        if low < high:
            yield members[low:high]


class TopicCounts:
    """The counts of the topics of some partitions on each broker."""

    def __init__(self, problem: PlacementProblem, lists: Ints, members: Ints) -> None:
        topics = np.unique(problem.topic[members])
        number = np.full(int(problem.topic.max()) + 1, NONE, np.int64)
        number[topics] = np.arange(len(topics))
        self._row = number[problem.topic] * len(problem.brokers)
        listed = number[problem.topic] != NONE
        cells, held = self._row[listed][:, None] + lists[listed], lists[listed] != NONE
        size = len(topics) * len(problem.brokers)
        self._count = np.bincount(cells[held], minlength=size).astype(np.int32)

    def on(self, partition: Ints, broker: Ints) -> Ints:
        """Return how many of each partition's topic a broker has, [N]."""
        return np.asarray(self._count[self._row[partition] + broker])

    def better(self, partition: Ints, held: Ints, able: Callable[[Ints], Bools]) -> Ints:
        """Return the pairs that make topics more even if they exchange brokers, positions.

        `partition` and `held` are [2, N]; `able` says which of some pairs may. None shares a count
        or a partition with an earlier one.
        """
        row = self._row[partition]
        leaving, entering = row + held, row + held[::-1]
        gain = (self._count[leaving] - self._count[entering]).sum(axis=0)
        found = np.flatnonzero((gain > _NO_GAIN) & (row[0] != row[1]))
        found = found[able(found)]
        numbers = np.concatenate([leaving, entering, partition + len(self._count)])[:, found]
        return np.asarray(found[_apart(numbers)])

    def exchange(self, partition: Ints, held: Ints) -> None:
        """Count pairs of `better` that exchanged their brokers, both [2, N]."""
        row = self._row[partition]
        self._count[row + held] -= 1
        self._count[row + held[::-1]] += 1


def meetings(ones: tuple[Ints, Ints], others: tuple[Ints, Ints]) -> Iterator[Ints]:
    """Yield positions of pairs that may exchange, [2, N] in each round of partners.

    Both sides are keys and worths; two with the same key meet by rank in order of worth, the
    highest first, and then the next ones.
    """
    first, second = _by_worth(*ones), _by_worth(*others)
    key, keys = ones[0][first], others[0][second]
    place, end = keys.searchsorted(key), keys.searchsorted(key, side="right")
    place += running_count(key)
    for partner in range(_PARTNERS):
        met = np.flatnonzero(place + partner < end)
        yield np.stack([first[met], second[place[met] + partner]])


def _by_worth(key: Ints, worth: Ints) -> Ints:
    order = stable_argsort(int(worth.max(initial=0)) - worth)
    return np.asarray(order[stable_argsort(key[order])])


def _apart(numbers: Ints) -> Bools:
    """Whether each column of [K, N] shares no number with an earlier column, [N]."""
    flat = numbers.T.ravel()
    order = stable_argsort(flat)
    again = np.zeros(len(flat), np.bool_)
    again[order[1:]] = flat[order[1:]] == flat[order[:-1]]
    return np.asarray(~again.reshape(-1, len(numbers)).any(axis=1))
