"""Chooses the disk of each replica of a broker.

Goals, in this order: the fewest bytes outside of the limits of each disk, the fewest replicas that
move from one disk to another, the fewest bytes of these; counts in proportion to the goals, as far
as replicas that are new on the broker allow.
Constraints: replicas leave disks that may not hold them; no disk receives that may not.
Algorithm: each disk above its limit gives as few replicas as cover its surplus. They, and the
replicas without a disk, go to the disks that lack most, the largest first. Exchanges between two
disks then bring bytes inside the limits, the ones that cost least first, and moves are taken back
while the limits hold. Where that leaves more moves than a simple bound, or bytes outside, a search
finds or rules out better choices. A choice that no exchange improves stays as it is, so that a
second run on the result moves nothing.
"""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kadmin.planner.kernel.disk_assignment import COSTS, DiskAssignment
from kadmin.planner.kernel.disk_bounds import fewest, released
from kadmin.planner.kernel.disk_search import fewest_moves
from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.disk_assignment import Exchange
    from kadmin.planner.kernel.disk_problem import DiskProblem
    from kadmin.planner.kernel.placement_problem import Ints

_SOME, _MANY = 64, 1000
"""The most replicas of a broker for which a choice with fewer bytes outside is searched, and one
with fewer moves: with more, a move above the bound is less than one in a hundred."""
_TIMES = 32
"""The most times that one with fewer bytes outside is searched."""


class DiskChoice(NamedTuple):
    """`disk` [N] of each replica. `bound`: no choice as even has fewer moves.

    `outside` is how many bytes are outside of the limits.
    """

    disk: Ints
    bound: int
    outside: int


def choose_disks(problem: DiskProblem, most_moves: int) -> DiskChoice:
    """Return the disk of each replica, with at most `most_moves` moves between disks.

    That many replicas at most must leave their disk; some disk may receive.
    """
    free = released(problem)
    found = DiskAssignment(problem, np.where(free, NONE, problem.home))
    if not free.any() and found.outside == 0:
        return DiskChoice(found.disk, 0, 0)
    if free.any() or _next_exchange(found, most_moves) is not None:
        _give_surplus(found, most_moves)
        _place(found)
        _reduce_outside(found, most_moves)
        _take_back(found)
        while _reduce_outside(found, most_moves):
            _take_back(found)
        bound = _search(found, most_moves)
        if found.outside == 0:
            _even_counts(found)
            _lighten(found)
        return DiskChoice(found.disk, bound, found.outside)
    return DiskChoice(found.disk, found.bound, found.outside)


def _give_surplus(found: DiskAssignment, most_moves: int) -> None:
    """Take the replicas off their disks that cover what these have to give, as few as can be."""
    problem = found.problem
    left = most_moves - int(problem.must_leave.sum())
    giving = _to_give(found)
    for disk in np.argsort(-giving, kind="stable").tolist():
        at_home = np.flatnonzero((found.disk == disk) & ~problem.fixed)
        ascending = at_home[np.argsort(problem.size[at_home], kind="stable")]
        sizes = problem.size[ascending]
        needed = fewest(sizes, int(giving[disk]))
        given = min(needed, left)
        if given:
            wanted = int(giving[disk]) if given == needed else problem.size.sum()
            found.release(ascending[_smallest_sum(sizes, given, int(wanted))])
            left -= given


def _to_give(found: DiskAssignment) -> Ints:
    """Return the bytes that each disk has to give, [D].

    It is its surplus, and its part of what other disks lack beyond that.
    """
    problem, load = found.problem, found.load
    surplus, lacking = np.maximum(load - problem.high, 0), np.maximum(problem.low - load, 0)
    brought = int(problem.size[found.disk == NONE].sum())
    more = int(lacking.sum()) - brought - int(surplus.sum())
    can = np.where(lacking > 0, 0, np.maximum(load - problem.low - surplus, 0))
    if more <= 0 or not can.any():
        return np.asarray(surplus)
    part = min(more / int(can.sum()), 1.0)
    return np.asarray(surplus + (can * part).astype(np.int64))


def _smallest_sum(ascending: Ints, chosen: int, wanted: int) -> Ints:
    """Return `chosen` positions in sizes [N] with a small sum of at least `wanted`.

    Where no such sum is large enough, the largest.
    """
    sums = np.concatenate([[0], ascending.cumsum()])
    windows = sums[chosen:] - sums[:-chosen]
    first = min(int(np.searchsorted(windows, wanted)), len(windows) - 1)
    taken = np.arange(first, first + chosen)
    spare = int(windows[first]) - wanted
    if spare > 0 and first:
        smaller = np.searchsorted(ascending[:first], ascending[taken] - spare)
        saved = np.where(
            smaller < first, ascending[taken] - ascending[np.minimum(smaller, first - 1)], 0
        )
        best = int(np.argmax(saved))
        taken[best] = smaller[best] if saved[best] > 0 else taken[best]
    return taken


