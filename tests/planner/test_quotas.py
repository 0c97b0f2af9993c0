from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kadmin.planner.kernel.quotas import Demand, RackRule, quotas, rack_reach


def ints(values: Any) -> Any:  # noqa: ANN401 - any list of integers as an array
    return np.array(values, np.int64)


def demand(total: int, kept: list[int], **others: Any) -> Demand:  # noqa: ANN401 - the demand's own fields
    count = len(kept)
    fields = {
        "base": ints([0] * count),
        "upper": ints([total] * count),
        "weight": np.ones(count),
        "rack": ints([0] * count),
        "reach": ints([0, total]),
    }
    return Demand(total=total, kept=ints(kept), **{**fields, **others})


def feasible(wanted: Demand, quota: tuple[int, ...]) -> bool:
    """Gale-Ryser, written plainly: every j racks hold at most g(j)."""
    racks = len(wanted.reach) - 1
    by_rack = (
        sum(q for q, r in zip(quota, wanted.rack, strict=True) if r == rack)
        for rack in range(racks)
    )
    totals = sorted(by_rack, reverse=True)
    return all(sum(totals[: j + 1]) <= wanted.reach[j + 1] for j in range(racks))


@st.composite
def demands(draw: st.DrawFn) -> Demand:
    count, racks = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rf = ints(draw(st.lists(st.integers(1, racks), min_size=1, max_size=5)))
    floor = np.minimum(rf, draw(st.integers(1, racks)))
    small = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    rack = ints(draw(st.lists(st.integers(0, racks - 1), min_size=count, max_size=count)))
    upper = ints([draw(st.sampled_from([0, 1, len(rf)])) for _ in range(count)])
    return demand(
        int(rf.sum()),
        draw(small),
        base=ints(draw(small)),
        upper=upper,
        weight=np.array(
            draw(
                st.lists(st.sampled_from([0.5, 1.0, 1.0, 1.5, 3.0]), min_size=count, max_size=count)
            )
        ),
        rack=rack,
        reach=rack_reach(RackRule(rf, rf - floor + 1, floor), racks),
    )


@given(demands())
def test_quotas_are_the_most_even_that_racks_and_bounds_allow(wanted: Demand) -> None:
    """Rule: as many replicas as fit, each on the broker with the lowest level; then the fewest
    moves.
    """
    found = tuple(quotas(wanted).tolist())
    assert feasible(wanted, found)
    options = [
        option
        for option in itertools.product(
            *(range(min(int(upper), wanted.total) + 1) for upper in wanted.upper)
        )
        if sum(option) <= wanted.total and feasible(wanted, option)
    ]

    def rank(option: tuple[int, ...]) -> tuple[int, int, int]:
        held = [int(base) + quota for base, quota in zip(wanted.base, option, strict=True)]
        filled = sum(
            each * (each + 1) * round(3 / weight)
            for each, weight in zip(held, wanted.weight, strict=True)
        )
        moves = sum(
            max(0, quota - int(kept)) for quota, kept in zip(option, wanted.kept, strict=True)
        )
        return -sum(option), filled, moves

    best = min(map(rank, options))
    assert rank(found)[:2] == best[:2]
    assert rank(found) == best


def test_the_broker_with_most_replicas_keeps_the_remainder() -> None:
    assert quotas(demand(10, [0, 4, 6])).tolist() == [3, 3, 4]


def test_a_small_rack_is_filled_and_the_others_share_the_rest() -> None:
    """Rule: with as many racks as replicas each rack holds one of each partition, however few its
    brokers.
    """
    rule = RackRule(ints([2] * 12), ints([1] * 12), ints([1] * 12))
    wanted = demand(
        24, [0] * 5, rack=ints([0, 0, 0, 0, 1]), reach=rack_reach(rule, 2), upper=ints([12] * 5)
    )
    assert quotas(wanted).tolist() == [3, 3, 3, 3, 12]


def test_weights_shift_quotas() -> None:
    assert quotas(demand(10, [0, 0, 0], weight=np.array([1.0, 1.0, 3.0]))).tolist() == [2, 2, 6]


def test_a_remainder_that_fits_two_weights_stays() -> None:
    assert quotas(demand(2, [2, 0], weight=np.array([1.0, 0.5]))).tolist() == [2, 0]
    assert quotas(demand(2, [1, 1], weight=np.array([1.0, 0.5]))).tolist() == [1, 1]


def test_replicas_outside_the_demand_count() -> None:
    assert quotas(demand(4, [0, 0, 0], base=ints([5, 1, 0]))).tolist() == [0, 2, 2]


def test_bounds_that_leave_no_room_leave_replicas_over() -> None:
    assert quotas(demand(9, [0, 0], upper=ints([3, 2]))).tolist() == [3, 2]


def test_reach_counts_each_partition_at_most_once_a_rack_and_cap() -> None:
    rule = RackRule(ints([3, 2, 1]), ints([1, 2, 1]), ints([1, 1, 1]))
    assert rack_reach(rule, 3).tolist() == [0, 4, 5, 6]


def test_reach_leaves_a_replica_for_each_rack_of_the_floor() -> None:
    """Rule: of a partition on at least k racks, any j hold all replicas but k - j."""
    rf, floor = ints([4, 3, 1]), ints([3, 2, 1])
    rule = RackRule(rf, rf - floor + 1, floor)
    assert rack_reach(rule, 4).tolist() == [0, 2 + 2 + 1, 3 + 3 + 1, 8, 8]
