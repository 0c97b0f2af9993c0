"""Quiet hours are those in which each broker of a plan carries little of its own peak."""

from __future__ import annotations

import numpy as np
from support.planner.load_histories import row, table, week

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.hours import format_window
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.load.join import join_history
from kadmin.planner.load.quiet import quiet_windows
from kadmin.planner.load.reading import as_rows

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
