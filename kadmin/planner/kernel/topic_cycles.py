"""Cancels cycles of replicas that make topics more even, on small clusters.

Algorithm: that of negative_cycles.py. An arc costs the moves that it adds, then the preferred
leaders that lose their replica, then the replicas above the even share of the topic. Two arcs of
one topic may cost less together, so a cycle saves at least what it seems to save.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.planner.kernel.negative_cycles import NO_ARC, ResidualNetwork
from kadmin.planner.kernel.topic_counts import TopicCounts, even_shares

if TYPE_CHECKING:
    from kadmin.planner.kernel.placement import Placement
    from kadmin.planner.kernel.placement_problem import Ints

_MOST_PAIRS = 5_000
"""The most pairs of partition and broker of a small cluster."""


def cancel_topic_cycles(placement: Placement, quota: Ints) -> bool:
    """Move replicas along cycles until none makes topics more even.

    Returns False on a large cluster and on one with broker sets, each of which is even. `quota` [B]
    is updated where a cycle changes counts, which stay as even.
    """
    groups = placement.problem.group[placement.problem.movable]
    if len(groups) * len(placement.count) > _MOST_PAIRS or (groups != groups[0]).any():
        return False
    _TopicNetwork(placement, quota).cancel_all()
    return True


class _TopicNetwork(ResidualNetwork):
    """The network whose arcs cost what topics lose, too."""

    def __init__(self, placement: Placement, quota: Ints) -> None:
        super().__init__(placement, quota)
        self._share = even_shares(placement.problem)

    def _hub(self) -> tuple[Ints, Ints]:
        there, back = super()._hub()
        return there * self._unit**2, np.where(back < NO_ARC, back * self._unit**2, NO_ARC)

    @property
    def _unit(self) -> int:
        """More than a cycle can cost of anything."""
        return self._brokers + 2

    def _price(self, rows: Ints, held: Ints) -> Ints:
        problem, brokers = self._placement.problem, np.arange(self._brokers)
        counts = TopicCounts(problem, self._placement.slots, rows)
        share, first = self._share[rows, None], problem.current[rows, :1]
        full = (counts.on(rows[:, None], brokers) >= share).astype(np.int64)
        above = full - (counts.on(rows, held)[:, None] > share)
        lost = (first == held[:, None]).astype(np.int64) - (first == brokers)
        moves = super()._price(rows, held)
        return np.asarray((moves * self._unit + lost) * self._unit + above)
