"""Properties of every proposal, checked on the request and not on the kernel's arrays."""

from __future__ import annotations

import fnmatch
import itertools
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.planner.load_histories import row as history_row
from support.planner.load_histories import week
from support.planner.small_clusters import applied, clusters, lists, propose, request, requests

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import LoadSpec, ProposalLimits, RackFloor, Racks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from support.planner.small_clusters import Lists

    from kadmin.plan.model import RebalanceRequest

thorough = settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


@st.composite
def cases(draw: st.DrawFn) -> tuple[ClusterInventory, RebalanceRequest]:
    cluster = draw(clusters())
    return cluster, draw(requests(len(cluster.brokers)))


def without_sizes(cluster: ClusterInventory) -> ClusterInventory:
    return replace(
        cluster, partitions=tuple(replace(row, size_bytes=None) for row in cluster.partitions)
    )


def without_capacities(cluster: ClusterInventory) -> ClusterInventory:
    return replace(
        cluster, brokers=tuple(replace(row, capacity_bytes=None) for row in cluster.brokers)
    )


def counts(target: Lists, brokers: Iterable[int]) -> list[int]:
    held = Counter(broker for row in target.values() for broker in row)
    return [held[broker] for broker in brokers]


def leaders(target: Lists, brokers: Iterable[int]) -> list[int]:
    led = Counter(row[0] for row in target.values())
    return [led[broker] for broker in brokers]


@thorough
@given(cases())
def test_hard_rules_hold(case: tuple[ClusterInventory, RebalanceRequest]) -> None:
    """Rule: hard constraints come first: emptied brokers, receivers, sets, racks, leaders."""
    cluster, wished = case
    proposed = propose(cluster, wished)
    assert not (proposed.error or "").startswith("KadminError")
    assume(proposed.error is None)
    leaving = {*wished.drain, *wished.substitute}
    rack = {row.broker_id: row.rack for row in cluster.brokers}
    for (topic, number), row in proposed.target(cluster).items():
        current = lists(cluster)[topic, number]
        new = set(row) - set(current)
        allowed = [
            set(ids)
            for pattern, ids in wished.broker_sets.items()
            if fnmatch.fnmatchcase(topic, pattern)
        ]
        factors = [
            factor for pattern, factor in wished.replication_factor.items() if pattern == topic
        ]
        assert len(set(row)) == len(row)
        if topic in wished.exclude_topics:
            assert row == current
            continue
        assert not leaving & set(row)
        assert len(row) == (factors[0] if factors else len(current))
        assert all(set(row) <= ids for ids in allowed)
        assert not (new - set(wished.substitute.values())) & set(wished.no_receive)
        assert row[0] not in wished.never_lead
        if wished.racks is Racks.STRICT and len(set(rack.values())) > 1:
            assert len({rack[broker] for broker in row}) == len(row)
        if isinstance(wished.racks, RackFloor):
            floor = min(wished.racks.at_least, len(row))
            assert len({rack[broker] for broker in row}) >= floor
    size = {(row.topic, row.partition): row.size_bytes or 0 for row in cluster.partitions}
    for broker in cluster.brokers:
        held = sum(
            size[key] for key, row in proposed.target(cluster).items() if broker.broker_id in row
        )
        assert broker.capacity_bytes is None or held <= broker.capacity_bytes


@thorough
@given(cases(), st.data())
def test_the_order_of_rows_means_nothing(
    case: tuple[ClusterInventory, RebalanceRequest], data: st.DataObject
) -> None:
    """Rule: same input, same plan, whatever the order of rows."""
    cluster, wished = case
    shuffled = replace(
        cluster,
        brokers=tuple(data.draw(st.permutations(cluster.brokers))),
        partitions=tuple(data.draw(st.permutations(cluster.partitions))),
    )
    one, other = propose(cluster, wished), propose(shuffled, wished)
    assert list(one.entries.items()) == list(other.entries.items())
    assert (one.figures, one.error) == (other.figures, other.error)


@thorough
@given(cases())
def test_a_second_run_proposes_nothing(case: tuple[ClusterInventory, RebalanceRequest]) -> None:
    """Rule: idempotent: run on its own result, the planner proposes nothing."""
    cluster, wished = case
    proposed = propose(cluster, wished)
    assume(proposed.error is None)
    if not wished.only_replaces:
        emptied = tuple(sorted({*wished.drain, *wished.substitute}))
        wished = replace(wished, drain=emptied, substitute={})
    again = propose(applied(cluster, proposed), wished)
    assert again.error is None
    assert again.entries == {}


