from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kadmin.planner.kernel.subset import nearest_exchange, pick_exactly

sizes = st.lists(st.integers(0, 60), min_size=1, max_size=9)


@given(sizes, st.data())
def test_the_sum_is_off_by_no_more_than_one_item(values: list[int], data: st.DataObject) -> None:
    """Rule: exactly so many items, and a sum that is off by at most one item where any choice comes as near."""
    count = data.draw(st.integers(0, len(values)))
    wanted = data.draw(st.integers(-10, sum(values) + 10))
    chosen = pick_exactly(np.array(values, np.int64), count, wanted).tolist()
    assert len(set(chosen)) == count
    best = min(abs(sum(some) - wanted) for some in itertools.combinations(values, count))
    assert abs(sum(values[each] for each in chosen) - wanted) <= max(best, *values)


@given(sizes, sizes, st.integers(-80, 80))
def test_an_exchange_is_the_nearest_there_is(inside: list[int], outside: list[int], wanted: int) -> None:
    """Rule: the pair whose difference is nearest, or none where every exchange is as far off as no exchange."""
    ascending = np.array(sorted(inside), np.int64), np.array(sorted(outside), np.int64)
    best = min(abs(out - into - wanted) for into in inside for out in outside)
    found = nearest_exchange(*ascending, wanted)
    if found is None:
        assert best >= abs(wanted)
    else:
        assert abs(ascending[1][found[1]] - ascending[0][found[0]] - wanted) == best < abs(wanted)


def test_nothing_to_exchange_with_is_no_exchange() -> None:
    empty = np.zeros(0, np.int64)
    assert nearest_exchange(empty, np.array([1]), 1) is None
    assert nearest_exchange(np.array([1]), empty, 1) is None