def _place(found: DiskAssignment) -> None:
    """Put each replica without a disk on the one that lacks most of its goal, the largest first."""
    problem = found.problem
    waiting = np.flatnonzero(found.disk == NONE)
    waiting = waiting[np.argsort(-problem.size[waiting], kind="stable")]
    able = np.flatnonzero(problem.disks.may_receive).tolist()
    lacking = (problem.goal - found.load)[able].tolist()
    chosen = []
    for size in problem.size[waiting].tolist():
        most = max(lacking)
        at = lacking.index(most)
        lacking[at] = most - size
        chosen.append(able[at])
    found.put_all(waiting, np.array(chosen, np.int64))


def _reduce_outside(found: DiskAssignment, most_moves: int) -> bool:
    """Carry out exchanges that bring bytes inside the limits; return whether there was one."""
    before = found.outside
    while (exchange := _next_exchange(found, most_moves)) is not None:
        found.carry_out(exchange)
    return found.outside < before


def _search(found: DiskAssignment, most_moves: int) -> int:
    """Search for choices with fewer bytes outside, and with fewer moves; return a bound on moves.

    Exchanges of two replicas have found the choice so far.
    """
    problem, most = found.problem, min(most_moves, len(found.problem)) + 1
    for _ in range(_TIMES if len(problem) <= _SOME else 0):
        better = fewest_moves(problem, found.outside - 1, most, 0).disk if found.outside else None
        if better is None:
            break
        found.restore(better)
    bound = found.bound
    if bound < len(found.moved) and len(problem) <= _MANY:
        better, bound = fewest_moves(problem, found.outside, len(found.moved), bound)
        if better is not None:
            found.restore(better)
    return bound


def _next_exchange(found: DiskAssignment, most_moves: int) -> Exchange | None:
    """Return the exchange that brings bytes inside the limits, None where there is none.

    It is the best of those that cost no move, or the one with the greatest gain for each move.
    """
    over, under = found.load > found.problem.high, found.load < found.problem.low
    pairs = [pair for pair in _pairs(found) if over[pair[0]] or under[pair[1]]]
    left = most_moves - len(found.moved) if pairs else 0
    best, most = None, 0.0
    for cost in COSTS:
        exchange = found.best(cost, pairs) if cost <= left else None
        if exchange is not None and exchange.gain > 0:
            if cost <= 0:
                return exchange
            if exchange.gain / cost > most:
                best, most = exchange, exchange.gain / cost
    return best


def _pairs(found: DiskAssignment) -> Iterator[tuple[int, int]]:
    return permutations(np.flatnonzero(found.problem.disks.may_hold).tolist(), 2)


def _take_back(found: DiskAssignment) -> None:
    """Take back moves that the limits do not need."""
    if len(found.moved) <= found.bound:
        return
    while True:
        exchanges = (found.best(cost, _pairs(found)) for cost in COSTS if cost < 0)
        exchange = next((each for each in exchanges if each is not None and each.gain >= 0), None)
        if exchange is None:
            break
        found.carry_out(exchange)


def _even_counts(found: DiskAssignment) -> None:
    """Move small new replicas from disks with too many replicas to those with too few."""
    problem = found.problem
    for _ in range(len(problem.disks)):
        count = np.bincount(found.disk, minlength=len(problem.disks))
        more = np.where(problem.disks.may_hold, count - problem.even_counts, 0)
        source = int(np.argmax(more))
        target = int(np.argmin(np.where(problem.disks.may_receive, more, np.inf)))
        most = int(min(more[source], -more[target]))
        new = np.flatnonzero((problem.home == NONE) & (found.disk == source))
        ascending = new[np.argsort(problem.size[new], kind="stable")][: max(most, 0)]
        spare = min(
            found.load[source] - problem.low[source], problem.high[target] - found.load[target]
        )
        fits = int(np.searchsorted(problem.size[ascending].cumsum(), spare, side="right"))
        if not fits:
            return
        found.put_all(ascending[:fits], np.full(fits, target))


def _lighten(found: DiskAssignment) -> None:
    """Move smaller replicas in place of larger ones, while all disks stay inside the limits."""
    problem = found.problem
    moved = found.moved
    for replica in moved[::-1].tolist() if len(moved) <= _SOME else ():
        home, disk = int(problem.home[replica]), int(found.disk[replica])
        if not problem.disks.may_hold[home]:
            continue
        spare = min(problem.high[home] - found.load[home], found.load[disk] - problem.low[disk])
        stays, size = found.candidates(home, disk, 1), problem.size[replica]
        least = int(np.searchsorted(problem.size[stays], size - max(spare, 0)))
        if least < len(stays) and problem.size[stays[least]] < size:
            found.put(replica, home)
            found.put(int(stays[least]), disk)
