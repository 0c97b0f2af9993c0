"""The kernel's second level: the disks of one broker, and the replicas that it will hold.

Dimensions: D disks of the broker, N replicas that it holds when the plan over brokers is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.placement_problem import NONE

if TYPE_CHECKING:
    from typing import Self

    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

_MOST_TOLERANCE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class BrokerDisks:
    """The disks of one broker; all arrays have shape [D].

    `weight` is the part of each in proportion to the others. `room` is the most bytes of replicas,
    NO_LIMIT where unknown. `may_hold`: may keep replicas; `may_receive`: may get others (implies
    `may_hold`).
    """

    weight: Floats
    room: Ints
    may_hold: Bools
    may_receive: Bools

    def __len__(self) -> int:
        """Return D."""
        return len(self.weight)

    def only(self, which: slice) -> BrokerDisks:
        """Return those at some places."""
        return BrokerDisks(
            self.weight[which], self.room[which], self.may_hold[which], self.may_receive[which]
        )


@dataclass(frozen=True, slots=True, eq=False)
class DiskProblem:
    """One broker. `size` [N] is in bytes; `home` [N] the disk now, NONE of a new replica.

    `fixed` [N]: stays at home. The bytes of a disk shall be between `low` and `high` [D]; `goal`
    [D] is its even part.
    """

    disks: BrokerDisks
    size: Ints
    home: Ints
    fixed: Bools
    goal: Floats
    low: Ints
    high: Ints

    @classmethod
    def of(cls, disks: BrokerDisks, size: Ints, home: Ints, fixed: Bools, tolerance: float) -> Self:
        """Return the problem with the even part of each disk.

        The parts are by weight, as far as room allows, and disks that may not receive.
        """
        stays = bytes_by_disk(size[fixed], home[fixed], len(disks))
        held = bytes_by_disk(size[home != NONE], home[home != NONE], len(disks))
        # A disk that only gives is within tolerance of its part with what it keeps.
        kept = np.where(disks.may_hold, held / (1 - min(tolerance, _MOST_TOLERANCE)), stays)
        most = np.where(disks.may_receive, disks.room, kept).astype(np.int64)
        goal = _even_parts(float(size.sum()), disks.weight * disks.may_hold, stays, most)
        return cls(
            disks=disks,
            size=size,
            home=home,
            fixed=fixed,
            goal=goal,
            low=np.where(disks.may_hold, np.maximum(np.floor(goal * (1 - tolerance)), 0), 0).astype(
                np.int64
            ),
            high=np.minimum(
                np.maximum(np.ceil(goal * (1 + tolerance)), stays), np.maximum(disks.room, stays)
            ).astype(np.int64),
        )

    def __len__(self) -> int:
        """Return N."""
        return len(self.size)

    @property
    def must_leave(self) -> Bools:
        """Whether each replica has to leave its disk, [N]."""
        return np.asarray((self.home != NONE) & ~self.fixed & ~self.disks.may_hold[self.home])

    @property
    def even_counts(self) -> Floats:
        """The part of each disk in the number of replicas, by its part of the bytes, [D]."""
        return np.asarray(self.goal / max(float(self.goal.sum()), 1.0) * len(self))

    def outside(self, load: Ints) -> Ints:
        """Return the bytes by which each disk is below `low` or above `high`.

        `load` is [D], or [N, D] of several choices.
        """
        return np.asarray(np.maximum(load - self.high, 0) + np.maximum(self.low - load, 0))


def bytes_by_disk(size: Ints, disk: Ints, disks: int) -> Ints:
    """Return the bytes on each disk, [D]; `disk` [N] has no NONE."""
    load = np.zeros(disks, np.int64)
    np.add.at(load, disk, size)
    return load


def _even_parts(total: float, weight: Floats, least: Ints, most: Ints) -> Floats:
    """Return parts of `total` by weight, each between `least` and `most` [D].

    The sum is `total` where these allow it: the level of water in basins that have a floor and a
    lid.
    """
    able = weight > 0
    if not able.any():
        return np.asarray(least, np.float64)
    most = np.clip(most, least, max(int(total), 0) + least)
    levels = np.unique(
        np.concatenate([[0.0], *(part[able] / weight[able] for part in (least, most))])
    )
    filled = np.array([_filled(level, weight, least, most).sum() for level in levels])
    level = float(np.interp(total, filled, levels))
    return _filled(level, weight, least, most)


def _filled(level: float, weight: Floats, least: Ints, most: Ints) -> Floats:
    return np.where(weight > 0, np.clip(level * weight, least, most), least).astype(np.float64)
