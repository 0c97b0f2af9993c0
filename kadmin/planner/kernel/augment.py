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

from kadmin.planner.kernel.problem import NONE, ObstacleError, member
from kadmin.planner.kernel.replicas import Replicas, replicas_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kadmin.planner.kernel.problem import Bools, Ints
    from kadmin.planner.kernel.share import Share

_CANDIDATES = 16
"""Replicas tried for each pair of brokers: more only matter where capacities or leaders stand in the way."""


@dataclass(frozen=True, slots=True)
class _Step:
    """How a broker was reached: by the replica in a slot, from its broker (NONE: an open slot is filled)."""

    partition: int
    slot: int
    origin: int


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


def augment(share: Share) -> None:
    """Fill what is still open and move what is still above its quota; raises ObstacleError for a slot left open."""
    placement, problem = share.placement, share.placement.problem
    missing = placement.missing()[share.members]
    if not missing.any() and not (share.surplus() > 0).any():
        return
    paths = _Paths(share)
    for partition in np.repeat(share.members, missing):
        if not (paths.open(int(partition), _sinks(share)) or paths.open(int(partition), share.receives)):
            reason = "no choice of brokers was found that keeps every replica within racks, capacities and broker sets"
            raise ObstacleError(reason, np.array([partition]), np.arange(len(problem.brokers)))
    while share.room().any() and (givers := np.flatnonzero(share.surplus() > 0)).size:
        # Each turn leaves less room or, with the same room, less unevenness: there is an end.
        if not (paths.relieve(givers, _sinks(share)) or _level(share, paths, givers)):
            return


def _sinks(share: Share) -> Bools:
    """Return the brokers below their quota, and those that one replica more would make no fuller than these."""
    room = share.room() > 0
    after = share.levels(+1)
    return np.asarray(share.receives & (room | (after <= after.max(where=room, initial=-1.0))))


def _trade_quota(share: Share, broker: int) -> None:
    """Give a broker that took a replica beyond its quota the place of one that is as empty and below its own."""
    if share.surplus()[broker] > 0:
        waiting = np.flatnonzero((share.room() > 0) & (share.levels(+1) >= share.levels()[broker]))
        if waiting.size:
            share.quota[[broker, waiting[-1]]] += [1, -1]


def _level(share: Share, paths: _Paths, givers: Ints) -> bool:
    """Where quotas cannot be reached, make counts more even all the same; whether that was possible.

    One of the givers gives to the emptiest broker that stays below it, or any broker to one below its quota that does.
    """
    if any(paths.relieve(np.array([giver]), sinks) for giver in givers.tolist() for sinks in _emptier(share, giver)):
        return True
    room = share.room() > 0
    fuller = np.flatnonzero(share.levels(-1) >= share.levels(+1).min(where=room, initial=np.inf))
    return any(
        paths.relieve(np.array([giver]), room & (share.levels(+1) <= share.levels(-1)[giver]))
        for giver in fuller.tolist()
    )


def _emptier(share: Share, giver: int) -> Iterator[Bools]:
    """Yield the brokers that would be no fuller than the giver after a replica has gone over, the emptiest first."""
    after = share.levels(+1)
    below = share.receives & (after <= share.levels(-1)[giver])
    for level in np.unique(after[below]):
        yield below & (after == level)


