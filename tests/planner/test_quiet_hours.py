"""Quiet hours are those in which each broker of a plan carries little of its own peak."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from support.planner.load_histories import row, table, week, write

from kadmin.errors import InvalidInputError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.inventory.state import state_of
from kadmin.plan.hours import format_window
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.load.columns import PARTITION_LOAD
from kadmin.planner.load.join import join_history
from kadmin.planner.load.quiet import quiet_windows, read_load
from kadmin.planner.load.reading import as_rows

if TYPE_CHECKING:
    from pathlib import Path

NIGHT = [1.0 if hour < 6 or hour >= 22 else 10.0 for hour in range(24)]
NOON = [10.0 if hour == 12 else 1.0 for hour in range(24)]
EVENING = [30.0 if hour == 23 else 1.0 for hour in range(24)]
PARTITIONS = (PartitionRow("a", 0, (1, 2)), PartitionRow("b", 0, (2,)), PartitionRow("c", 0, (3,)))
BROKERS = tuple(map(BrokerRow, (1, 2, 3, 4)))
ROWS = [
    row("a", 0, week(*NIGHT)),
    row("b", 0, week(*NOON)),
    row("c", 0, week(5.0), bytes_out_per_s=week(*EVENING)),
]


def quiet(*brokers: int, most: float = 0.7) -> list[str]:
    cluster = cluster_arrays(*rows_as_arrow(ClusterInventory("c", BROKERS, PARTITIONS)))
    history = join_history(as_rows(table(ROWS)), cluster, hold_out=False)
    assert history is not None
    return list(map(format_window, quiet_windows(history.rates, cluster, brokers, most)))


def test_an_hour_is_quiet_if_no_broker_has_more_than_a_part_of_its_own_peak() -> None:
    assert quiet(1) == ["22:00-06:00"]
    assert quiet(2, most=0.6) == ["13:00-12:00"], "11 of 20 in the day is quiet"
    assert quiet(2, most=0.5) == ["22:00-06:00"]


def test_what_leaders_send_counts_too() -> None:
    assert quiet(3) == [], "it receives as much in every hour"
    assert quiet(3, most=1.0) == ["mon-sun"]


def test_all_brokers_have_to_be_quiet() -> None:
    assert quiet(1, 2, 4, most=0.6) == ["22:00-06:00"], "4 carries nothing"
    assert quiet(4) == ["mon-sun"]
    assert quiet(1, 3) == []


def test_hours_are_those_of_the_week_in_utc() -> None:
    weekend = np.repeat([10.0, 1.0], [5 * 24, 2 * 24]).tolist()
    rows = [{**ROWS[0], "bytes_in_per_s": weekend}]
    cluster = cluster_arrays(*rows_as_arrow(ClusterInventory("c", BROKERS, PARTITIONS[:1])))
    history = join_history(as_rows(table(rows)), cluster, hold_out=False)
    assert history is not None
    found = quiet_windows(history.rates, cluster, [1], 0.7)
    assert list(map(format_window, found)) == ["sat-sun"]


def test_a_history_that_was_read_has_quiet_windows_of_a_state(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    state = state_of(ClusterInventory("c", BROKERS, PARTITIONS))
    found = read_load(tmp_path / PARTITION_LOAD).quiet_windows(state, [1], 0.7)
    assert list(map(format_window, found)) == ["22:00-06:00"]


def test_the_history_of_another_cluster_has_none(tmp_path: Path) -> None:
    write(tmp_path, ROWS)
    other = state_of(ClusterInventory("c", BROKERS, (PartitionRow("z", 0, (1, 2)),)))
    with pytest.raises(InvalidInputError, match="has the load of no partition of cluster c") as no:
        read_load(tmp_path / PARTITION_LOAD).quiet_windows(other, [1], 0.7)
    assert str(no.value.next_step).startswith("kadmin load build --samples PATH --out ")


def test_a_history_of_several_clusters_is_refused(tmp_path: Path) -> None:
    rows = [{**each, "cluster": name} for name in ("x", "y") for each in ROWS]
    write(tmp_path, table(rows, cluster=pa.string()))
    with pytest.raises(InvalidInputError, match="is the history of several clusters"):
        read_load(tmp_path / PARTITION_LOAD)
