"""Quiet hours: hours of the week in which brokers carry little of their own peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.errors import InvalidInputError
from kadmin.inventory import SINGLE_CLUSTER, inventory_of
from kadmin.inventory.header import Header
from kadmin.plan.hours import windows_of_hours
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.kernel.hourly_load import rates_on
from kadmin.planner.kernel.placement_problem import list_lengths
from kadmin.planner.load.join import join_history
from kadmin.planner.load.reading import (
    build_history,
    explain_bad_history,
    history_types,
    missing_history,
    read_rows,
    rows_valid,
)
from kadmin.planner.load.resources import bytes_sent

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.hours import Window
    from kadmin.planner.cluster_arrays import ArrowTable, ClusterArrays
    from kadmin.planner.load.join import HourlyRates

_FIELD = "spec.hours.of"

_ONE_CLUSTER = Header("", {SINGLE_CLUSTER: None})


@dataclass(frozen=True, slots=True)
class LoadOfWeek:
    """A load history that was read, with its path."""

    path: Path
    rows: ArrowTable

    def quiet_windows(
        self, state: ClusterState, broker_ids: Collection[int], most: float
    ) -> tuple[Window, ...]:
        """Return the quiet windows of brokers on a state, as kadmin.plan.facts describes them."""
        cluster = inventory_of(state, None, "").single()
        arrays = cluster_arrays(*rows_as_arrow(cluster))
        history = join_history(self.rows, arrays, hold_out=False)
        if history is None:
            raise InvalidInputError(
                f"{self.path} has the load of no partition of cluster {state.cluster_id}.",
                cause="it is the history of another cluster, or has no rates",
                next_step=build_history(self.path),
            )
        return quiet_windows(history.rates, arrays, broker_ids, most)


def check_load(path: Path) -> None:
    """Raise InvalidInputError for a file that cannot be a load history; its rows are not read."""
    if not path.exists():
        raise missing_history(path, _FIELD)
    history_types(path, _ONE_CLUSTER)


def read_load(path: Path) -> LoadOfWeek:
    """Read the load history of one cluster; raises InvalidInputError."""
    check_load(path)
    rows = read_rows(path, _ONE_CLUSTER)
    if not rows_valid(rows):
        explain_bad_history(path, _ONE_CLUSTER)
    return LoadOfWeek(path, rows)


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
