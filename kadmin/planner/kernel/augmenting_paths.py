"""Places the last replicas along augmenting paths: chains of moves, where no direct move is left.

Goals: fill every open slot, and bring counts to their quotas, with the fewest further moves.
Algorithm: shortest augmenting path on the brokers. An arc a -> b is a replica that may go from a to
b; it costs nothing where that replica moves anyway, else one move. Where no broker below its quota
can be reached, an open slot is filled above a quota; where that fails too, there is no plan.
Example: every partition on a broker above its quota has a replica in the only rack with a broker
below its quota. The broker gives a replica to a third broker, which gives one of another partition
to that rack.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import (
    NO_LIMIT,
    NONE,
    NoPlanError,
    any_per_row,
    contains,
)
from kadmin.planner.kernel.replicas import Replicas, replicas_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.planner.kernel.placement_problem import Bools, Ints, PlacementProblem
    from kadmin.planner.kernel.topic_group import TopicGroup

_CANDIDATES = 16
"""Replicas tried for each pair of brokers; more matter only where capacities or never_lead exclude
them."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The step of a path to a broker.

    A replica moves there from `origin`, or fills an open slot (`origin` NONE). `home`: the replica
    is on its current broker, so that moving it costs a move.
    """

    origin: int
    partition: int = NONE
    slot: int = NONE
    home: bool = False


@dataclass(slots=True)
class _Reached:
    """Brokers reached, each with the step to it (None: a start), and the queue, cheapest first."""

    steps: dict[int, _Step | None] = field(default_factory=dict)
    queue: deque[int] = field(default_factory=deque)

    def add(self, broker: int, step: _Step | None, *, free: bool = False) -> None:
        self.steps[broker] = step
        (self.queue.appendleft if free else self.queue.append)(broker)

    def back_from(self, broker: int) -> Iterator[tuple[int, _Step]]:
        """Yield (broker, step) from the end of a path back to its start."""
        while broker != NONE and (step := self.steps[broker]) is not None:
            yield broker, step
            broker = step.origin


def augment(group: TopicGroup) -> None:
    """Fill open slots and move surplus replicas.

    Raises NoPlanError for a slot that no broker accepts.
    """
    placement, problem = group.placement, group.placement.problem
    missing = placement.missing()[group.members]
    if not missing.any() and not (group.surplus() > 0).any():
        return
    paths = _Paths(group)
    for partition in np.repeat(group.members, missing):
        if not (
            paths.open(int(partition), _sinks(group)) or paths.open(int(partition), group.receives)
        ):
            raise NoPlanError(
                "no choice of brokers was found that keeps racks, capacities, broker sets and "
                "never_lead",
                ways_out(problem, int(partition)),
                partitions=np.array([partition]),
                brokers=np.arange(len(problem.brokers)),
            )
    while group.deficit().any() and (givers := np.flatnonzero(group.surplus() > 0)).size:
        # Each turn reduces the deficit or, at the same deficit, the unevenness, so the loop ends.
        if not (
            paths.move_from(givers, _sinks(group)) or _move_to_lower_level(group, paths, givers)
        ):
            return


def ways_out(problem: PlacementProblem, partition: int) -> str:
    """Name the constraints on a partition that can be eased."""
    brokers = problem.brokers
    constraints = {
        "set spec.racks: relaxed (or ignore)": brokers.racks > 1
        and (problem.rack_cap[partition] == 1 or problem.rack_floor[partition] > 1),
        "widen spec.broker_sets": problem.group[partition] > 0,
        "raise capacity_bytes in the inventory": (brokers.capacity < NO_LIMIT).any(),
        "shorten spec.brokers.never_lead": not brokers.all_lead,
    }
    return "; or ".join(
        [*(way for way, given in constraints.items() if given), "lower spec.replication_factor"]
    )


def _sinks(group: TopicGroup) -> Bools:
    """Return the brokers below their quota, and those whose level would rise no higher."""
    below_quota = group.deficit() > 0
    after = group.levels(+1)
    able = group.placement.count - group.others < group.most
    return np.asarray(
        group.receives
        & (below_quota | (able & (after <= after.max(where=below_quota, initial=-1.0))))
    )


def _trade_quota(group: TopicGroup, broker: int) -> None:
    """Raise the quota of a broker above it, lower that of an equally full broker below its own."""
    if group.surplus()[broker] > 0:
        waiting = np.flatnonzero(
            (group.deficit() > 0) & (group.levels(+1) >= group.levels()[broker])
        )
        if waiting.size:
            group.quota[[broker, waiting[-1]]] += [1, -1]


def _move_to_lower_level(group: TopicGroup, paths: _Paths, givers: Ints) -> bool:
    """Make counts more even where quotas cannot be reached; returns whether a replica moved.

    A giver gives to the broker with the lowest level, or any broker to one below its quota, as long
    as the receiver's level stays no higher than the giver's.
    """
    if any(
        paths.move_from(np.array([giver]), sinks)
        for giver in givers.tolist()
        for sinks in _emptier(group, giver)
    ):
        return True
    below_quota = group.deficit() > 0
    fuller = np.flatnonzero(
        group.levels(-1) >= group.levels(+1).min(where=below_quota, initial=np.inf)
    )
    return any(
        paths.move_from(
            np.array([giver]), below_quota & (group.levels(+1) <= group.levels(-1)[giver])
        )
        for giver in fuller.tolist()
    )


def _emptier(group: TopicGroup, giver: int) -> Iterator[Bools]:
    """Yield the brokers that would be no fuller than the giver after the move.

    They are in the order of their level, the emptiest first.
    """
    after = group.levels(+1)
    below = group.receives & (after <= group.levels(-1)[giver])
    for level in np.unique(after[below]):
        yield below & (after == level)


class _Arcs:
    """Counts of the replicas on each broker that may go to each rack: `count` [2, B, K].

    `count[0]` are replicas that move anyway, `count[1]` those on their current broker; barred
    partitions do not count. The counts ignore the rules for single brokers, which `replica` checks.
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
            which = np.flatnonzero(self._rack_accepts(listed, rack))
            np.add.at(self.count[:, :, rack], (home[which], listed.broker[which]), 1)

    def bar(self, partition: int) -> None:
        """Exclude a partition from the paths."""
        self._add_to_count(partition, -1)
        self.barred.add(partition)

    def unbar(self, partition: int) -> None:
        """Include a partition again."""
        self.barred.discard(partition)
        self._add_to_count(partition, 1)

    def move(self, partition: int, slot: int, broker: int) -> None:
        """Put the replica of a slot on a broker; NONE opens the slot."""
        self._add_to_count(partition, -1)
        if self._placement.slots[partition, slot] != NONE:
            self._placement.take(partition, slot)
        if broker != NONE:
            self._placement.put(partition, slot, broker)
            self._arrived.setdefault(broker, []).append((partition, slot))
        self._add_to_count(partition, 1)

    def replica(self, origin: int, target: int, *, home: bool) -> tuple[int, int] | None:
        """Return partition and slot of a replica that may go from a broker to another, or None."""
        on_origin = self._on(origin)
        fitting = self._rack_accepts(on_origin, int(self._problem.brokers.rack[target]))
        fitting &= contains(self._problem.current[on_origin.partition], on_origin.broker) == home
        fitting &= ~any_per_row(self._placement.slots[on_origin.partition] == target)
        some = np.flatnonzero(fitting)[:_CANDIDATES]
        for partition, slot in zip(
            on_origin.partition[some].tolist(), on_origin.slot[some].tolist(), strict=True
        ):
            if self._placement.accepts(partition, target, slot):
                return partition, slot
        return None

    def _rack_accepts(self, replicas: Replicas, rack: int) -> Bools:
        own = self._problem.brokers.rack[replicas.broker]
        return self._placement.rack_accepts(replicas.partition, rack, own)

    def _add_to_count(self, partition: int, change: int) -> None:
        """Add a partition's replicas to the counts (`change` 1), or subtract them (-1)."""
        if partition in self.barred:
            return
        rack, row = self._problem.brokers.rack, self._placement.slots[partition]
        current = self._problem.current[partition].tolist()
        racks = np.arange(self._problem.brokers.racks)
        for broker in row[row != NONE].tolist():
            where = self._placement.rack_accepts(partition, racks, rack[broker])
            self.count[int(broker in current), broker, where] += change

    def _on(self, broker: int) -> Replicas:
        listed = self._listed.on_broker(broker)
        arrived = np.array(self._arrived.get(broker, []), np.int64).reshape(-1, 2)
        on_broker = Replicas(
            np.full(len(listed) + len(arrived), broker, np.int64),
            np.concatenate([listed.partition, arrived[:, 0]]),
            np.concatenate([listed.slot, arrived[:, 1]]),
        )
        still = self._placement.slots[on_broker.partition, on_broker.slot] == broker
        if self.barred:
            still &= ~np.isin(on_broker.partition, list(self.barred))
        return on_broker.only(still)


