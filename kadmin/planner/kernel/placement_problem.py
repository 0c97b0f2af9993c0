"""The kernel's input and output: one cluster as arrays, with the request already applied to it.

Dimensions: B brokers, P partitions, W the longest replica list, G groups of topics with the same
allowed brokers, K racks. Brokers are indices below B; NONE (-1) pads lists. Names of topics and
brokers stay with the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import HourlyLoad

Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Bools: TypeAlias = npt.NDArray[np.bool_]

NONE = -1
NO_LIMIT = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Brokers:
    """The brokers, ascending by id. All arrays have shape [B].

    `rack` is an index below `racks` (all 0 where racks do not count). `may_hold`: may keep
    replicas; `may_receive`: may get new ones (implies `may_hold`); `may_lead`: may be the preferred
    leader. `capacity` is in bytes, NO_LIMIT where unknown.
    """

    ids: Ints
    rack: Ints
    racks: int
    may_hold: Bools
    may_receive: Bools
    may_lead: Bools
    weight: Floats
    capacity: Ints

    def __len__(self) -> int:
        """Return B."""
        return len(self.ids)

    @property
    def all_lead(self) -> bool:
        """Whether every broker that may hold replicas may lead."""
        return bool((self.may_lead == self.may_hold).all())

    @property
    def unconstrained(self) -> bool:
        """Whether every broker that may hold replicas may lead, and none has a known capacity."""
        return self.all_lead and bool((self.capacity >= NO_LIMIT).all())


@dataclass(frozen=True, slots=True, eq=False)
class PlacementProblem:
    """One cluster and the constraints on its new assignment.

    Partitions ascend by (topic, partition). `topic` [P] is the rank of the topic's name. `current`
    [P, W] is the current assignment; `start` [P, W] the same with pins and substitutions applied.
    `size` [P] is in bytes, 0 where unknown; `rf` [P] the requested replication factor; `movable`
    [P] is false where the target must equal `start`. `group` [P] indexes `allowed` [G, B]; group 0
    allows every broker. `rack_cap` [P] is the most replicas of one partition on one rack,
    `rack_floor` [P] the fewest racks that it is on. `tolerance` is the fraction by which a broker's
    bytes may differ from its goal. `load` is by hour; None: it does not count.
    """

    brokers: Brokers
    topic: Ints
    current: Ints
    start: Ints
    size: Ints
    rf: Ints
    movable: Bools
    group: Ints
    allowed: Bools
    rack_cap: Ints
    rack_floor: Ints
    tolerance: float
    leaders_only: bool
    load: HourlyLoad | None = None

    def __len__(self) -> int:
        """Return P."""
        return len(self.topic)


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The new assignment.

    `target` [P, W] are ordered replicas, `quota` [B] the goal of each broker's replica count.
    `bound`: no plan that is as even and keeps every rule has fewer moves. `proved`: no plan that
    keeps every rule is more even than the quotas. `extra_moves` and `extra_leader_changes` are
    those that the plan without load does not have.
    """

    target: Ints
    quota: Ints
    bound: int
    proved: bool
    extra_moves: int = 0
    extra_leader_changes: int = 0


class NoPlanError(Exception):
    """No plan satisfies the problem, or none was found.

    `next_step` says what to change in the request or the inventory; `partitions` and `brokers` are
    the indices concerned.
    """

    def __init__(
        self,
        reason: str,
        next_step: str,
        *,
        partitions: Ints | None = None,
        brokers: Ints | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.next_step = reason, next_step
        self.partitions = np.zeros(0, np.int64) if partitions is None else partitions
        self.brokers = np.zeros(0, np.int64) if brokers is None else brokers


def contains(lists: Ints, broker: Ints) -> Bools:
    """Whether each list (row of [N, W]) has the broker at the same index of `broker` [N], [N]."""
    return reduce(
        np.logical_or, (column == broker for column in lists.T), np.zeros(len(lists), np.bool_)
    )


def any_per_row(mask: Bools) -> Bools:
    """Return `mask.any(axis=1)` of [N, W].

    Column by column, which is ten times faster for many short rows.
    """
    return reduce(np.logical_or, mask.T, np.zeros(len(mask), np.bool_))


def fast_nonzero(mask: Bools) -> tuple[Ints, Ints]:
    """Return `mask.nonzero()` of [N, W], rows and columns; four times faster than numpy's."""
    flat = np.flatnonzero(mask)
    rows = flat // max(mask.shape[1], 1)
    return rows, flat - rows * mask.shape[1]


def bytes_on(problem: PlacementProblem, lists: Ints, partitions: Ints | None = None) -> Ints:
    """Return the bytes on each broker, [B], by `lists` [N, W] of all partitions or those given."""
    size = problem.size if partitions is None else problem.size[partitions]
    load = np.zeros(len(problem.brokers) + 1, np.int64)  # the last element collects NONE
    for column in lists.T:
        np.add.at(load, column, size)
    return load[:-1]


def replicas_and_bytes_on(
    problem: PlacementProblem, lists: Ints, partitions: Ints
) -> tuple[Ints, Ints]:
    """Return the replicas and the bytes that some partitions have on each broker, both [B].

    `lists` is [P, W].
    """
    held = lists.take(partitions, axis=0)
    return np.bincount(held[held != NONE], minlength=len(problem.brokers)), bytes_on(
        problem, held, partitions
    )


def breaks_rack_rule(problem: PlacementProblem, lists: Ints) -> Bools:
    """Whether a rack holds too many replicas of each partition, or too few racks hold any, [P].

    `lists` is [P, W]. A list with fewer replicas than the floor needs a rack for each of them.
    """
    # The last element is for NONE.
    racks = np.append(problem.brokers.rack, NONE)[lists].astype(np.int16)
    found, held = np.zeros(len(problem), np.bool_), np.zeros(len(problem), np.int64)
    for rack in range(problem.brokers.racks):
        on_rack = (racks == rack).sum(axis=1)
        found |= on_rack > problem.rack_cap
        held += on_rack > 0
    return found | (held < np.minimum(problem.rack_floor, list_lengths(lists)))


def distinct_per_row(rows: Ints) -> Ints:
    """Count the distinct values of each row [N, W] without NONE, [N]."""
    ascending = np.sort(rows, axis=1)
    fresh = ascending != NONE
    fresh[:, 1:] &= ascending[:, 1:] != ascending[:, :-1]
    return np.asarray(fresh.sum(axis=1))


def list_lengths(lists: Ints) -> Ints:
    """Return the number of brokers in each list of [N, W], [N]."""
    return reduce(np.add, (lists != NONE).T, np.zeros(len(lists), np.int64))
