from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.planner.kernel.replicas import running_count, stable_argsort
from kadmin.planner.kernel.subset_sum import SwapSide, nearest_pair, nearest_swap, pick_exactly

sizes = st.lists(st.integers(0, 60), min_size=1, max_size=9)


@given(sizes, st.data())
def test_the_sum_is_off_by_no_more_than_one_item(values: list[int], data: st.DataObject) -> None:
    """Rule: exactly so many items, and a sum that is off by at most one item where any choice comes
    as near.
    """
    count = data.draw(st.integers(0, len(values)))
    wanted = data.draw(st.integers(-10, sum(values) + 10))
    chosen = pick_exactly(np.array(values, np.int64), count, wanted).tolist()
    assert len(set(chosen)) == count
    best = min(abs(sum(some) - wanted) for some in itertools.combinations(values, count))
    assert abs(sum(values[each] for each in chosen) - wanted) <= max(best, *values)


@given(sizes, sizes, st.integers(-80, 80))
def test_an_exchange_is_the_nearest_there_is(
    inside: list[int], outside: list[int], wanted: int
) -> None:
    """Rule: the pair whose difference is nearest, or none where every exchange is as far off as no
    exchange.
    """
    ascending = np.array(sorted(inside), np.int64), np.array(sorted(outside), np.int64)
    best = min(abs(out - into - wanted) for into in inside for out in outside)
    found = nearest_pair(*ascending, wanted)
    if found is None:
        assert best >= abs(wanted)
    else:
        assert abs(ascending[1][found[1]] - ascending[0][found[0]] - wanted) == best < abs(wanted)


def test_nothing_to_exchange_with_is_no_exchange() -> None:
    empty = np.zeros(0, np.int64)
    assert nearest_pair(empty, np.array([1]), 1) is None
    assert nearest_pair(np.array([1]), empty, 1) is None


@pytest.mark.parametrize("count", [0, 1, 1_499, 1_500, 4_000])
@pytest.mark.parametrize("bounds", [(0, 9), (0, 70_000), (0, 2**31), (-(2**50), 2**50), (-3, 3)])
def test_order_is_the_stable_sorts(count: int, bounds: tuple[int, int]) -> None:
    values = np.random.default_rng(count).integers(*bounds, count)
    values[count // 2 :] = values[: count - count // 2]  # ties
    order = np.argsort(values, kind="stable")
    assert stable_argsort(values).tolist() == order.tolist()
    seen: dict[int, int] = {}
    for value, before in zip(values.tolist(), running_count(values).tolist(), strict=True):
        assert before == seen.get(value, 0)
        seen[value] = before + 1


@pytest.mark.parametrize("seed", range(20))
def test_exchange_that_costs_exactly_so_much_is_the_nearest_of_these(seed: int) -> None:
    draw = np.random.default_rng(seed)
    out, back = (
        SwapSide(np.arange(9), np.sort(draw.integers(0, 10**6, 9)), draw.integers(-1, 2, 9))
        for _ in range(2)
    )
    for cost in range(-2, 3):
        errors = {
            (i, j): abs(int(out.size[i] - back.size[j]) - 3e5)
            for i in range(9)
            for j in range(9)
            if out.cost[i] + back.cost[j] == cost
        }
        best = min(errors, key=errors.__getitem__, default=None)
        expected = best if best is not None and errors[best] < 3e5 else None
        assert nearest_swap(out, back, cost, 3e5, exactly=True) == expected