@thorough
@given(cases(), st.data())
def test_figures_of_load_are_never_below_their_bound(
    case: tuple[ClusterInventory, RebalanceRequest], data: st.DataObject
) -> None:
    """Rule: no plan is more even than the bound; a plan with load keeps every rule, whatever the
    history.
    """
    cluster, wished = case
    rates = st.sampled_from([None, 0.0, 1.0, 50.0, 1000.0])
    history = [
        history_row(
            each.topic,
            each.partition,
            week(data.draw(rates), data.draw(rates)),
            bytes_out_per_s=week(data.draw(rates)),
        )
        for each in cluster.partitions
        if data.draw(st.booleans())
    ]
    proposed = propose(cluster, replace(wished, load=LoadSpec("load")), history)
    assert not (proposed.error or "").startswith("KadminError")
    assume(proposed.error is None)
    for name in {"in", "out"} & set(proposed.figures["load"]):
        found = proposed.figures["load"][name]
        assert found["after"] >= found["bound"] - 1e-5
        assert found["before"] >= 0


@thorough
@given(clusters())
def test_counts_are_within_one_of_each_other_where_racks_do_not_count(
    cluster: ClusterInventory,
) -> None:
    """Rule: replica counts within one of each other, and no move more than the bound where bytes
    ask for none.
    """
    bare = without_sizes(cluster)
    proposed = propose(bare, request(racks=Racks.IGNORE))
    held = counts(proposed.target(bare), (row.broker_id for row in bare.brokers))
    if max(held) <= len(bare.partitions):
        assert max(held) - min(held) <= 1
    assert proposed.figures["moves"] == proposed.figures["moves_bound"]
    assert proposed.figures["proved_optimal"]


@thorough
@given(cases())
def test_moves_are_never_claimed_below_the_bound(
    case: tuple[ClusterInventory, RebalanceRequest],
) -> None:
    """Rule: "proved optimal" means as many moves as the bound and every broker at its quota;
    figures are counted.
    """
    cluster, wished = case
    proposed = propose(cluster, wished)
    assume(proposed.error is None)
    before, after, told = lists(cluster), proposed.target(cluster), proposed.figures
    moves = sum(len(set(row) - set(before[key])) for key, row in after.items())
    assert told["moves"] == moves
    assert (
        told["reassignments"]
        == len(proposed.entries)
        == sum(row != before[key] for key, row in after.items())
    )
    assert told["leader_changes"] == sum(row[0] != before[key][0] for key, row in after.items())
    assert told["leader_changes"] >= told["leader_changes_bound"]
    assert told["moved_bytes"] is None or told["moved_bytes"] >= told["moved_bytes_bound"]
    assert told["order_changes"] == sum(
        row != before[key] and set(row) == set(before[key]) for key, row in after.items()
    )
    if told["proved_optimal"]:
        assert moves == told["moves_bound"]
        assert (told["after"]["replicas_min"], told["after"]["replicas_max"]) == (
            told["bound"]["replicas_min"],
            told["bound"]["replicas_max"],
        )


@thorough
@given(clusters(most_partitions=7).map(without_capacities), st.booleans())
def test_leaders_are_as_even_as_the_lists_allow(
    cluster: ClusterInventory,
    leaders_only: bool,  # noqa: FBT001 - drawn
) -> None:
    """Rule: no other choice of leaders among the same replicas is more even, in any convex
    measure.
    """
    proposed = propose(cluster, request(racks=Racks.IGNORE, leaders_only=leaders_only))
    assume(proposed.error is None)
    target = proposed.target(cluster)
    if leaders_only:
        assert all(sorted(row) == sorted(lists(cluster)[key]) for key, row in target.items())
    brokers = [row.broker_id for row in cluster.brokers]

    def unevenness(chosen: Iterable[int]) -> int:
        return sum(count * count for count in Counter(chosen).values())

    best = min(unevenness(chosen) for chosen in itertools.product(*target.values()))
    assert unevenness(row[0] for row in target.values()) == best
    assert sum(leaders(target, brokers)) == len(target)


