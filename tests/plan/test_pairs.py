"""Copies at once from one broker to another: in waves, and among the partitions of a wave."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.capabilities import API, LIMITS
from support.cluster.states import cluster, tp
from support.plan.wave_cases import check_waves, limits, targets

from kadmin.plan.diff import diff
from kadmin.plan.makespan import repack
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.pairs import AtOnce, PairLimit, pairs_of
from kadmin.plan.waves import schedule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.plan.model import WaveLimits

ALL_ALIVE = cluster({}, brokers=dict.fromkeys(range(13)))
TWICE = PairLimit(AtOnce(2), ALL_ALIVE)


def busiest_pair(running: Iterable[PartitionTarget]) -> int:
    copies = Counter(pair for target in running for pair in pairs_of(target, ALL_ALIVE))
    return max(copies.values(), default=0)


@given(targets, limits)
def test_no_wave_has_more_copies_of_a_pair_than_the_plan_allows(
    plan: list[PartitionTarget], limit: WaveLimits
) -> None:
    in_order = schedule(plan, limit, LIMITS, TWICE)
    shortest = repack(in_order, plan, ALL_ALIVE, limit, LIMITS, TWICE)
    for waves in (in_order, shortest):
        check_waves(waves, plan, limit)
        assert all(busiest_pair(wave.reassignments) <= 2 for wave in waves)


@given(targets, st.data())
def test_what_begins_beside_others_keeps_the_limit_and_leaves_no_room(
    plan: list[PartitionTarget], data: st.DataObject
) -> None:
    """Rule: none that is left out could begin as well."""
    running = TWICE.admitted(plan[: data.draw(st.integers(0, len(plan)))], ())
    waiting = [target for target in plan if target not in running]
    begun = TWICE.admitted(waiting, running)
    assert busiest_pair([*running, *begun]) <= 2
    for target in waiting:
        assert target in begun or busiest_pair([*running, *begun, target]) > 2


def test_only_where_a_publish_waits_for_the_one_before_waves_are_cut_by_pairs() -> None:
    moved = tuple(PartitionTarget(tp(f"a-{n}"), (1, 3), (1, 2)) for n in range(3))
    state = cluster({f"a-{n}": (1, 2) for n in range(3)})
    throttle = ThrottleSpec(ThrottleBy.RATE, 1, pair=1)
    plan = ReassignmentPlan(PlanHeader(), moved, throttle=throttle)
    assert [len(wave.reassignments) for wave in diff(plan, state, LIMITS).waves] == [1, 1, 1]
    assert [len(wave.reassignments) for wave in diff(plan, state, API.publish).waves] == [3]
