"""Measures how even an assignment's load is in every hour, and the bound of all assignments.

A figure is load over fair share, the most of any broker and hour. Floored shares are those of
kernel/hourly_load.fair_shares: quiet hours are raised, and no share is below the largest
partition's load. An unfloored share is the broker's capacity times the load of all in that hour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kadmin.planner.figures import ResourceFigures, WorstHour
from kadmin.planner.kernel.hourly_load import QUIET, fair_shares, load_bound, load_on
from kadmin.planner.load.hours import ResourceHours

if TYPE_CHECKING:
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.kernel.hourly_load import Resource
    from kadmin.planner.kernel.placement_problem import Bools, Floats, Ints

_DIGITS = 6
_SHOWN_DIGITS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One resource under one assignment: `load` and fair `share`, [B, H].

    `rf` [P] are the replicas of partitions; `led` [P]: whether a partition's leader is among the
    brokers that carry the resource. Other leaders cannot change.
    """

    resource: Resource
    rf: Ints
    load: Floats
    share: Floats
    led: Bools

    def ratio(self) -> Floats:
        """Return load over fair share, [B, H]; 0 for brokers without a share."""
        return np.where(self.resource.capacity[:, None] > 0, over(self.load, self.share), 0.0)

    def unfloored(self) -> float:
        """Return the highest load of a broker in an hour, over its share.

        The share is that of this hour's load alone, without a floor.
        """
        share = self.resource.capacity[:, None] * self.load.sum(axis=0)
        return float(over(self.load, share).max(initial=0.0))

    def bound(self) -> float:
        """Return a lower bound, for every assignment, on the highest load over fair share.

        The brokers together carry all load except that of partitions which must stay elsewhere, and
        one of them carries the largest partition.
        """
        carrying = self.resource.capacity > 0
        share = self.share[carrying]
        together = over(self.load[carrying].sum(axis=0), share.sum(axis=0))
        alone = (
            self.largest()
            if self.led.all()
            else self.of_partitions()[self.led].max(axis=0, initial=0.0)
        )
        return float(
            np.maximum(together, over(alone, share.max(axis=0, initial=0.0))).max(initial=0.0)
        )

    def largest(self) -> Floats:
        """Return the load of the largest partition in each hour, [H]."""
        return np.asarray(self.of_partitions().max(axis=0, initial=0.0), np.float64)

    def of_partitions(self) -> Any:  # noqa: ANN401 - an array of float32 or float64
        """Return the load of each partition on its leader in each hour, [P, H]."""
        replica, leader = self.resource.on_replica, self.resource.on_leader
        if replica is None or leader is None:
            return leader if replica is None else replica
        return replica + leader


def measure(resource: Resource, rf: Ints, lists: Ints) -> Measured:
    """Measure a resource under ordered lists [P, W]."""
    load = load_on(resource, lists, len(resource.capacity))
    return Measured(
        resource, rf, load, fair_shares(resource, rf), resource.capacity[lists[:, 0]] > 0
    )


def over(load: Floats, share: Floats) -> Floats:
    """Return load over share; 0 where there is no share."""
    return np.divide(
        load, share, out=np.zeros(np.broadcast_shapes(load.shape, share.shape)), where=share > 0
    )


def figures_of(before: Measured, after: Measured, cluster: ClusterArrays) -> ResourceFigures:
    """Return the figures of a resource."""
    ratio = after.ratio()
    broker, hour = (int(each) for each in np.unravel_index(int(ratio.argmax()), ratio.shape))
    worst = WorstHour(broker_id=int(cluster.broker_ids[broker]), hour=hour)
    of_hour = after.of_partitions()[:, hour]
    total = after.load.sum(axis=0)
    even = after.resource.capacity[broker] * max(float(total[hour]), QUIET * float(total.max()))
    if float(of_hour.max()) > even:  # the largest partition then sets the share
        largest = int(of_hour.argmax())
        topic, partition = cluster.topics[cluster.topic[largest]], int(cluster.partition[largest])
        worst = replace(worst, topic=topic, partition=partition)
    return ResourceFigures(
        before=rounded(before.ratio()),
        after=rounded(ratio),
        bound=round(after.bound(), _DIGITS),
        before_unfloored=round(before.unfloored(), _DIGITS),
        after_unfloored=round(after.unfloored(), _DIGITS),
        bound_unfloored=round(load_bound(after.resource, after.rf, 0.0), _DIGITS),
        goal=after.resource.goal,
        worst=worst,
    )


def rounded(ratio: Floats) -> float:
    """Return the largest ratio as figures have it."""
    return round(float(ratio.max(initial=0.0)), _DIGITS)


def hours_of(before: Measured, after: Measured, shown: Bools) -> ResourceHours:
    """Return the hours of a resource for the brokers of a mask [B]."""
    total = after.load.sum(axis=0)
    return ResourceHours(
        before=_rows(over(before.load, before.share)[shown]),
        after=_rows(over(after.load, after.share)[shown]),
        capacity=tuple(after.resource.capacity[shown].round(_DIGITS).tolist()),
        total=tuple(
            np.maximum(total, QUIET * total.max(initial=0.0)).round(_SHOWN_DIGITS).tolist()
        ),
        largest=tuple(after.largest().round(_SHOWN_DIGITS).tolist()),
    )


def _rows(ratio: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, ratio.round(_SHOWN_DIGITS).tolist()))