class _Paths:
    """Augmenting paths over one share. A partition that was in the way of its own path is left out from then on."""

    def __init__(self, share: Share) -> None:
        self._share = share
        self._placement = share.placement
        self._problem = share.placement.problem
        self._listed = replicas_on(share.placement, share.members, np.arange(len(self._problem.brokers)))
        self._arrived: dict[int, list[tuple[int, int]]] = {}
        self._barred: set[int] = set()

    def open(self, partition: int, sinks: Bools) -> bool:
        """Fill an open slot of a partition, other replicas making way; whether a sink was reached."""
        slot = self._placement.open_slot(partition)
        self._barred.add(partition)  # its other replicas stay: they would change what the slot accepts

        def start() -> _Reached:
            reached = _Reached()
            for broker in np.flatnonzero(self._share.receives).tolist():
                if self._placement.accepts(partition, broker):
                    reached.add(broker, _Step(partition, slot, NONE), free=bool(sinks[broker]))
            return reached

        found = self._find(start, sinks)
        self._barred.discard(partition)
        return found

    def relieve(self, givers: Ints, sinks: Bools) -> bool:
        """Take one replica from one of the givers; whether a sink was reached."""

        def start() -> _Reached:
            reached = _Reached()
            for broker in givers.tolist():
                reached.add(broker, None)
            return reached

        return self._find(start, sinks)

    def _find(self, start: Callable[[], _Reached], sinks: Bools) -> bool:
        """Search and walk until a path holds; each failure bars one more partition, so there is an end."""
        barred = -1
        while barred < len(self._barred):
            barred = len(self._barred)
            reached = start()
            end = self._search(reached, sinks)
            if end is None:
                return False
            if self._walk(reached, end):
                _trade_quota(self._share, end)
                return True
        return False

    def _search(self, reached: _Reached, sinks: Bools) -> int | None:
        while reached.queue:
            broker = reached.queue.popleft()
            if sinks[broker]:
                return broker
            self._expand(reached, broker)
        return None

    def _expand(self, reached: _Reached, broker: int) -> None:
        problem, brokers = self._problem, self._problem.brokers
        here = self._on(broker)
        new = ~member(problem.current[here.partition], here.broker)
        free_spots = problem.rack_cap[here.partition, None] - self._placement.per_rack[here.partition]
        free_spots[:, brokers.rack[broker]] += 1
        for underway in (True, False):
            for target in np.flatnonzero(self._share.receives).tolist():
                if target not in reached.steps:
                    fitting = here.only((free_spots[:, brokers.rack[target]] > 0) & (new == underway))
                    self._reach(reached, fitting, target, free=underway)

    def _reach(self, reached: _Reached, candidates: Replicas, target: int, *, free: bool) -> None:
        """Reach a broker by one of the candidates, if it accepts any of the first that it does not hold yet."""
        lists = self._placement.slots[candidates.partition]
        elsewhere = candidates.only(~(lists == target).any(axis=1))
        for origin, partition, slot in zip(
            elsewhere.broker[:_CANDIDATES].tolist(),
            elsewhere.partition[:_CANDIDATES].tolist(),
            elsewhere.slot[:_CANDIDATES].tolist(),
            strict=True,
        ):
            if self._placement.accepts(partition, target, slot):
                reached.add(target, _Step(partition, slot, origin), free=free)
                return

    def _on(self, broker: int) -> Replicas:
        listed = self._listed.of(broker)
        arrived = np.array(self._arrived.get(broker, []), np.int64).reshape(-1, 2)
        here = Replicas(
            np.full(len(listed) + len(arrived), broker, np.int64),
            np.concatenate([listed.partition, arrived[:, 0]]),
            np.concatenate([listed.slot, arrived[:, 1]]),
        )
        still = self._placement.slots[here.partition, here.slot] == broker
        if self._barred:
            still &= ~np.isin(here.partition, list(self._barred))
        return here.only(still)

    def _walk(self, reached: _Reached, end: int) -> bool:
        """Make the moves of a path, its end first; undo them and bar the partition where one is no longer possible."""
        done: list[tuple[int, _Step]] = []
        for broker, step in reached.back_from(end):
            instead = NONE if step.origin == NONE else step.slot
            if not self._placement.accepts(step.partition, broker, instead):
                self._undo(done)
                self._barred.add(step.partition)
                return False
            self._make(broker, step)
            done.append((broker, step))
        return True

    def _make(self, broker: int, step: _Step) -> None:
        if step.origin != NONE:
            self._placement.take(step.partition, step.slot)
        self._placement.put(step.partition, step.slot, broker)
        self._arrived.setdefault(broker, []).append((step.partition, step.slot))

    def _undo(self, done: list[tuple[int, _Step]]) -> None:
        for _, step in reversed(done):
            self._placement.take(step.partition, step.slot)
            if step.origin != NONE:
                self._placement.put(step.partition, step.slot, step.origin)
