"""New partitions: the most even counts that racks allow, against every way to place them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, combinations_with_replacement, product
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster

from kadmin.plan.new_partitions import PartitionPlacer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas

TOPIC = "t"


@st.composite
def cases(draw: st.DrawFn) -> tuple[ClusterState, int]:
    """A cluster of up to five brokers, on up to four racks or without some, and a number."""
    brokers = range(1, draw(st.integers(1, 5)) + 1)
    rack = st.sampled_from([None, "a", "b", "c", "d"])
    racks = {broker: draw(rack) for broker in brokers}
    lists = st.lists(st.sampled_from(brokers), min_size=1, max_size=4, unique=True).map(tuple)
    held = {f"x-{number}": each for number, each in enumerate(draw(st.lists(lists, max_size=6)))}
    state = cluster({**held, f"{TOPIC}-0": draw(lists)}, brokers=racks)
    return state, draw(st.integers(1, 3))


def spread(state: ClusterState, replicas: Iterable[int]) -> tuple[int, int]:
    """Return how bad a list is: the racks that it is not on, and its most replicas on one."""
    named = any(broker.rack for broker in state.brokers.values())
    of = {each: found.rack or str(each) for each, found in state.brokers.items()}
    on = Counter(of[each] for each in replicas)
    return (-len(on), max(on.values())) if named else (0, 0)


def unevenness(held: Mapping[int, int], more: Iterable[int]) -> int:
    """Return the sum of the squares of counts, which is least where they are most even."""
    counts = Counter(held)
    counts.update(more)
    return sum(number**2 for number in counts.values())


def best_lists(state: ClusterState, factor: int) -> list[Replicas]:
    """Return every set of brokers that is on as many racks as possible."""
    every = list(combinations(sorted(state.brokers), factor))
    best = min(spread(state, each) for each in every)
    return [each for each in every if spread(state, each) == best]


@given(cases())
def test_no_lists_on_as_many_racks_have_more_even_counts(case: tuple[ClusterState, int]) -> None:
    """Rule: racks first, then replicas, then leaders; everything that exists stays."""
    state, number = case
    factor = len(state.topics[TOPIC].replicas[0])
    new = PartitionPlacer(state).place(TOPIC, number)
    allowed = best_lists(state, factor)
    assert len(new) == number
    assert all(tuple(sorted(each)) in allowed for each in new)
    lists = state.assignment.values()
    held = Counter(broker for each in lists for broker in each)
    reached = unevenness(held, (broker for each in new for broker in each))
    every = list(combinations_with_replacement(allowed, number))
    uneven = {some: unevenness(held, (b for each in some for b in each)) for some in every}
    assert reached == min(uneven.values())
    counts = Counter(broker for each in new for broker in each)
    alike = [some for some in every if Counter(b for each in some for b in each) == counts]
    led = Counter(each[0] for each in lists)
    firsts = {tuple(sorted(each)) for some in alike for each in product(*some)}
    assert unevenness(led, (each[0] for each in new)) == min(
        unevenness(led, each) for each in firsts
    )


def test_an_empty_broker_gets_new_partitions_and_leads_them() -> None:
    state = cluster(
        {"t-0": (1,), "x-0": (1,), "x-1": (2,), "x-2": (2,)}, brokers=dict.fromkeys((1, 2, 3))
    )
    assert PartitionPlacer(state).place(TOPIC, 2) == ((3,), (3,))


def test_the_next_leaders_of_a_brokers_partitions_differ() -> None:
    state = cluster({"t-0": (1, 2, 3)}, brokers=dict.fromkeys((1, 2, 3)))
    new = PartitionPlacer(state).place(TOPIC, 5)
    pairs = Counter(each[:2] for each in (*new, (1, 2, 3)))
    assert max(pairs.values()) == 1
    assert Counter(each[0] for each in (*new, (1, 2, 3))) == {1: 2, 2: 2, 3: 2}
