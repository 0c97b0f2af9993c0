"""Places new partitions of a topic where they even out the cluster.

Goals: replica counts of the brokers as even as the racks allow; among those, the topic's own
replicas even; then preferred leaders even over the cluster, then over the topic; then the brokers
that lead after the loss of a leader.
Constraints: nothing that exists moves. Each new partition is on live brokers, on as many racks as
possible, and on each rack as few times as possible.
Algorithm: one replica after the other is given to the broker that holds least and has room. New
partitions are all alike, so the counts that they allow are the bases of a laminar matroid, for
which this greedy is exact (Federgruen and Groenevelt, 1986): first for the least of each rack, then
for the rest. Leaders are given alike, to each broker at most as many as its new replicas. Both
constraints are totally unimodular, so the counts can be dealt out to the partitions one by one
(Baum and Trotter, 1977): each takes replicas such that the others can be dealt out, too.
Example: brokers 1 and 2 hold two replicas more than 3: two new partitions of one replica are on 3.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from kadmin.errors import KadminError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas

    Level: TypeAlias = Callable[[int, int], tuple[int, int]]


class PartitionPlacer:
    """Places new partitions of one topic after the other on a cluster."""

    def __init__(self, state: ClusterState) -> None:
        lists = state.assignment.values()
        self._state = state
        self._held = Counter(chain.from_iterable(lists))
        self._led = Counter(each[0] for each in lists if each)
        self._firsts = Counter(each[:2] for each in lists)

    def place(self, topic: str, number: int) -> tuple[Replicas, ...]:
        """Return the ordered replicas of `number` new partitions of a topic.

        Its replication factor is at most the number of live brokers.
        """
        own = self._state.topics[topic].replicas.values()
        shape = _shape(self._state, len(self._state.topics[topic].replicas[0]))
        counts = _counts(shape, number, _level(self._held, Counter(chain.from_iterable(own))))
        leaders: Counter[int] = Counter()
        level = _level(self._led, Counter(each[0] for each in own if each))
        _fill(leaders, number, counts, level, lambda broker: leaders[broker] < counts[broker])
        self._held.update(counts)
        self._led.update(leaders)
        deal = _Deal(shape, counts, leaders, self._firsts)
        return tuple(deal.take(left) for left in range(number, 0, -1))


@dataclass(frozen=True, slots=True)
class _Shape:
    """A new partition: `factor` replicas, from `least` to `most` of them on each rack.

    `racks` has the rack of each broker.
    """

    racks: Mapping[int, str]
    factor: int
    least: int
    most: int

    def on_racks(self, counts: Mapping[int, int]) -> Counter[str]:
        """Sum the counts of brokers by rack."""
        found: Counter[str] = Counter()
        for broker, number in counts.items():
            found[self.racks[broker]] += number
        return found


def _shape(state: ClusterState, factor: int) -> _Shape:
    """Return the shape with the most racks; a broker without a rack is a rack of its own.

    Where no broker has one, racks do not count.
    """
    brokers = dict(sorted(state.brokers.items()))
    if all(found.rack is None for found in brokers.values()):
        return _Shape(dict.fromkeys(brokers, ""), factor, 0, factor)
    racks = {
        broker: f"broker {broker}" if found.rack is None else f"rack {found.rack}"
        for broker, found in brokers.items()
    }
    sizes = Counter(racks.values())
    most = 1
    while sum(min(size, most) for size in sizes.values()) < factor:
        most += 1
    return _Shape(racks, factor, int(factor >= len(sizes)), most)


def _level(held: Counter[int], own: Counter[int]) -> Level:
    """Return the level of a broker with some more replicas: in the cluster, then of the topic."""
    return lambda broker, more: (held[broker] + more, own[broker] + more)


def _counts(shape: _Shape, number: int, level: Level) -> Counter[int]:
    """Return the number of new replicas of each broker."""
    counts: Counter[int] = Counter()
    on_racks: Counter[str] = Counter()

    def takes(broker: int) -> bool:
        rack = shape.racks[broker]
        if counts[broker] == number or on_racks[rack] == number * shape.most:
            return False
        on_racks[rack] += 1
        return True

    racks = sorted(set(shape.racks.values()))
    for rack in racks if shape.least else ():
        brokers = [broker for broker, its in shape.racks.items() if its == rack]
        _fill(counts, number * shape.least, brokers, level, takes)
    left = number * (shape.factor - shape.least * len(racks))
    _fill(counts, left, shape.racks, level, takes)
    return counts


def _fill(
    counts: Counter[int],
    more: int,
    brokers: Iterable[int],
    level: Level,
    takes: Callable[[int], bool],
) -> None:
    """Add `more` to the counts, one after the other to the lowest broker that takes it."""
    waiting = [(level(broker, counts[broker] + 1), broker) for broker in brokers]
    heapq.heapify(waiting)
    while more:
        _, broker = heapq.heappop(waiting)
        if takes(broker):
            counts[broker] += 1
            more -= 1
            heapq.heappush(waiting, (level(broker, counts[broker] + 1), broker))


@dataclass(frozen=True, slots=True)
class _Deal:
    """Deals replicas and leaders out to partitions.

    `counts` and `leaders` are those left. `firsts` counts the partitions by their first two
    replicas: the second leads after the loss of the first.
    """

    shape: _Shape
    counts: Counter[int]
    leaders: Counter[int]
    firsts: Counter[Replicas]

    def take(self, left: int) -> Replicas:
        """Take the replicas of one partition, of the `left` that are not dealt out yet."""
        for leader in sorted(+self.leaders, key=lambda each: (-self.leaders[each], each)):
            followers = self._followers(leader, left)
            if followers is None:
                continue
            replicas = (leader, *followers)
            self.counts.subtract(replicas)
            self.leaders[leader] -= 1
            self.firsts[replicas[:2]] += 1
            return replicas
        raise KadminError("New partitions cannot be dealt out.")

    def _followers(self, leader: int, left: int) -> list[int] | None:
        """Return followers such that the other partitions can be dealt out; None: none are so."""
        shape, racks = self.shape, self.shape.racks
        able = [
            broker
            for broker, number in self.counts.items()
            if broker != leader and number > self.leaders[broker]
        ]
        # A broker with as many replicas as partitions are left is in each of them.
        forced = {each for each, number in self.counts.items() if number == left} - {leader}
        able.sort(key=lambda each: (each not in forced, self.firsts[leader, each], each))
        on_racks, others = shape.on_racks(self.counts), left - 1
        least = {rack: max(shape.least, n - shape.most * others) for rack, n in on_racks.items()}
        most = {rack: min(shape.most, n - shape.least * others) for rack, n in on_racks.items()}
        taken, followers = Counter({racks[leader]: 1}), list[int]()
        for bound in (least, most):
            for broker in able:
                rack = racks[broker]
                wanted = broker in forced or taken[rack] < bound[rack]
                if wanted and broker not in followers and len(followers) + 1 < shape.factor:
                    followers.append(broker)
                    taken[rack] += 1
        fits = all(least[rack] <= taken[rack] <= most[rack] for rack in on_racks)
        whole = len(followers) + 1 == shape.factor and forced.issubset(followers)
        return (
            sorted(followers, key=lambda each: (self.firsts[leader, each], each))
            if (fits and whole)
            else None
        )
