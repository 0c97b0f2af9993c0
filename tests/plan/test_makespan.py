from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from support.cluster.capabilities import LIMITS
from support.cluster.states import cluster, tp
from support.plan.wave_cases import busiest, check_waves, limits, makespan, targets

from kadmin.errors import InvalidInputError
from kadmin.plan import makespan as module
from kadmin.plan.diff import diff
from kadmin.plan.makespan import repack
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan, WaveLimits, WaveOrder
from kadmin.plan.waves import schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.waves import Wave

STATE = cluster({}, brokers=dict.fromkeys(range(20)))


def shortest(
    plan: Sequence[PartitionTarget], limit: WaveLimits, state: ClusterState = STATE
) -> tuple[Wave, ...]:
    return repack(schedule(plan, limit, LIMITS), plan, state, limit, LIMITS)


def names(plan: list[PartitionTarget], limit: WaveLimits) -> list[list[str]]:
    return [[str(each.partition) for each in wave.reassignments] for wave in shortest(plan, limit)]


@given(targets, limits)
def test_every_entry_is_in_one_wave_and_each_wave_keeps_every_limit(
    plan: list[PartitionTarget], limit: WaveLimits
) -> None:
    check_waves(shortest(plan, limit), plan, limit)


@given(targets, limits)
def test_it_is_never_longer_than_plan_order_nor_shorter_than_the_bound(
    plan: list[PartitionTarget], limit: WaveLimits
) -> None:
    assert (
        busiest(plan) <= makespan(shortest(plan, limit)) <= makespan(schedule(plan, limit, LIMITS))
    )


@given(targets, limits)
def test_waves_of_a_plan_of_priority_are_those_of_plan_order(
    plan: list[PartitionTarget], limit: WaveLimits
) -> None:
    moving = tuple(target for target in plan if target.replicas != target.current)
    in_order = ReassignmentPlan(PlanHeader(), moving, limits=limit, order=WaveOrder.PRIORITY)
    assert diff(in_order, STATE, LIMITS).waves == schedule(moving, limit, LIMITS)
    repacked = replace(in_order, order=WaveOrder.SHORTEST)
    assert diff(repacked, STATE, LIMITS).waves == shortest(moving, limit)


@given(targets, limits)
def test_plan_order_is_kept_inside_a_wave(plan: list[PartitionTarget], limit: WaveLimits) -> None:
    place = {target.partition: number for number, target in enumerate(plan)}
    for wave in shortest(plan, limit):
        places = [place[target.partition] for target in wave.reassignments]
        assert places == sorted(places)


def test_large_partitions_of_different_brokers_share_a_wave() -> None:
    plan = [
        PartitionTarget(tp("a-0"), (3,), (1,), 4),
        PartitionTarget(tp("a-1"), (3,), (2,), 9),
        PartitionTarget(tp("a-2"), (3,), (5,), 5),
        PartitionTarget(tp("a-3"), (4,), (6,), 9),
    ]
    limit = WaveLimits(max_partitions=2)
    assert makespan(schedule(plan, limit, LIMITS)) == 22
    assert names(plan, limit) == [["a-0", "a-2"], ["a-1", "a-3"]]
    assert makespan(shortest(plan, limit)) == busiest(plan) == 18


def test_the_leader_sends_every_copy() -> None:
    """Broker 2 leads both, whatever the lists say: apart they take as long as together, so plan
    order is kept.
    """
    state = cluster({"a-0": (1, 2), "a-2": (3, 2)}, states={"a-0": (2, (1, 2)), "a-2": (2, (3, 2))})
    plan = [
        PartitionTarget(tp("a-0"), (5, 2), (1, 2), 10),
        PartitionTarget(tp("a-1"), (6, 4), (4, 3), 10),
        PartitionTarget(tp("a-2"), (7, 2), (3, 2), 10),
        PartitionTarget(tp("a-3"), (8, 9), (8, 6), 10),
    ]
    pairs = [
        [str(w.partition) for w in wave.reassignments]
        for wave in shortest(plan, WaveLimits(2), state)
    ]
    assert pairs == [["a-0", "a-1"], ["a-2", "a-3"]]


def test_partitions_of_unknown_size_count_alike() -> None:
    plan = [
        PartitionTarget(tp(f"a-{n}"), (target,), (n + 10,)) for n, target in enumerate((1, 1, 2, 2))
    ]
    assert names(plan, WaveLimits(max_partitions=2)) == [["a-0", "a-2"], ["a-1", "a-3"]]


def test_where_nothing_is_shorter_plan_order_is_kept() -> None:
    plan = [PartitionTarget(tp(f"a-{n}"), (1,), (2,), 10 - n) for n in range(6)]
    assert names(plan, WaveLimits(max_partitions=2)) == [
        ["a-0", "a-1"],
        ["a-2", "a-3"],
        ["a-4", "a-5"],
    ]


def test_a_long_plan_is_packed_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WAVES", 2)
    half = [(1, 10), (1, 20), (2, 30), (2, 40)]
    plan = [PartitionTarget(tp(f"a-{n}"), (to,), (of,), 5) for n, (to, of) in enumerate(half * 2)]
    pairs = [["a-0", "a-2"], ["a-1", "a-3"], ["a-4", "a-6"], ["a-5", "a-7"]]
    assert names(plan, WaveLimits(max_partitions=2)) == pairs


def test_an_entry_that_fits_in_no_wave_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="t-0 fits in no wave"):
        shortest([PartitionTarget(tp("t-0"), (1,), (2,))], WaveLimits(max_bytes=10))
