"""The disk of each replica of a broker, with exchanges of replicas between two disks.

An exchange sends one replica from a disk to another, and perhaps one back. Its cost is the moves
that it adds: 1 for a replica that leaves its home, -1 for one that returns to it, 0 for one that is
new on the broker or away from home already.
Algorithm: the bytes outside the limits of two disks are a convex function of the bytes exchanged,
least between the second and the third of its four bends. For each replica of the one disk, only the
two replicas of the other that come nearest to that are tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kadmin.planner.kernel.disk_bounds import least_disk_moves
from kadmin.planner.kernel.disk_problem import bytes_by_disk
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.planner.kernel.disk_problem import DiskProblem
    from kadmin.planner.kernel.placement_problem import Ints

COSTS = (-2, -1, 0, 1, 2)
"""The costs of exchanges, ascending."""


class Exchange(NamedTuple):
    """Sends replica `sent` from disk `source` to `target`, and `returned` back, or NONE.

    `gain` is how many bytes fewer are outside of limits.
    """

    gain: int
    source: int
    target: int
    sent: int
    returned: int


class DiskAssignment:
    """`disk` [N] of each replica; NONE of one that has none yet. `load` [D] is in bytes."""

    def __init__(self, problem: DiskProblem, disk: Ints) -> None:
        self.problem = problem
        self.disk = disk.copy()
        placed = disk != NONE
        self.load = bytes_by_disk(problem.size[placed], disk[placed], len(problem.disks))
        self._ascending = np.argsort(problem.size, kind="stable")
        # What candidates() found, and the replicas of each disk, until one is put elsewhere.
        self._found: dict[tuple[int, int, int], Ints] = {}
        self._held: dict[int, Ints] = {}
        self._bounds: dict[int, int] = {}

    @property
    def moved(self) -> Ints:
        """The replicas away from their home, ascending by size."""
        home = self.problem.home[self._ascending]
        away = (home != NONE) & (self.disk[self._ascending] != home)
        return np.asarray(self._ascending[away])

    @property
    def outside(self) -> int:
        """The bytes outside of the limits of all disks."""
        return int(self.problem.outside(self.load).sum())

    @property
    def bound(self) -> int:
        """The moves that every choice needs that leaves as few bytes outside."""
        outside = self.outside
        if outside not in self._bounds:
            self._bounds[outside] = least_disk_moves(self.problem, outside)
        return self._bounds[outside]

    def put(self, replica: int, disk: int) -> None:
        """Put a replica on a disk."""
        before = int(self.disk[replica])
        self._held = {at: held for at, held in self._held.items() if at not in (before, disk)}
        self._found = {key: each for key, each in self._found.items() if key[0] in self._held}
        if before != NONE:
            self.load[before] -= self.problem.size[replica]
        self.disk[replica] = disk
        self.load[disk] += self.problem.size[replica]

    def put_all(self, replicas: Ints, disks: Ints) -> None:
        """Put replicas on disks; each occurs once."""
        self._forget()
        placed = replicas[self.disk[replicas] != NONE]
        np.subtract.at(self.load, self.disk[placed], self.problem.size[placed])
        self.disk[replicas] = disks
        np.add.at(self.load, disks, self.problem.size[replicas])

    def release(self, replicas: Ints) -> None:
        """Take replicas off their disks."""
        self._forget()
        np.subtract.at(self.load, self.disk[replicas], self.problem.size[replicas])
        self.disk[replicas] = NONE

    def restore(self, disk: Ints) -> None:
        """Put every replica on the disk of another choice of `disk`."""
        self._forget()
        self.disk = disk.copy()
        self.load = bytes_by_disk(self.problem.size, disk, len(self.problem.disks))

    def _forget(self) -> None:
        self._found.clear()
        self._held.clear()

    def carry_out(self, exchange: Exchange) -> None:
        """Carry out an exchange."""
        self.put(exchange.sent, exchange.target)
        if exchange.returned != NONE:
            self.put(exchange.returned, exchange.source)

    def best(self, cost: int, pairs: Iterable[tuple[int, int]]) -> Exchange | None:
        """Return the exchange of a cost with the greatest gain over pairs of disks, or None."""
        found = [each for pair in pairs for each in self._exchanges(cost, *pair)]
        return max(found, key=lambda each: each.gain, default=None)

    def _exchanges(self, cost: int, source: int, target: int) -> Iterator[Exchange]:
        """Yield the best exchanges of a cost: one of each kind of replicas."""
        sent = {each: self.candidates(source, target, each) for each in (-1, 0, 1)}
        if cost in sent:
            yield from self._best_of(source, target, sent[cost], None)
        for each, replicas in sent.items():
            if len(replicas) and cost - each in sent:
                back = self.candidates(target, source, cost - each)
                yield from self._best_of(source, target, replicas, back)

    def candidates(self, source: int, target: int, cost: int) -> Ints:
        """Return the replicas that may go from a disk to another at a cost, ascending by size."""
        key = source, target, cost
        if key not in self._found:
            self._found[key] = self._found_at(source, target, cost)
        return self._found[key]

    def _found_at(self, source: int, target: int, cost: int) -> Ints:
        problem = self.problem
        if source not in self._held:
            self._held[source] = self._ascending[self.disk[self._ascending] == source]
        here = self._held[source]
        home = problem.home[here]
        if cost < 0:
            may_go = (home == target) & problem.disks.may_hold[target]
        elif cost > 0:
            may_go = (home == source) & ~problem.fixed[here] & problem.disks.may_receive[target]
        else:
            away = (home != source) & (home != target)
            may_go = away & problem.disks.may_receive[target]
        return np.asarray(here[may_go])

    def _best_of(
        self, source: int, target: int, sent: Ints, back: Ints | None
    ) -> Iterator[Exchange]:
        if not len(sent) or (back is not None and not len(back)):
            return
        bends = self._bends(source, target)
        wanted, size = sorted(bends)[1], self.problem.size
        if back is None:
            next_larger = int(np.searchsorted(size[sent], wanted))
            one = np.unique(np.clip([next_larger - 1, next_larger], 0, len(sent) - 1))
            amount, other = size[sent[one]], np.full(len(one), NONE)
        else:
            at = np.searchsorted(size[back], size[sent] - wanted, side="right")
            one = np.tile(np.arange(len(sent)), 2)
            place = np.clip(np.concatenate([at - 1, at]), 0, len(back) - 1)
            amount, other = size[sent[one]] - size[back[place]], back[place]
        over = _outside(amount, bends)
        best = int(np.argmin(over))
        if back is None or amount[best]:
            gain = int(_outside(np.zeros(1, np.int64), bends)[0] - over[best])
            yield Exchange(gain, source, target, int(sent[one[best]]), int(other[best]))

    def _bends(self, source: int, target: int) -> tuple[int, int, int, int]:
        """Return the bytes that the source must and may give, and the target must and may take."""
        problem, load = self.problem, self.load
        return (
            int(load[source] - problem.high[source]),
            int(load[source] - problem.low[source]),
            int(problem.low[target] - load[target]),
            int(problem.high[target] - load[target]),
        )


def _outside(amount: Ints, bends: tuple[int, int, int, int]) -> Ints:
    """Return the bytes outside of the limits of two disks after an exchange of `amount` [N]."""
    must_give, may_give, must_take, may_take = bends
    return np.asarray(
        np.maximum(must_give - amount, 0)
        + np.maximum(amount - may_give, 0)
        + np.maximum(must_take - amount, 0)
        + np.maximum(amount - may_take, 0)
    )
