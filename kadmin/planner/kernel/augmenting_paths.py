"""The last few moves: where no straight move is left, a chain of them through other brokers.

Goals: fill every open slot, and bring counts to their quotas, with the fewest further moves.
Algorithm: shortest augmenting path on the brokers. An arc a -> b is a replica that may go from a to b; it costs
nothing when that replica is under way anyway, else one move. Open slots are placed beyond the quotas where nothing
else is left; one that cannot be placed at all is an obstacle.
Example: a broker over its quota whose partitions all have a replica in the rack with room gives to a third broker,
which gives another partition on.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, NoPlanError, any_per_row, contains
from kadmin.planner.kernel.replicas import Replicas, replicas_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.planner.kernel.placement_problem import Bools, Ints
    from kadmin.planner.kernel.topic_group import TopicGroup

_CANDIDATES = 16
"""Replicas tried for each pair of brokers: more only matter where capacities or leaders stand in the way."""


@dataclass(frozen=True, slots=True)
class _Step:
    """How a broker was reached: by a replica from `origin` that is at `home` there or under way, or by an open slot."""

    origin: int
    partition: int = NONE
    slot: int = NONE
    home: bool = False


@dataclass(slots=True)
class _Reached:
    """Brokers reached, with the step that led there (None: a start), and those still to look at, cheapest first."""

    steps: dict[int, _Step | None] = field(default_factory=dict)
    queue: deque[int] = field(default_factory=deque)

    def add(self, broker: int, step: _Step | None, *, free: bool = False) -> None:
        self.steps[broker] = step
        (self.queue.appendleft if free else self.queue.append)(broker)

    def back_from(self, broker: int) -> Iterator[tuple[int, _Step]]:
        """Yield (broker, step) from the end of a path to its start."""
        while broker != NONE and (step := self.steps[broker]) is not None:
            yield broker, step
            broker = step.origin


def augment(group: TopicGroup) -> None:
    """Fill what is still open and move what is still above its quota; raises ObstacleError for a slot left open."""
    placement, problem = group.placement, group.placement.problem
    missing = placement.missing()[group.members]
    if not missing.any() and not (group.surplus() > 0).any():
        return
    paths = _Paths(group)
    for partition in np.repeat(group.members, missing):
        if not (paths.open(int(partition), _sinks(group)) or paths.open(int(partition), group.receives)):
            reason = "no choice of brokers was found that keeps every replica within racks, capacities and broker sets"
            raise NoPlanError(reason, np.array([partition]), np.arange(len(problem.brokers)))
    while group.room().any() and (givers := np.flatnonzero(group.surplus() > 0)).size:
        # Each turn leaves less room or, with the same room, less unevenness: there is an end.
        if not (paths.move_from(givers, _sinks(group)) or _level(group, paths, givers)):
            return


def _sinks(group: TopicGroup) -> Bools:
    """Return the brokers below their quota, and those that one replica more would make no fuller than these."""
    room = group.room() > 0
    after = group.levels(+1)
    able = group.placement.count - group.others < group.most
    return np.asarray(group.receives & (room | (able & (after <= after.max(where=room, initial=-1.0)))))


def _trade_quota(group: TopicGroup, broker: int) -> None:
    """Give a broker that took a replica beyond its quota the place of one that is as empty and below its own."""
    if group.surplus()[broker] > 0:
        waiting = np.flatnonzero((group.room() > 0) & (group.levels(+1) >= group.levels()[broker]))
        if waiting.size:
            group.quota[[broker, waiting[-1]]] += [1, -1]


def _level(group: TopicGroup, paths: _Paths, givers: Ints) -> bool:
    """Where quotas cannot be reached, make counts more even all the same; whether that was possible.

    One of the givers gives to the emptiest broker that stays below it, or any broker to one below its quota that does.
    """
    if any(paths.move_from(np.array([giver]), sinks) for giver in givers.tolist() for sinks in _emptier(group, giver)):
        return True
    room = group.room() > 0
    fuller = np.flatnonzero(group.levels(-1) >= group.levels(+1).min(where=room, initial=np.inf))
    return any(
        paths.move_from(np.array([giver]), room & (group.levels(+1) <= group.levels(-1)[giver]))
        for giver in fuller.tolist()
    )


def _emptier(group: TopicGroup, giver: int) -> Iterator[Bools]:
    """Yield the brokers that would be no fuller than the giver after a replica has gone over, the emptiest first."""
    after = group.levels(+1)
    below = group.receives & (after <= group.levels(-1)[giver])
    for level in np.unique(after[below]):
        yield below & (after == level)


class _Arcs:
    """How many replicas on each broker might go to each rack: `count` [2, B, K], those under way anyway first.

    A partition that is barred does not count. Whether one of them suits a certain broker is seen when it is asked for.
    """

    def __init__(self, group: TopicGroup) -> None:
        self._group, self._placement = group, group.placement
        self._problem = group.placement.problem
        brokers = self._problem.brokers
        self.count = np.zeros((2, len(brokers), brokers.racks), np.int64)
        self._listed = replicas_on(group.placement, group.members, np.arange(len(brokers)))
        self._arrived: dict[int, list[tuple[int, int]]] = {}
        self.barred: set[int] = set()
        listed = self._listed
        home = contains(self._problem.current[listed.partition], listed.broker).astype(np.int64)
        for rack in range(brokers.racks):
            which = np.flatnonzero(self._has_spot(listed, rack))
            np.add.at(self.count[:, :, rack], (home[which], listed.broker[which]), 1)

    def bar(self, partition: int) -> None:
        """Let a partition stay as it is."""
        self._count(partition, -1)
        self.barred.add(partition)

    def unbar(self, partition: int) -> None:
        """Let a partition take part again."""
        self.barred.discard(partition)
        self._count(partition, 1)

    def move(self, partition: int, slot: int, broker: int) -> None:
        """Put the replica in a slot (open or not) on a broker, NONE to open the slot."""
        self._count(partition, -1)
        if self._placement.slots[partition, slot] != NONE:
            self._placement.take(partition, slot)
        if broker != NONE:
            self._placement.put(partition, slot, broker)
            self._arrived.setdefault(broker, []).append((partition, slot))
        self._count(partition, 1)

    def witness(self, origin: int, target: int, *, home: bool) -> tuple[int, int] | None:
        """Return the partition and slot of a replica that may go from one broker to another, or None."""
        here = self._on(origin)
        fitting = self._has_spot(here, int(self._problem.brokers.rack[target]))
        fitting &= contains(self._problem.current[here.partition], here.broker) == home
        fitting &= ~any_per_row(self._placement.slots[here.partition] == target)
        some = np.flatnonzero(fitting)[:_CANDIDATES]
        for partition, slot in zip(here.partition[some].tolist(), here.slot[some].tolist(), strict=True):
            if self._placement.accepts(partition, target, slot):
                return partition, slot
        return None

    def _has_spot(self, replicas: Replicas, rack: int) -> Bools:
        own = self._problem.brokers.rack[replicas.broker] == rack
        free = self._placement.per_rack[replicas.partition, rack] < self._problem.rack_cap[replicas.partition]
        return np.asarray(own | free)

    def _count(self, partition: int, change: int) -> None:
        """Count the replicas of a partition in or out."""
        if partition in self.barred:
            return
        rack, row = self._problem.brokers.rack, self._placement.slots[partition]
        free = self._placement.per_rack[partition] < self._problem.rack_cap[partition]
        current = self._problem.current[partition].tolist()
        for broker in row[row != NONE].tolist():
            where = free.copy()
            where[rack[broker]] = True
            self.count[int(broker in current), broker, where] += change

    def _on(self, broker: int) -> Replicas:
        listed = self._listed.of(broker)
        arrived = np.array(self._arrived.get(broker, []), np.int64).reshape(-1, 2)
        here = Replicas(
            np.full(len(listed) + len(arrived), broker, np.int64),
            np.concatenate([listed.partition, arrived[:, 0]]),
            np.concatenate([listed.slot, arrived[:, 1]]),
        )
        still = self._placement.slots[here.partition, here.slot] == broker
        if self.barred:
            still &= ~np.isin(here.partition, list(self.barred))
        return here.only(still)


class _Paths:
    """Augmenting paths over one share. A partition that was in the way of its own path is left out from then on."""

    def __init__(self, group: TopicGroup) -> None:
        self._group = group
        self._placement = group.placement
        self._arcs = _Arcs(group)
        self._rejected: set[tuple[int, int, bool]] = set()
        brokers = group.placement.problem.brokers
        self._rack = brokers.rack.tolist()
        self._receivers = [
            np.flatnonzero(group.receives & (brokers.rack == rack)).tolist() for rack in range(brokers.racks)
        ]

    def open(self, partition: int, sinks: Bools) -> bool:
        """Fill an open slot of a partition, other replicas making way; whether a sink was reached."""
        slot = self._placement.open_slot(partition)
        self._arcs.bar(partition)  # its other replicas stay: they would change what the slot accepts

        def start() -> _Reached:
            reached = _Reached()
            for broker in np.flatnonzero(self._group.receives).tolist():
                if (NONE, broker, False) not in self._rejected and self._placement.suits(partition, broker):
                    reached.add(broker, _Step(NONE, partition, slot), free=bool(sinks[broker]))
            return reached

        found = self._find(start, sinks)
        self._arcs.unbar(partition)
        return found

    def move_from(self, givers: Ints, sinks: Bools) -> bool:
        """Take one replica from one of the givers; whether a sink was reached."""

        def start() -> _Reached:
            reached = _Reached()
            for broker in givers.tolist():
                reached.add(broker, None)
            return reached

        return self._find(start, sinks)

    def _find(self, start: Callable[[], _Reached], sinks: Bools) -> bool:
        """Search and walk until a path holds; each failure bars one more partition or arc, so there is an end."""
        self._rejected.clear()
        while True:
            reached = start()
            end = self._search(reached, sinks)
            if end is None:
                return False
            if self._walk(reached, end):
                _trade_quota(self._group, end)
                return True

    def _search(self, reached: _Reached, sinks: Bools) -> int | None:
        while reached.queue:
            broker = reached.queue.popleft()
            if sinks[broker]:
                return broker
            for home in (False, True):
                for rack in np.flatnonzero(self._arcs.count[int(home), broker] > 0).tolist():
                    self._reach(reached, (broker, rack), home=home)
        return None

    def _reach(self, reached: _Reached, arc: tuple[int, int], *, home: bool) -> None:
        """Reach the brokers of a rack that nobody has reached so far."""
        broker, rack = arc
        for target in self._receivers[rack]:
            if target not in reached.steps and (broker, target, home) not in self._rejected:
                reached.add(target, _Step(broker, home=home), free=not home)

    def _walk(self, reached: _Reached, end: int) -> bool:
        """Make the moves of a path, its end first; undo them and bar what stood in the way where one is impossible."""
        done: list[tuple[int, int, int]] = []
        for broker, step in reached.back_from(end):
            found = self._replica(broker, step)
            if found is None:
                for partition, slot, origin in reversed(done):
                    self._arcs.move(partition, slot, origin)
                return False
            done.append((*found, step.origin))
            self._arcs.move(*found, broker)
        return True

    def _replica(self, broker: int, step: _Step) -> tuple[int, int] | None:
        """Return the partition and slot of a replica for a step; None where there is none now, which is noted."""
        if step.origin != NONE:
            found = self._arcs.witness(step.origin, broker, home=step.home)
        else:
            found = (step.partition, step.slot) if self._placement.accepts(step.partition, broker) else None
        if found is None:
            self._rejected.add((step.origin, broker, step.home))
        return found
