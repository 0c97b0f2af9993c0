"""Quiet hours: hours of the week in which brokers carry little of their own peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kadmin.plan.hours import windows_of_hours
from kadmin.planner.kernel.hourly_load import rates_on
from kadmin.planner.kernel.placement_problem import list_lengths
from kadmin.planner.load.resources import bytes_sent

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.plan.hours import Window
    from kadmin.planner.cluster_arrays import ClusterArrays
    from kadmin.planner.load.join import HourlyRates


def quiet_windows(
    rates: HourlyRates, cluster: ClusterArrays, broker_ids: Collection[int], most: float
) -> tuple[Window, ...]:
    """Return the windows in which each broker receives and sends at most a part of its own peak.

    `most` is that part, above 0. `rates` are those of the cluster's partitions, and brokers carry
    them by the cluster's replicas. Windows are in UTC, as the hours of a history are; there are
    none where some broker always has more.
    """
    lists, brokers = cluster.replicas, len(cluster.broker_ids)
    received = rates_on(rates.bytes_in, lists, brokers)
    sent = rates_on(bytes_sent(rates, list_lengths(lists)), lists[:, :1], brokers)
    asked = np.isin(cluster.broker_ids, list(broker_ids))
    load = np.concatenate([received[asked], sent[asked]])
    quiet = (load <= most * load.max(axis=1, keepdims=True, initial=0.0)).all(axis=0)
    return windows_of_hours(np.flatnonzero(quiet).tolist())
