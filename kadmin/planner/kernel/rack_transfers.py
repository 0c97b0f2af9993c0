"""Selects the replicas that change racks, among those that leave their brokers anyway.

Goals: each rack reaches the sum of its brokers' quotas, then its byte goal, as near as possible
without extra moves.
Constraints: only brokers above their quota give, and each partition at most once.
Algorithm: racks above their sum give to racks below theirs, replicas of about the bytes that one
has too many. Where none of a rack's replicas may go to the target, it gives in place of another
rack, which gives more: augmenting paths on racks, as many replicas at once as a path carries. Then
the rack furthest above its byte goal and the one furthest below exchange equally many replicas,
large ones for small ones.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE, fast_nonzero
from kadmin.planner.kernel.replicas import PendingReplicas, running_count, stable_argsort
from kadmin.planner.kernel.subset_sum import pick_exactly

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints
    from kadmin.planner.kernel.replicas import Replicas
    from kadmin.planner.kernel.topic_group import TopicGroup

_STRIDES = 64

_FINE = 0.05
"""Racks within this fraction of the tolerance of their byte goal exchange nothing."""


def transfer_between_racks(
    group: TopicGroup, on: Replicas, pending: PendingReplicas, even: Floats
) -> PendingReplicas:
    """Take replicas of `on` (their brokers have a surplus) for other racks; return them as pending.

    `pending` [N] are pending already; `even` [B] is the byte goal of each broker.
    """
    transfers = _RackTransfers(group, on, pending, even)
    transfers.even_counts()
    transfers.even_bytes()
    return transfers.taken


@dataclass(frozen=True, slots=True, eq=False)
class _Replacements:
    """Replicas that could move in place of a pending one of the same partition, arrays [N].

    `pending` is a position in the pending replicas, `replaced` the origin of that replica; `slot`
    and `broker` locate the other one.
    """

    pending: Ints
    slot: Ints
    broker: Ints
    replaced: Ints


class _RackTransfers:
    """Transfers in progress.

    `_net` and `_excess` [K]: replicas and bytes of each rack above its goal.
    """

    def __init__(
        self, group: TopicGroup, on: Replicas, pending: PendingReplicas, even: Floats
    ) -> None:
        problem = group.placement.problem
        self._group, self._problem, self._placement = group, problem, group.placement
        self.taken = pending.to_rack(NONE)
        self._net = group.per_rack(group.surplus()).astype(np.int64)
        np.add.at(self._net, pending.rack, 1)
        self._excess = group.per_rack(group.placement.load - even)
        np.add.at(self._excess, pending.rack, problem.size[pending.partition])
        self._fine = float(group.per_rack(even).max()) * group.tolerance * _FINE
        self._used = np.zeros(len(problem), np.bool_)
        self._used[pending.partition] = True
        rack = problem.brokers.rack[on.broker]
        self._from = [on.only(rack == each) for each in range(problem.brokers.racks)]

    def even_counts(self) -> None:
        """Transfer replicas from racks above the sum of their quotas to racks below theirs."""
        net, excess = self._net, self._excess
        for source in np.argsort(-net, kind="stable").tolist():
            for target in np.argsort(net, kind="stable").tolist():
                count = int(min(net[source], -net[target]))
                if count > 0:
                    wanted = (
                        excess[source] * count / net[source] + excess[target] * count / net[target]
                    ) / 2
                    able = self._able(source, target)
                    picked = pick_exactly(self._problem.size[able.partition], count, wanted)
                    self._take(able.only(picked), target)
        if self._problem.brokers.all_lead:
            for target in np.flatnonzero(net < 0).tolist():
                while (net > 0).any() and net[target] < 0 and (path := self._path(target)):
                    self._replace_along(path, target)

    def _path(self, target: int) -> list[int]:
        """Return an augmenting path of racks to the target, empty where there is none.

        The first rack is above its sum; each can give in place of the next one, and the last one
        can give one more.
        """
        racks, rack = len(self._net), self._problem.brokers.rack
        replacements = self._replacements(target)
        can_replace = np.zeros((racks, racks), np.bool_)
        can_replace[rack[replacements.broker], rack[replacements.replaced]] = True
        before = dict.fromkeys(np.flatnonzero(self._net > 0).tolist(), NONE)
        queue = deque(before)
        while queue:
            path = [queue.popleft()]
            if len(self._able(path[0], target)):
                while before[path[-1]] != NONE:
                    path.append(before[path[-1]])
                return path[::-1]
            for other in np.flatnonzero(can_replace[path[0]]).tolist():
                if other not in before:
                    before[other] = path[0]
                    queue.append(other)
        return []

    def _replacements(self, target: int) -> _Replacements:
        underway = np.flatnonzero(self.taken.rack == target)
        held = self._placement.slots[self.taken.partition[underway]]
        rows, slots = fast_nonzero((held != NONE) & (self._group.surplus() > 0)[held])
        if self._placement.floored:
            keeps = self._keeps_floor(underway[rows], held[rows, slots], target)
            rows, slots = rows[keeps], slots[keeps]
        return _Replacements(
            underway[rows], slots, held[rows, slots], self.taken.origin[underway[rows]]
        )

    def _keeps_floor(self, pending: Ints, broker: Ints, target: int) -> Bools:
        """Whether the replica on each broker may go to the target in place of the pending one."""
        partition, rack = self.taken.partition[pending], self._problem.brokers.rack
        per_rack = self._placement.per_rack[partition].copy()
        rows = np.arange(len(partition))
        per_rack[rows, rack[self.taken.origin[pending]]] += 1
        per_rack[rows, rack[broker]] -= 1
        per_rack[rows, target] += 1
        return np.asarray(np.count_nonzero(per_rack, axis=1) >= self._problem.rack_floor[partition])

    def _replace_along(self, path: list[int], target: int) -> None:
        """Replace along a path as many replicas as every rack on it can."""
        rack, surplus, replacements = (
            self._problem.brokers.rack,
            self._group.surplus(),
            self._replacements(target),
        )
        chosen = []
        for giver, replaced in itertools.pairwise(path):
            some = np.flatnonzero(
                (rack[replacements.broker] == giver) & (rack[replacements.replaced] == replaced)
            )
            some = some[np.sort(np.unique(replacements.pending[some], return_index=True)[1])]
            chosen.append(
                some[running_count(replacements.broker[some]) < surplus[replacements.broker[some]]]
            )
        more = self._able(path[-1], target)
        count = min(
            int(self._net[path[0]]),
            int(-self._net[target]),
            len(more),
            *(len(some) for some in chosen),
        )
        for some in chosen:
            self._replace(replacements, some[:count])
        self._take(more.only(np.arange(count)), target)

    def _replace(self, replacements: _Replacements, which: Ints) -> None:
        """Take other replicas in place of some pending ones, and return those to their origins."""
        pending, slot, broker = (
            replacements.pending[which],
            replacements.slot[which],
            replacements.broker[which],
        )
        taken, rack = self.taken, self._problem.brokers.rack
        self._placement.take_all(taken.partition[pending], slot)
        self._placement.put_all(
            taken.partition[pending], taken.slot[pending], taken.origin[pending]
        )
        size = self._problem.size[taken.partition[pending]]
        for brokers, sign in ((broker, -1), (taken.origin[pending], 1)):
            np.add.at(self._net, rack[brokers], sign)
            np.add.at(self._excess, rack[brokers], sign * size)
        taken.slot[pending], taken.origin[pending] = slot, broker

    def even_bytes(self) -> None:
        """Exchange replicas between racks above and below their byte goals.

        Do so until they are near, or nothing helps.
        """
        stuck = np.zeros(len(self._excess), np.bool_)
        for _ in range(2 * len(stuck)):
            excess = np.where(stuck, 0.0, self._excess)
            source, target = int(np.argmax(excess)), int(np.argmin(excess))
            wanted = float(min(excess[source], -excess[target]))
            if wanted <= self._fine:
                return
            if not self._exchange(source, target, wanted):
                stuck[source if excess[source] < -excess[target] else target] = True

    def _exchange(self, source: int, target: int, wanted: float) -> bool:
        """Exchange replicas so that about `wanted` bytes change racks.

        Returns whether that helped.
        """
        size = self._problem.size
        there, back = self._able(source, target), self._able(target, source)
        large, small = size[there.partition], size[back.partition]
        if not len(large) or not len(small):
            return False
        upper, lower = (
            np.sort(large)[len(large) // 2 :].mean(),
            np.sort(small)[: len(small) // 2 + 1].mean(),
        )
        if upper <= lower:
            return False
        count = min(math.ceil(wanted / float(upper - lower)), len(large), len(small))
        returning = back.only(pick_exactly(small, count, count * float(lower)))
        there = there.only(~np.isin(there.partition, returning.partition))
        leaving = there.only(
            pick_exactly(
                size[there.partition], count, wanted + float(size[returning.partition].sum())
            )
        )
        shifted = float(size[leaving.partition].sum() - size[returning.partition].sum())
        if len(leaving) < len(returning) or abs(wanted - shifted) >= wanted:
            return False
        self._take(leaving, target)
        self._take(returning, source)
        return True

    def _able(self, source: int, target: int) -> Replicas:
        """Return the replicas that may go from rack to rack, at most the surplus of each broker."""
        on, brokers = self._from[source], self._problem.brokers
        spot = self._placement.rack_accepts(on.partition, target, source)
        chosen = np.flatnonzero(spot & ~self._used[on.partition])
        if not len(chosen) or not self._group.receives[brokers.rack == target].any():
            return on.only(chosen[:0])
        chosen = chosen[_spread(self._problem.size[on.partition[chosen]])]
        if not self._placement.strict:
            chosen = chosen[np.sort(np.unique(on.partition[chosen], return_index=True)[1])]
        chosen = chosen[running_count(on.broker[chosen]) < self._group.surplus()[on.broker[chosen]]]
        return on.only(chosen)

    def _take(self, some: Replicas, target: int) -> None:
        size = self._problem.size[some.partition]
        source = self._problem.brokers.rack[some.broker]
        self._placement.take_all(some.partition, some.slot)
        self._used[some.partition] = True
        np.subtract.at(self._net, source, 1)
        np.subtract.at(self._excess, source, size)
        self._net[target] += len(some)
        self._excess[target] += float(size.sum())
        self.taken = self.taken.joined(
            PendingReplicas(
                some.partition, some.slot, np.full(len(some), target, np.int64), some.broker
            )
        )


def _spread(sizes: Ints) -> Ints:
    """Return an order of `sizes` [N] in which every section contains small and large ones."""
    order = stable_argsort(sizes)
    return np.concatenate([order[start::_STRIDES] for start in range(_STRIDES)])