class _Paths:
    """Augmenting paths of one group.

    An arc whose replica turned out to be impossible is rejected from then on.
    """

    def __init__(self, group: TopicGroup) -> None:
        self._group = group
        self._placement = group.placement
        self._arcs = _Arcs(group)
        self._rejected: set[tuple[int, int, bool]] = set()
        brokers = group.placement.problem.brokers
        self._rack = brokers.rack.tolist()
        self._receivers = [
            np.flatnonzero(group.receives & (brokers.rack == rack)).tolist()
            for rack in range(brokers.racks)
        ]

    def open(self, partition: int, sinks: Bools) -> bool:
        """Fill an open slot of a partition along a path; returns whether a sink was reached."""
        slot = self._placement.open_slot(partition)
        # Its other replicas stay, because they decide which brokers the slot accepts.
        self._arcs.bar(partition)

        def start() -> _Reached:
            reached = _Reached()
            for broker in np.flatnonzero(self._group.receives).tolist():
                if (NONE, broker, False) not in self._rejected and self._placement.suits(
                    partition, broker
                ):
                    reached.add(broker, _Step(NONE, partition, slot), free=bool(sinks[broker]))
            return reached

        found = self._find(start, sinks)
        self._arcs.unbar(partition)
        return found

    def move_from(self, givers: Ints, sinks: Bools) -> bool:
        """Take one replica from one of the givers along a path.

        Returns whether a sink was reached.
        """

        def start() -> _Reached:
            reached = _Reached()
            for broker in givers.tolist():
                reached.add(broker, None)
            return reached

        return self._find(start, sinks)

    def _find(self, start: Callable[[], _Reached], sinks: Bools) -> bool:
        """Search and follow paths until one is possible.

        Each failure rejects one more arc, so the loop ends.
        """
        self._rejected.clear()
        while True:
            reached = start()
            end = self._search(reached, sinks)
            if end is None:
                return False
            if self._follow(reached, end):
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
        """Add the brokers of a rack that were not reached before."""
        broker, rack = arc
        for target in self._receivers[rack]:
            if target not in reached.steps and (broker, target, home) not in self._rejected:
                reached.add(target, _Step(broker, home=home), free=not home)

    def _follow(self, reached: _Reached, end: int) -> bool:
        """Make the moves of a path, the last one first; undo them where one is impossible."""
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
        """Return partition and slot of a replica for a step.

        None, and the arc is rejected, where there is none.
        """
        if step.origin != NONE:
            found = self._arcs.replica(step.origin, broker, home=step.home)
        else:
            found = (
                (step.partition, step.slot)
                if self._placement.accepts(step.partition, broker)
                else None
            )
        if found is None:
            self._rejected.add((step.origin, broker, step.home))
        return found