@thorough
@given(clusters(), st.integers(0, 3))
def test_new_brokers_are_filled_by_moves_to_them_alone(
    cluster: ClusterInventory, count: int
) -> None:
    """Rule: brokers that were even among themselves only give; all moves go to the added
    brokers.
    """
    even = without_sizes(
        applied(cluster, propose(without_sizes(cluster), request(racks=Racks.IGNORE)))
    )
    assume(max(counts(lists(even), range(1, len(even.brokers) + 1))) <= len(even.partitions))
    fresh = range(101, 101 + count)
    grown = replace(even, brokers=(*even.brokers, *(BrokerRow(broker) for broker in fresh)))
    proposed = propose(grown, request(racks=Racks.IGNORE))
    before = lists(grown)
    gained = {
        broker for key, row in proposed.entries.items() for broker in set(row) - set(before[key])
    }
    assert gained <= set(fresh)
    assert proposed.figures["proved_optimal"]


@given(clusters(), st.integers(0, 6), st.integers(0, 500), st.integers(0, 2))
def test_limits_hold_and_every_prefix_keeps_the_hard_rules(
    cluster: ClusterInventory, max_moves: int, max_bytes: int, max_reorders: int
) -> None:
    """Rule: limits keep the order of the plan, the most useful entries first."""
    limits = ProposalLimits(
        max_moves=max_moves, max_bytes=max_bytes, max_order_changes=max_reorders
    )
    whole, cut = (
        propose(cluster, request(racks=Racks.IGNORE)),
        propose(cluster, request(racks=Racks.IGNORE, limits=limits)),
    )
    assume(whole.error is None)
    before, size = (
        lists(cluster),
        {(row.topic, row.partition): row.size_bytes or 0 for row in cluster.partitions},
    )
    assert list(cut.entries) == [key for key in whole.entries if key in cut.entries]
    assert all(whole.entries[key] == row for key, row in cut.entries.items())
    moved = {key: len(set(row) - set(before[key])) for key, row in cut.entries.items()}
    assert sum(moved.values()) <= max_moves
    assert sum(count * size[key] for key, count in moved.items()) <= max_bytes
    assert sum(set(row) == set(before[key]) for key, row in cut.entries.items()) <= max_reorders
    assert cut.figures["left_out"] == len(whole.entries) - len(cut.entries)
    for name in ("moves", "moved_bytes", "leader_changes"):
        bound = cut.figures[f"{name}_bound"]
        assert bound is None or (cut.figures[name] >= bound and cut.figures["left_out"] == 0)
    load = Counter({row.broker_id: 0 for row in cluster.brokers})
    for key, row in before.items():
        load.update(dict.fromkeys(row, size[key]))
    disk_space = {
        row.broker_id: row.capacity_bytes
        for row in cluster.brokers
        if row.capacity_bytes is not None
    }
    for key, row in cut.entries.items():
        load.subtract(dict.fromkeys(before[key], size[key]))
        load.update(dict.fromkeys(row, size[key]))
        assert all(
            load[broker] <= disk_space[broker]
            for broker in (set(row) - set(before[key])) & set(disk_space)
        )


@thorough
@given(clusters())
def test_each_prefix_is_at_least_as_even_as_the_one_before(cluster: ClusterInventory) -> None:
    """Rule: a plan that is stopped early is an improvement: no entry makes counts less even."""
    bare = without_sizes(cluster)
    now = lists(bare)
    brokers = [row.broker_id for row in bare.brokers]
    unevenness = [sum(count * count for count in counts(now, brokers))]
    for key, row in propose(bare, request(racks=Racks.IGNORE)).entries.items():
        now[key] = row
        unevenness.append(sum(count * count for count in counts(now, brokers)))
    assert unevenness == sorted(unevenness, reverse=True)


@pytest.mark.parametrize("racks", list(Racks))
def test_an_empty_cluster_needs_nothing(racks: Racks) -> None:
    for brokers in ((), (BrokerRow(1, "r1"), BrokerRow(2, "r2"))):
        proposed = propose(ClusterInventory(None, brokers, ()), request(racks=racks))
        assert (proposed.error, dict(proposed.entries)) == (None, {})


def test_partitions_without_any_broker_row_are_all_dead_and_stay() -> None:
    proposed = propose(ClusterInventory(None, (), (PartitionRow("a", 0, (1, 2)),)), request())
    assert (proposed.error, dict(proposed.entries)) == (None, {})
    assert "dead brokers (1, 2)" in proposed.figures["notes"][0]
