"""The second level of a plan: the disks of all brokers, when the replicas of each are decided.

Dimensions: D disks, ascending by broker; B brokers, P partitions, W the longest replica list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kadmin.planner.kernel.disk_moves import choose_disks
from kadmin.planner.kernel.disk_problem import DiskProblem, bytes_by_disk
from kadmin.planner.kernel.placement_problem import NONE, NoPlanError
from kadmin.planner.kernel.replicas import stable_argsort

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.planner.kernel.disk_problem import BrokerDisks
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints, PlacementProblem

_SEVERAL = 2
_PASSES = 8
"""The most times that the disks of a broker are chosen anew from the last choice."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterDisks:
    """The disks that brokers can read, and the replicas on them.

    `broker` [D] is an index. `disk` [P, W] is where each replica of the current lists is, NONE
    where that is not known; `size` [P, W] its own bytes; W may be less than in the problem.
    `movable` [P]: replicas of the partition may move between disks; `may_move` [B]: those of the
    broker may. `tolerance` is the fraction by which the bytes of a disk may differ from its part;
    `most_moves` limits moves between disks.
    """

    broker: Ints
    disks: BrokerDisks
    disk: Ints
    size: Ints
    movable: Bools
    may_move: Bools
    tolerance: float
    most_moves: int

    def of_broker(self, broker: int) -> slice:
        """Return the places of a broker's disks."""
        return slice(*np.searchsorted(self.broker, [broker, broker + 1]).tolist())

    @property
    def choice(self) -> Bools:
        """Whether each broker has several disks to choose from, [B]."""
        return np.asarray(np.bincount(self.broker, minlength=len(self.may_move)) >= _SEVERAL)


@dataclass(frozen=True, slots=True, eq=False)
class ChosenDisks:
    """The disk of each replica when the plan is done.

    `disk` [P, W] is of the lists afterwards, NONE where Kafka chooses or the disk is not known.
    `moved` [P, W]: the replica moves from one disk of its broker to another; `new` [P, W]: it is
    new on a broker where the plan chooses. `size` [P, W] are their bytes. `bound`: no choice as
    even has fewer moves between disks. `after` and `goal` [D] are bytes; `goal` is NaN where the
    plan does not choose.
    """

    disk: Ints
    moved: Bools
    new: Bools
    size: Ints
    bound: int
    after: Ints
    goal: Floats

    @property
    def moves(self) -> int:
        """The moves between disks."""
        return int(self.moved.sum())

    @property
    def moved_bytes(self) -> int:
        """The bytes of the moves between disks."""
        return int(self.size[self.moved].sum())

    @property
    def named(self) -> Bools:
        """Whether the plan names the disk of each replica, [P, W]."""
        return np.asarray(self.moved | self.new)


class _OnBroker(NamedTuple):
    """The disks of one broker, and where its replicas are in the lists afterwards, flat."""

    broker: int
    places: Ints
    problem: DiskProblem


def choose_all_disks(cluster: ClusterDisks, problem: PlacementProblem, final: Ints) -> ChosenDisks:
    """Choose the disks of all replicas of the lists `final` [P, W].

    Brokers that must empty a disk come first, then those with most bytes outside of limits, as long
    as moves are left. Raises NoPlanError where replicas that must leave a disk cannot, or where
    room is too small.
    """
    home, size, new = _replicas(cluster, problem, final)
    found = list(_by_broker(cluster, final, (home, size, new)))
    disk: Ints = home.reshape(-1).copy()
    goal = np.full(len(cluster.broker), np.nan)
    left, bound = cluster.most_moves, 0
    for each in sorted(found, key=_urgency):
        limited = _within(each.problem, left)
        chosen, least = _settled(limited, left, cluster.tolerance)
        _require_room(limited, chosen, each)
        first = cluster.of_broker(each.broker).start
        disk[each.places] = np.where(chosen == NONE, NONE, chosen + first)
        goal[cluster.of_broker(each.broker)] = limited.goal
        left -= _moves(limited.home, chosen)
        bound += least
    disk = disk.reshape(home.shape)
    placed = disk != NONE
    return ChosenDisks(
        disk=disk,
        moved=placed & (home != NONE) & (disk != home),
        new=placed & new,
        size=size,
        bound=bound,
        after=bytes_by_disk(size[placed], disk[placed], len(cluster.broker)),
        goal=goal,
    )


