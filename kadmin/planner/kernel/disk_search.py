"""Searches for the fewest moves between the disks of a broker, and proves them.

Exchanges of two replicas miss choices of several at once, and simple bounds are too low, where a
few replicas have most bytes.
Algorithm: branch and bound, the largest replica first. A state puts the replicas so far on disks,
and leaves those that follow at home. Each needs at least as many moves more as the largest of the
latter that add up to what its disks have to give or lack. States that are no better than the choice
that is known are left out; the least of the others is a bound at any time. Where there are too
many, only the best are kept, and the bound stays what it was.
Example: disks for 20 and 80 bytes hold one replica of 40, and 60 of one byte each. The 40 must
leave; then the first lacks 20 of one byte. By its surplus of 20 alone, one move would do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kadmin.planner.kernel.disk_bounds import released
from kadmin.planner.kernel.disk_problem import bytes_by_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.disk_problem import DiskProblem
    from kadmin.planner.kernel.placement_problem import Bools, Ints

_TRIED = 2**19
"""The most states over all replicas, after which the best alone are kept."""
_MOST_STATES = 2**14
_TOO_MANY = 2**31


class Searched(NamedTuple):
    """The best choice, None where none was found, and the moves that every choice needs."""

    disk: Ints | None
    bound: int


class _States(NamedTuple):
    """`load` [S, D]; `moves` and their bytes [S]; `parent` and `disk` [S] lead to the choice."""

    load: Ints
    moves: Ints
    moved_bytes: Ints
    parent: Ints
    disk: Ints

    def only(self, which: Ints | Bools) -> _States:
        return _States(*(each[which] for each in self))


def fewest_moves(problem: DiskProblem, outside: int, moves: int, bound: int) -> Searched:
    """Return the choice with the fewest moves, fewer than `moves`, and a bound, `bound` or more.

    All leave at most `outside` bytes outside of limits. The bound is at most `moves`.
    """
    free = released(problem) & ~problem.fixed
    order = np.argsort(-problem.size, kind="stable")
    order = order[~problem.fixed[order]]
    follow = _Following(problem, order, free, outside)
    kept = int(np.clip(_TRIED // max(len(order), 1), 1, _MOST_STATES))
    load = bytes_by_disk(problem.size[~free], problem.home[~free], len(problem.disks))
    none = np.zeros(1, np.int64)
    states = _States(load[None, :], none + int(problem.must_leave.sum()), none, none, none)
    path: list[_States] = []
    exact = True
    for at, replica in enumerate(order.tolist(), 1):
        states = _distinct(_placed(problem, states, replica, at_home=not free[replica]))
        least = follow.least(states, at)
        able = least < moves
        if exact:
            bound = max(bound, min(int(least.min()), moves))
        if not able.any():
            break
        states, least = states.only(able), least[able]
        if len(least) > kept:
            exact = False
            left = problem.outside(states.load).sum(axis=1)
            states = states.only(np.lexsort((states.moved_bytes, least, left))[:kept])
        path.append(states)
        if (best := _done(problem, states, follow.brought[at], (outside, least.min()))) is not None:
            return Searched(_choice(problem, path, order, best), bound)
    return Searched(None, bound)


def _placed(
    problem: DiskProblem, states: _States, replica: int, *, at_home: bool
) -> Iterator[_States]:
    """Yield the states with a replica on each disk that may have it."""
    home, size = int(problem.home[replica]), int(problem.size[replica])
    before = states._replace(parent=np.arange(len(states.moves)))
    if at_home:
        yield before._replace(disk=np.full(len(states.moves), home))
    for disk in np.flatnonzero(problem.disks.may_receive).tolist():
        if at_home and disk == home:
            continue
        load = states.load.copy()
        load[:, disk] += size
        if at_home:
            load[:, home] -= size
        yield before._replace(
            load=load,
            moves=states.moves + at_home,
            moved_bytes=states.moved_bytes + at_home * size,
            disk=np.full(len(states.moves), disk),
        )


def _distinct(found: Iterator[_States]) -> _States:
    """Return the states as one, the one with the fewest moves of each load."""
    states = _States(*map(np.concatenate, zip(*found, strict=True)))
    order = np.lexsort((states.moved_bytes, states.moves, *states.load.T))
    differ = (np.diff(states.load[order], axis=0) != 0).any(axis=1)
    return states.only(order[np.append(True, differ)])


def _done(
    problem: DiskProblem, states: _States, brought: int, limits: tuple[int, int]
) -> int | None:
    """Return the best state that needs no change of what follows, as few moves as any, or None."""
    outside, least = limits
    within = problem.outside(states.load).sum(axis=1) <= outside
    able = np.flatnonzero(within & (states.moves <= least)) if not brought else ()
    return int(able[np.argmin(states.moved_bytes[able])]) if len(able) else None


def _choice(problem: DiskProblem, path: list[_States], order: Ints, state: int) -> Ints:
    """Return the disks [N] of a state at the end of a path; what follows it is at home."""
    disk: Ints = problem.home.copy()
    for states, replica in zip(path[::-1], order[: len(path)][::-1].tolist(), strict=True):
        disk[replica] = states.disk[state]
        state = int(states.parent[state])
    return disk


class _Following:
    """What replicas that follow in an order can do: sums of the largest of them.

    `brought` [N + 1] are the bytes of those without a home.
    """

    def __init__(self, problem: DiskProblem, order: Ints, free: Bools, outside: int) -> None:
        self._problem, self._outside = problem, outside
        size, home, at_home = problem.size[order], problem.home[order], ~free[order]
        self.brought = np.append(np.cumsum(np.where(at_home, 0, size)[::-1])[::-1], 0)
        self._all = _Sums(size, at_home)
        self._on_disk = [
            _Sums(size, at_home & (home == disk)) for disk in range(len(problem.disks))
        ]

    def least(self, states: _States, at: int) -> Ints:
        """Return the least moves of each state, [S], when the replicas from `at` on follow."""
        problem, brought = self._problem, self.brought[at]
        surplus = np.maximum(states.load - problem.high, 0)
        lacking = np.maximum(problem.low - states.load, 0).sum(axis=1)
        each = [lacking - brought - self._outside]
        if self._outside:
            over = surplus.sum(axis=1)
            # A replica takes its bytes off both what disks have to give and what others lack.
            each += [over - self._outside, (over + lacking - brought - self._outside + 1) // 2]
            return states.moves + self._all.fewest(at, np.max(each, axis=0))
        giving = [sums.fewest(at, surplus[:, disk]) for disk, sums in enumerate(self._on_disk)]
        taking = self._all.fewest(at, each[0])
        return np.asarray(states.moves + np.maximum(taking, np.sum(giving, axis=0)))


class _Sums:
    """Sums of those of the sizes [N], descending, that count."""

    def __init__(self, size: Ints, counts: Bools) -> None:
        self._sums = np.append(0, np.cumsum(size[counts]))
        self._passed = np.append(0, np.cumsum(counts))

    def fewest(self, at: int, wanted: Ints) -> Ints:
        """Return how many from place `at` on add up to each number of bytes; too many, if none."""
        sums = self._sums[self._passed[at] :]
        found = np.searchsorted(sums, sums[0] + np.maximum(wanted, 0))
        return np.where(found < len(sums), found, _TOO_MANY)
