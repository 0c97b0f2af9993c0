"""A load history is joined to the inventory; what it does not know is taken from profiles, and
never as zero.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from support.planner.load_histories import MONDAY, row, table, week

from kadmin.errors import InvalidInputError
from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.load.columns import HOURS
from kadmin.planner.load.join import join_history
from kadmin.planner.load.profiles import complete
from kadmin.planner.load.reading import as_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.planner.load.join import LoadHistory

NEXT = MONDAY + timedelta(weeks=1)
UNKNOWN = np.nan


def joined(
    rows: Sequence[Mapping[str, Any]],
    sizes: Mapping[tuple[str, int], int | None],
    *,
    hold_out: bool = False,
) -> LoadHistory | None:
    """Join rows to the partitions that `sizes` names, each on one broker."""
    partitions = tuple(PartitionRow(*key, (1,), size_bytes=size) for key, size in sizes.items())
    cluster = cluster_arrays(*rows_as_arrow(ClusterInventory("c", (BrokerRow(1),), partitions)))
    return join_history(as_rows(table(rows)), cluster, hold_out=hold_out)


def known(history: LoadHistory | None) -> LoadHistory:
    assert history is not None
    return history


def test_rows_find_their_partitions_in_any_order_and_those_that_are_gone_are_counted() -> None:
    rows = [
        row("b", 0, week(3.0)),
        row("gone", 0, week(9.0)),
        row("a", 1, week(2.0)),
        row("a", 0, week(1.0)),
    ]
    rows += [row("a", 7, week(9.0))]
    found = known(joined(rows, {("a", 0): 1, ("a", 1): 1, ("b", 0): 1}))
    assert found.rates.bytes_in.tolist() == [week(1.0), week(2.0), week(3.0)]
    assert (found.gone, found.coverage, found.without, found.start) == (
        2,
        1.0,
        0,
        "2026-01-05T00:00:00Z",
    )


def test_a_history_of_other_partitions_is_none() -> None:
    assert joined([row("gone", 0, week(1.0))], {("a", 0): 1}) is None
    assert joined([row("a", 0, week(None))], {("a", 0): 1}) is None


def test_weeks_are_merged_hour_by_hour_by_how_many_they_are() -> None:
    merged = row("a", 0, week(4.0, 4.0), start=MONDAY - timedelta(weeks=3), weeks=3)
    found = known(joined([row("a", 0, week(8.0, None)), merged], {("a", 0): 1}))
    assert found.rates.bytes_in[0, :2].tolist() == [5.0, 4.0]
    assert found.start == "2025-12-15T00:00:00Z"


def test_rows_without_weeks_are_of_one_week() -> None:
    found = table([row("a", 0, week(4.0)), row("a", 1, week(2.0), start=NEXT)])
    assert as_rows(found.drop_columns(["weeks"])) == as_rows(found)


def test_the_last_week_can_be_held_out() -> None:
    rows = [row("a", 0, week(2.0)), row("a", 0, week(6.0), start=NEXT), row("b", 0, week(1.0))]
    found = known(joined(rows, {("a", 0): 1, ("b", 0): 1}, hold_out=True))
    assert found.rates.bytes_in[:, 0].tolist() == [2.0, 1.0]
    assert found.held_out is not None
    assert found.held_out.bytes_in[:, 0].tolist() == [6.0, 6.0]
    assert (found.start, found.held_out_start) == ("2026-01-05T00:00:00Z", "2026-01-12T00:00:00Z")


@pytest.mark.parametrize("weeks", [1, 2])
def test_a_history_without_two_weeks_has_none_to_hold_out(weeks: int) -> None:
    rows = [row("a", 0, week(2.0), weeks=weeks)]
    rows += [row("a", 0, week(2.0), start=NEXT, weeks=2)] * (weeks - 1)
    with pytest.raises(InvalidInputError, match="no week that could be held out"):
        joined(rows, {("a", 0): 1}, hold_out=True)


def test_unknown_hours_follow_the_topic_on_the_level_of_the_partition() -> None:
    """Rule: a partition that carries half of what another one does is filled with half of it."""
    day, night = 10.0, 2.0
    rows = [row("a", 0, week(day, night)), row("a", 1, [5.0, None, *week(5.0, 1.0)[2:]])]
    rows += [row("a", 2, [20.0, *[None] * (HOURS - 1)])]
    found = known(joined(rows, {("a", 0): 1, ("a", 1): 1, ("a", 2): 1}))
    assert found.rates.bytes_in[1, 1] == pytest.approx(1.0, rel=0.01)
    assert found.rates.bytes_in[2].tolist() == pytest.approx(week(20.0, 4.0), rel=0.01)
    assert found.coverage == pytest.approx((2 * HOURS) / (3 * HOURS))


def test_a_partition_without_history_is_as_the_mean_of_its_topic() -> None:
    found = known(
        joined(
            [row("a", 0, week(10.0, 2.0)), row("a", 1, week(20.0, 4.0))],
            {("a", at): 1 for at in (0, 1, 2)},
        )
    )
    assert found.rates.bytes_in[2].tolist() == pytest.approx(week(15.0, 3.0))
    assert found.without == 1


def test_a_topic_without_history_has_the_clusters_profile_by_its_size() -> None:
    rows = [row("a", 0, week(10.0, 2.0)), row("b", 0, week(30.0, 6.0))]
    sizes = {("a", 0): 100, ("b", 0): 300, ("new", 0): 50, ("new", 1): None}
    found = known(joined(rows, sizes))
    assert found.rates.bytes_in[2].tolist() == pytest.approx(week(5.0, 1.0))
    assert found.rates.bytes_in[3].tolist() == pytest.approx(week(20.0, 4.0))


def test_an_hour_that_nobody_knows_is_the_mean_of_the_others() -> None:
    found = known(joined([row("a", 0, [None, *week(7.0)[1:]])], {("a", 0): None, ("b", 0): None}))
    assert found.rates.bytes_in.tolist() == [pytest.approx(week(7.0)), pytest.approx(week(7.0))]


def test_a_topic_that_is_known_to_be_idle_stays_idle() -> None:
    rows = [row("busy", 0, week(8.0)), row("idle", 0, [0.0, *[None] * (HOURS - 1)])]
    found = known(joined(rows, {("busy", 0): 1, ("idle", 0): 1, ("idle", 1): 1}))
    assert found.rates.bytes_in[1:].tolist() == [week(0.0), week(0.0)]


def test_a_kind_of_rate_that_nobody_knows_is_unknown() -> None:
    found = known(joined([row("a", 0, week(1.0), bytes_out_per_s=week(None))], {("a", 0): 1}))
    assert found.rates.bytes_out is None
    assert found.rates.requests is None


def test_missing_hours_are_near_what_they_were() -> None:
    """Rule: on noisy profiles with a fifth of the hours missing, the topic's profile is nearer than
    the mean is.
    """
    draw = np.random.default_rng(7)
    topic = np.repeat(np.arange(20), 10)
    shape = 1 + 0.8 * np.cos(
        2 * np.pi * (np.arange(HOURS) - draw.integers(0, 24, 20)[:, None]) / 24
    )
    level = draw.lognormal(0, 1, len(topic))
    rates = (level[:, None] * shape[topic] * draw.lognormal(0, 0.05, (len(topic), HOURS))).astype(
        np.float32
    )
    missing = draw.random(rates.shape) < 0.2
    filled = complete(np.where(missing, np.float32(np.nan), rates), topic, np.full(len(topic), -1))
    assert not np.isnan(filled).any()
    assert (filled[~missing] == rates[~missing]).all()
    off = np.abs(filled - rates)[missing] / rates[missing]
    mean = np.nanmean(np.where(missing, np.nan, rates), axis=1)[:, None]
    assert np.median(off) < 0.06
    assert np.median(np.abs(mean - rates)[missing] / rates[missing]) > 0.4