def _replicas(
    cluster: ClusterDisks, problem: PlacementProblem, final: Ints
) -> tuple[Ints, Ints, Bools]:
    """Return the disk now, the bytes, and whether it is new on its broker, of each replica."""
    home: Ints = np.full(final.shape, NONE)
    size: Ints = np.repeat(problem.size[:, None], final.shape[1], 1)
    new = np.asarray(final != NONE)
    for column, brokers in enumerate(final.T):
        for before, held in enumerate(problem.current.T[: cluster.disk.shape[1]]):
            same = np.flatnonzero((brokers == held) & (brokers != NONE))
            home[same, column] = cluster.disk[same, before]
            size[same, column] = cluster.size[same, before]
            new[same, column] = False
    return home, size, new


def _by_broker(
    cluster: ClusterDisks, final: Ints, replicas: tuple[Ints, Ints, Bools]
) -> Iterator[_OnBroker]:
    """Yield the brokers with several disks; replicas on a disk that is not known do not count."""
    home, size, new = replicas[0].reshape(-1), replicas[1].reshape(-1), replicas[2].reshape(-1)
    held, choice = final.reshape(-1), np.append(cluster.choice, [False])
    counted = np.flatnonzero(choice[held] & (new | (home != NONE)))
    ordered = counted[stable_argsort(held[counted])]
    brokers = np.flatnonzero(cluster.choice)
    ends = np.searchsorted(held[ordered], brokers, side="right")
    starts = np.searchsorted(held[ordered], brokers)
    movable = np.repeat(cluster.movable, final.shape[1])
    for broker, start, end in zip(brokers.tolist(), starts.tolist(), ends.tolist(), strict=True):
        places, disks = ordered[start:end], cluster.of_broker(broker)
        fixed = ~new[places] & ~(movable[places] & cluster.may_move[broker])
        problem = DiskProblem.of(
            cluster.disks.only(disks),
            size[places],
            np.where(new[places], NONE, home[places] - disks.start),
            fixed,
            cluster.tolerance,
        )
        _require_free_to_leave(problem, broker, places // final.shape[1])
        yield _OnBroker(broker, places, problem)


def _urgency(each: _OnBroker) -> tuple[bool, int, int]:
    problem = each.problem
    held = problem.home != NONE
    load = bytes_by_disk(problem.size[held], problem.home[held], len(problem.disks))
    return not problem.must_leave.any(), -int(problem.outside(load).sum()), each.broker


def _within(problem: DiskProblem, most_moves: int) -> DiskProblem:
    """Return the problem with the largest replicas that must leave their disk, the others fixed."""
    must = np.flatnonzero(problem.must_leave)
    if len(must) <= most_moves:
        return problem
    fixed = problem.fixed.copy()
    fixed[must[np.argsort(-problem.size[must], kind="stable")][most_moves:]] = True
    return replace(problem, fixed=fixed)


def _settled(problem: DiskProblem, most_moves: int, tolerance: float) -> tuple[Ints, int]:
    """Return the disk of each replica that a second run does not change, and the bound on moves."""
    if not problem.disks.may_receive.any():
        return problem.home, 0
    first = choose_disks(problem, most_moves)
    disk, outside = first.disk, first.outside
    for _ in range(_PASSES if outside else 0):
        again = choose_disks(
            DiskProblem.of(problem.disks, problem.size, disk, problem.fixed, tolerance),
            most_moves - _moves(problem.home, disk),
        )
        if np.array_equal(again.disk, disk):
            break
        disk = again.disk
    return disk, first.bound


def _moves(home: Ints, disk: Ints) -> int:
    return int(((home != NONE) & (disk != home)).sum())


def _require_free_to_leave(problem: DiskProblem, broker: int, partitions: Ints) -> None:
    stuck = problem.fixed & ~problem.disks.may_hold[problem.home]
    if stuck.any():
        raise NoPlanError(
            "a disk to be emptied holds replicas that must stay: they are excluded, or being "
            "reassigned, or another of their brokers is dead, or another disk of this broker has "
            "failed",
            "include them in spec.topics, or repair what is dead first",
            partitions=partitions[stuck],
            brokers=np.array([broker]),
        )
    if problem.must_leave.any() and not problem.disks.may_receive.any():
        raise NoPlanError(
            "no other disk of the broker may receive the replicas of a disk to be emptied",
            "empty fewer disks, or drain the broker: spec.brokers.drain",
            brokers=np.array([broker]),
        )


def _require_room(problem: DiskProblem, disk: Ints, each: _OnBroker) -> None:
    """Raise NoPlanError where a disk that gets replicas has not the room."""
    if (disk == NONE).any():
        return
    load = bytes_by_disk(problem.size, disk, len(problem.disks))
    came = np.bincount(disk[disk != problem.home], minlength=len(problem.disks)) > 0
    if (came & (load > problem.disks.room)).any():
        raise NoPlanError(
            "no plan was found that keeps every disk within its usable_bytes",
            "empty fewer disks or brokers, or set capacity_bytes of the broker in the inventory",
            brokers=np.array([each.broker]),
        )
