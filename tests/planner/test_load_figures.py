"""The load of a plan: resources, capacities, figures with their bounds, and what is said where a
history lacks them.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from support.planner.load_histories import MONDAY, row, table, week, write
from support.planner.small_clusters import request

from kadmin.errors import InvalidInputError
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    write_inventory,
)
from kadmin.plan.model import (
    CpuWeights,
    DocumentFile,
    HoursOfLoad,
    LoadSpec,
    PlanHeader,
    ProposalLimits,
    ZonePrices,
)
from kadmin.planner import local
from kadmin.planner.cluster_arrays import cluster_arrays, rows_as_arrow
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.entry_reasons import Reason, entry_reasons
from kadmin.planner.kernel.hourly_load import HourlyLoad, ResourceName
from kadmin.planner.kernel.placement_problem import NONE, Solution
from kadmin.planner.load.columns import PARTITION_LOAD
from kadmin.planner.load.join import HourlyRates
from kadmin.planner.load.resources import Carriers, hourly_load, resources_of
from kadmin.planner.proposal import Options
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.cluster_arrays import ArrowTable
    from kadmin.planner.proposal import Proposal

TAKEN_AT = "2026-01-01T00:00:00Z"
PAIRS = ((1, 2), (2, 1), (1, 2), (2, 1))


def brokers(count: int, **values: Any) -> tuple[BrokerRow, ...]:  # noqa: ANN401 - the row's own values
    return tuple(BrokerRow(broker, **values) for broker in range(1, count + 1))


def rows(lists: Sequence[tuple[int, ...]]) -> tuple[PartitionRow, ...]:
    return tuple(
        PartitionRow("a", number, replicas, size_bytes=100) for number, replicas in enumerate(lists)
    )


def propose(
    folder: Path,
    history: ArrowTable,
    asked: RebalanceRequest,
    of: tuple[BrokerRow, ...] = (),
    lists: Sequence[tuple[int, ...]] = PAIRS,
) -> Proposal:
    cluster = ClusterInventory("c", of or brokers(2), rows(lists))
    write_inventory(Inventory(TAKEN_AT, {SINGLE_CLUSTER: cluster}), folder / "inventory", "csv")
    write(folder / "load", history)
    proposals = local.propose(asked, folder / "inventory", Options())
    told = {"clusters": [dict(proposals[SINGLE_CLUSTER].figures)]}
    assert validate_value(json.loads(json.dumps(told)), "answers/figures") == []
    return proposals[SINGLE_CLUSTER]


def for_load(folder: Path, **values: Any) -> RebalanceRequest:  # noqa: ANN401 - the load's own values
    return request(load=LoadSpec(str(folder / "load"), **values))


def test_network_in_is_of_replicas_and_out_of_leaders_and_their_followers(tmp_path: Path) -> None:
    """Rule: a leader sends what consumers read, and once for each follower what it receives."""
    lists = ((1, 2), (2, 1), (1, 3), (3, 1))
    rates = [10.0, 20.0, 30.0, 40.0]
    history = [
        row("a", at, week(rate), bytes_out_per_s=week(2 * rate)) for at, rate in enumerate(rates)
    ]
    load = propose(tmp_path, history, for_load(tmp_path), brokers(3), lists).figures["load"]
    assert load["in"]["before"] == pytest.approx(100 / (200 / 3))
    # No broker can send less than the leader of the largest partition does.
    assert load["out"]["before"] == 1.0
    assert load["out"]["before_unfloored"] == pytest.approx(120 / (300 / 3))
    assert (load["hours"], load["start"], load["coverage"]) == (168, "2026-01-05T00:00:00Z", 1.0)


def test_quiet_hours_are_raised_and_the_largest_partition_is_a_share(tmp_path: Path) -> None:
    """Rule: floored figures forgive an idle hour and a partition that no plan can split; unfloored
    ones do not.
    """
    busy, quiet = [60.0, 20.0, 20.0, 20.0], [8.0, 0.0, 0.0, 0.0]
    history = [row("a", at, week(*each)) for at, each in enumerate(zip(busy, quiet, strict=True))]
    lists = ((1,), (2,), (3,), (4,))
    told = propose(tmp_path, history, for_load(tmp_path), brokers(4), lists)
    found = told.figures["load"]["in"]
    assert (found["after"], found["after_unfloored"]) == (1.0, 4.0)
    assert (found["bound"], found["bound_unfloored"]) == (1.0, 4.0)
    assert found["worst"] == {"broker_id": 1, "hour": 0, "topic": "a", "partition": 0}
    assert "out" not in told.figures["load"]
    assert "no partition has any load of out" in told.figures["notes"]


MONTH_S = 30 * 86_400
ZONED = (BrokerRow(1, "r1"), BrokerRow(2, "r2"), BrokerRow(3, "r3"))


def test_traffic_across_zones_is_that_of_replicas_and_of_clients_in_other_zones(
    tmp_path: Path,
) -> None:
    """Rule: followers in other racks, producers apart from the leader, consumers apart from the
    replica they read.
    """
    history = [
        row("a", 0, week(10.0), bytes_out_per_s=week(40.0)),
        row("a", 1, week(20.0), bytes_out_per_s=week(0.0)),
    ]
    lists = ((1, 2), (2, 1))
    prices = ZonePrices(0.5, "EUR", {"r1": 0.75, "r3": 0.125}, {"r2": 0.25, "r3": 0.75})
    found = propose(tmp_path, history, for_load(tmp_path, zones=prices), ZONED[:2], lists).figures[
        "load"
    ]["zones"]
    assert found["replication"] == {"before": 30 * MONTH_S, "after": 30 * MONTH_S}
    assert found["producers"]["before"] == (0.125 * 10 + 0.875 * 20) * MONTH_S
    assert found["consumers"]["before"] == 1.0 * 40 * MONTH_S, "led in r1, read in r2 and r3"
    total = sum(found[name]["before"] for name in ("replication", "producers", "consumers"))
    assert (found["currency"], found["cost"]["before"]) == (
        "EUR",
        pytest.approx(total / 1e9 * 0.5, abs=0.005),
    )
    closest = for_load(tmp_path, zones=replace(prices, closest_replica=True))
    found = propose(tmp_path, history, closest, ZONED[:2], lists).figures["load"]["zones"]
    assert found["consumers"]["before"] == 0.75 * 40 * MONTH_S, "r2 has a replica"


def test_leaders_are_where_most_producers_are_as_far_as_counts_allow(tmp_path: Path) -> None:
    """A number as the budget lets leaders change on a cluster that is even."""
    history = [row("a", at, week(float(10 + at))) for at in range(4)]
    of, lists = (BrokerRow(1, "r1"), BrokerRow(2, "r2")), ((1, 2), (1, 2), (2, 1), (2, 1))
    asked = for_load(tmp_path, zones=ZonePrices(1.0, producers={"r1": 1.0}))
    told = propose(
        tmp_path, history, replace(asked, limits=ProposalLimits(load_leader_changes=8)), of, lists
    )
    assert told.figures["load"]["zones"]["producers"] == {
        "before": (12 + 13) * MONTH_S,
        "after": (10 + 11) * MONTH_S,
    }
    assert told.figures["load"]["extra_leader_changes"] == 4


def test_a_plan_that_moves_replicas_changes_what_crosses(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(3)]
    lists = ((1, 2), (1, 2), (1, 2))
    told = propose(
        tmp_path,
        history,
        for_load(tmp_path, zones=ZonePrices(1.0)),
        (*ZONED[:2], BrokerRow(3, "r1")),
        lists,
    )
    crossing = told.figures["load"]["zones"]["replication"]
    assert (crossing["before"], set(told.figures["load"]["zones"])) == (
        30 * MONTH_S,
        {"currency", "price_per_gb", "replication", "cost"},
    )


@pytest.mark.parametrize(
    ("of", "shares", "note"),
    [
        (brokers(2), {}, "brokers 1, 2 have no rack: what crosses zones is unknown"),
        (ZONED[:2], {"r9": 1.0}, "spec.load.zones names r9, which is the rack of no broker"),
    ],
)
def test_what_is_not_known_of_zones_is_said(
    tmp_path: Path, of: tuple[BrokerRow, ...], shares: dict[str, float], note: str
) -> None:
    history = [row("a", at, week(10.0)) for at in range(4)]
    told = propose(
        tmp_path, history, for_load(tmp_path, zones=ZonePrices(1.0, producers=shares)), of
    )
    assert note in told.figures["notes"]
    assert ("zones" in told.figures["load"]) == bool(shares)


def test_capacities_count_where_every_broker_has_one(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(4)]
    lists = ((1,), (1,), (1,), (2,))
    able = (BrokerRow(1, net_in_bytes_per_s=300.0), BrokerRow(2, net_in_bytes_per_s=100.0))
    weighted = replace(for_load(tmp_path), weights={1: 3.0})
    for asked, of in (
        (weighted, able),
        (weighted, brokers(2)),
        (weighted, (able[0], BrokerRow(2))),
    ):
        told = propose(tmp_path, history, asked, of, lists).figures
        assert told["load"]["in"]["after"] == pytest.approx(1.0)
        unknown = any("net_in_bytes_per_s is unknown of brokers" in note for note in told["notes"])
        assert unknown == (of != able)


def test_a_drained_broker_counts_before_and_not_after(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(4)]
    asked = replace(for_load(tmp_path), drain=(3,))
    told = propose(tmp_path, history, asked, brokers(3), ((1,), (2,), (3,), (3,)))
    found = told.figures["load"]["in"]
    assert (found["before"], found["after"]) == (1.5, 1.0)
    assert told.load_hours is not None
    assert told.load_hours.brokers == (1, 2, 3)
    hours = told.load_hours.resources["in"]
    assert (hours.capacity, hours.total[0], hours.largest[0]) == ((0.5, 0.5, 0.0), 40.0, 10.0)
    assert [each[0] for each in hours.before] == [0.75, 0.75, 1.5]
    assert [each[0] for each in hours.after] == [1.0, 1.0, 0.0]


def test_before_has_the_replication_factors_of_before(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(2)]
    asked = replace(for_load(tmp_path), replication_factor={"a": 2})
    found = propose(tmp_path, history, asked, brokers(2), ((1,), (1,))).figures["load"]
    assert (found["in"]["before"], found["in"]["after"]) == (2.0, 1.0)
    assert (found["out"]["before"], found["out"]["after"]) == (0.0, 1.0)


def test_a_week_held_out_is_measured_and_not_planned(tmp_path: Path) -> None:
    next_week = MONDAY + timedelta(weeks=1)
    history = [row("a", at, week(10.0)) for at in range(4)]
    history += [row("a", at, week(30.0 if at == 0 else 10.0), start=next_week) for at in range(4)]
    asked = for_load(tmp_path, hold_out=True)
    load = propose(tmp_path, history, asked, brokers(2), ((1,), (2,), (1,), (2,))).figures["load"]
    assert load["in"]["after"] == 1.0
    assert load["holdout"]["start"] == "2026-01-12T00:00:00Z"
    assert load["holdout"]["in"] == {
        "before": pytest.approx(40 / 30),
        "after": pytest.approx(40 / 30),
    }


def test_limits_cut_a_plan_for_load_and_its_figures(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(4)]
    asked = replace(for_load(tmp_path), limits=ProposalLimits(max_moves=1))
    told = propose(tmp_path, history, asked, brokers(2), ((1,), (1,), (1,), (1,))).figures
    assert (told["reassignments"], told["left_out"]) == (1, 1)
    assert (told["load"]["in"]["before"], told["load"]["in"]["after"]) == (2.0, 1.5)


def carriers(count: int) -> Carriers:
    every = np.ones(count, np.bool_)
    unknown = np.full(count, np.nan)
    return Carriers(every, every, dict.fromkeys(ResourceName, unknown), np.ones(count))


def test_weekdays_and_weekends_are_means_of_their_days() -> None:
    rates = np.arange(168, dtype=np.float32)[None, :]
    spec = LoadSpec("load", hours=HoursOfLoad.WEEKDAY_WEEKEND)
    resources = resources_of(HourlyRates(rates, None, None), np.array([1]), carriers(2), spec)
    load = hourly_load(resources, spec, ProposalLimits())
    assert load is not None
    folded = load.resources[0].on_replica
    assert folded is not None
    assert folded.dtype == np.float32
    assert folded[0, :2].tolist() == [48.0, 49.0]
    assert folded[0, 24:26].tolist() == [132.0, 133.0]


def test_cpu_is_weighted_of_what_comes_in_and_goes_out_and_of_requests() -> None:
    ones = np.ones((1, 168), np.float32)
    spec = LoadSpec("load", cpu=CpuWeights(bytes_in=2.0, bytes_out=3.0, requests=5.0))
    rates = HourlyRates(10 * ones, 20 * ones, 100 * ones)
    cpu = resources_of(rates, np.array([3]), carriers(2), spec)[-1]
    assert cpu.name is ResourceName.CPU
    assert cpu.on_replica is not None
    assert cpu.on_leader is not None
    assert (cpu.on_replica[0, 0], cpu.on_leader[0, 0]) == (20.0, 3 * (20 + 2 * 10) + 5 * 100)


@pytest.mark.parametrize(
    ("limits", "budget"),
    [
        (ProposalLimits(), (0.02, 0.5)),
        (ProposalLimits(load_moves=7, load_leader_changes=0.1), (7, 0.1)),
        (ProposalLimits(load_moves=0, load_leader_changes=0), (0, 0)),
    ],
)
def test_the_budget_of_load_is_the_requests(
    limits: ProposalLimits, budget: tuple[float, float]
) -> None:
    spec = LoadSpec("load")
    rates = HourlyRates(np.ones((1, 168), np.float32), None, None)
    resources = resources_of(rates, np.array([1]), carriers(2), spec)
    load = hourly_load(resources, spec, limits)
    assert load is not None
    assert (load.moves, load.leader_changes) == budget


def test_requests_that_the_history_does_not_know_cannot_be_counted(tmp_path: Path) -> None:
    history = [row("a", at, week(10.0)) for at in range(4)]
    with pytest.raises(InvalidInputError, match="counts requests, and the load history has none"):
        propose(tmp_path, history, for_load(tmp_path, cpu=CpuWeights(requests=1.0)))
    known = table(
        [{**each, "requests_per_s": week(3.0)} for each in history],
        requests_per_s=pa.list_(pa.float32()),
    )
    load = propose(tmp_path, known, for_load(tmp_path, cpu=CpuWeights(requests=1.0))).figures[
        "load"
    ]
    assert load["cpu"]["after"] == 1.0


def test_what_a_history_does_not_know_is_said(tmp_path: Path) -> None:
    history = [row("a", 0, week(10.0), bytes_out_per_s=week(None)), row("gone", 0, week(1.0))]
    notes = propose(tmp_path, history, for_load(tmp_path)).figures["notes"]
    assert (
        "the load history covers 25.0% of the hours of 4 partitions, 3 of which it lacks "
        "entirely; the others have the profile of their topic"
    ) in notes
    assert "the load history has 1 partition that the inventory does not have" in notes
    assert (
        "bytes_out_per_s is unknown for every partition: network out counts replication alone"
        in notes
    )


def test_the_only_cluster_of_an_inventory_needs_a_history(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="has no bytes in for any partition"):
        propose(tmp_path, [row("other", 0, week(10.0))], for_load(tmp_path))


def test_a_cluster_of_a_fleet_without_history_is_planned_without_load(tmp_path: Path) -> None:
    cluster = ClusterInventory("c", brokers(2), rows(PAIRS))
    fleet = Inventory(TAKEN_AT, {"north": cluster, "south": replace(cluster, cluster_id="d")})
    write_inventory(fleet, tmp_path / "inventory")
    history = [{**row("a", at, week(10.0)), "cluster": "north"} for at in range(4)]
    write(
        tmp_path / "load", table([*history, {**history[0], "cluster": "west"}], cluster=pa.string())
    )
    found = local.propose(for_load(tmp_path), tmp_path / "inventory", Options())
    assert found["north"].figures["load"]["in"]["after"] == 1.0
    assert "load" not in found["south"].figures
    assert found["south"].load_hours is None
    assert (
        "the load history has no partition of this cluster, which is planned without load"
        in (found["south"].figures["notes"])
    )


GOOD = [row("a", at, week(10.0)) for at in range(4)]
DOUBLES = pa.list_(pa.float64())
BAD: list[tuple[ArrowTable, str]] = [
    (table(GOOD, partition=pa.float64()), "partition is double, not an integer"),
    (
        table([], bytes_in_per_s=pa.list_(pa.string())),
        "bytes_in_per_s is list<element: string>, not a list",
    ),
    (
        table(GOOD, start=pa.timestamp("ns", "UTC")),
        r"start is timestamp\[ns, tz=UTC\], not a timestamp in micro",
    ),
    (
        [*GOOD, row("a", 9, [1.0])],
        "bytes_in_per_s: 1 row with a list of a length other than 168 .first: row 5",
    ),
    (
        [row("a", 0, [float("nan"), *week(1.0)[1:]])],
        "bytes_in_per_s: 1 row with a NaN or infinite rate .first: row 1",
    ),
    (
        table([row("a", 0, week(1e300))], bytes_in_per_s=DOUBLES),
        "bytes_in_per_s: 1 row with a NaN or infinite rate",
    ),
    (
        [GOOD[0], row("a", 1, week(1.0), bytes_out_per_s=week(-1.0))],
        "bytes_out_per_s: 1 row with a negative rate .first: row 2",
    ),
    ([*GOOD, GOOD[2]], "topic, partition, start: 1 row with a duplicate key .first: row 5"),
    (
        [row("a", 0, week(1.0), start=MONDAY + timedelta(days=1))],
        "start: 1 row not a Monday 00:00 UTC",
    ),
    ([row("a", 0, week(1.0), weeks=0)], "weeks: 1 row below 1"),
    ([row("a", -1, week(1.0))], "partition: 1 row negative"),
    ([{**GOOD[0], "topic": None}], "topic: 1 row null"),
    (
        table([{**GOOD[0], "cluster": "x"}, {**GOOD[1], "cluster": "y"}], cluster=pa.string()),
        "it has x, y, and the inventory is of one cluster",
    ),
]


@pytest.mark.parametrize(
    ("history", "complaint"), BAD, ids=[complaint[:40] for _, complaint in BAD]
)
def test_a_bad_history_is_refused_with_the_place(
    history: ArrowTable, complaint: str, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        propose(tmp_path, history, for_load(tmp_path))
    assert str(tmp_path / "load" / PARTITION_LOAD) in caught.value.message
    assert re.search(complaint, f"{caught.value.message} {caught.value.cause}")
    assert "kadmin load build" in str(caught.value.next_command)


def test_a_file_that_is_no_history_is_named(tmp_path: Path) -> None:
    (tmp_path / "load").mkdir()
    path = tmp_path / "load" / PARTITION_LOAD
    asked = for_load(tmp_path)
    write_inventory(
        Inventory(TAKEN_AT, {SINGLE_CLUSTER: ClusterInventory("c", brokers(2), rows(PAIRS))}),
        tmp_path,
    )
    for message in (f"There is no {path}.", f"{path} is not a Parquet table."):
        with pytest.raises(InvalidInputError) as caught:
            local.propose(asked, tmp_path, Options())
        assert caught.value.message == message
        path.write_bytes(b"PAR1")


def test_part_files_and_the_name_of_one_cluster_are_fine(tmp_path: Path) -> None:
    whole = propose(tmp_path, GOOD, for_load(tmp_path))
    path = tmp_path / "load" / PARTITION_LOAD
    path.unlink()
    path.mkdir()
    named = table([{**each, "cluster": "east"} for each in GOOD], cluster=pa.string())
    for at in range(2):
        parquet.write_table(named.slice(2 * at, 2), path / f"part-{at}.parquet")
    (path / "_SUCCESS").touch()
    parts = local.propose(for_load(tmp_path), tmp_path / "inventory", Options())[SINGLE_CLUSTER]
    assert (parts.figures, parts.load_hours) == (whole.figures, whole.load_hours)


def test_a_relative_folder_is_beside_the_request(tmp_path: Path) -> None:
    (tmp_path / "requests").mkdir()
    file = DocumentFile(str(tmp_path / "requests" / "request.yaml"), b"")
    asked = replace(request(load=LoadSpec("../load")), header=PlanHeader(file=file))
    assert propose(tmp_path, GOOD, asked).figures["load"]["in"]["after"] == 1.0


def test_load_is_the_reason_of_an_entry_that_nothing_else_asks_for() -> None:
    """Rule: counts, bytes and leaders are even before and after, so that load alone asks for these
    entries.
    """
    lists = [(1, 2), (2, 1), (2, 3), (3, 2), (3, 1), (1, 3)]
    cluster = cluster_arrays(*rows_as_arrow(ClusterInventory("c", brokers(3), rows(lists))))
    problem = compile_request(cluster, request()).problem
    ones = np.ones((len(lists), 168), np.float32)
    resources = resources_of(
        HourlyRates(ones, None, None), problem.rf, carriers(3), LoadSpec("load")
    )
    target = problem.current.copy()
    target[:2] = problem.current[[1, 0]]  # two leaders swap
    target[[2, 4]] = problem.current[[4, 2]]  # and two partitions
    quota = np.bincount(target.ravel())
    for load, reasons in (
        (HourlyLoad(resources, 0.02, 0.5), [Reason.LOAD] * 4),
        (None, [Reason.LEADER, Reason.LEADER, Reason.BYTES, Reason.BYTES]),
    ):
        found = entry_reasons(
            replace(problem, load=load), Solution(target, quota, 0, proved=True), NONE
        )
        assert [found[at] for at in (0, 1, 2, 4)] == reasons
