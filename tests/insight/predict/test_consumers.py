"""Who consumes what: Kafka's own assignors on recorded groups, and laws that hold for any group."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.insight.predict.consumers import (
    changed_hands,
    coordinating_partition,
    range_shares,
    round_robin_shares,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.insight.predict.consumers import Shares

# Random groups, and what RangeAssignor and RoundRobinAssignor of the 2.8.2 clients made of them.
RECORDED = json.loads(
    (Path(__file__).parent / "recorded" / "assignors-2.8.2.json").read_text(encoding="utf-8")
)


def plain(found: Shares) -> dict[str, list[str]]:
    return {member: [str(partition) for partition in each] for member, each in found.items()}


@pytest.mark.parametrize("case", RECORDED, ids=range(len(RECORDED)))
def test_shares_are_those_of_kafkas_own_assignors(case: dict[str, Any]) -> None:
    given_ranges = plain(range_shares(case["subscriptions"], case["partitions"]))
    # Kafka's goes through the topics in the order of a hash table, so only who gets what is its
    # word.
    assert {member: sorted(found) for member, found in given_ranges.items()} == case["range"]
    assert (
        plain(round_robin_shares(case["subscriptions"], case["partitions"])) == case["round_robin"]
    )


def test_what_changes_hands() -> None:
    before = range_shares({"a": ["t"], "b": ["t"]}, {"t": 5})
    assert plain(before) == {"a": ["t-0", "t-1", "t-2"], "b": ["t-3", "t-4"]}
    assert changed_hands(before, before) == ()
    assert changed_hands(before, range_shares({"a": ["t"], "b": ["t"]}, {"t": 7})) == (
        tp("t-3"),
        tp("t-5"),
        tp("t-6"),
    )
    assert changed_hands(before, range_shares({"a": ["t"]}, {"t": 5})) == (tp("t-3"), tp("t-4"))


@pytest.mark.parametrize(
    ("group", "absolute_hash"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99_162_322),
        ("Hello, World", 505_841_268),  # of a negative one
        ("grüße", 98_768_023),
        ("\U0001f600x", 54_959_989),  # two UTF-16 units, as Java counts
        ("polygenelubricants", 0),  # of the smallest int, which has no absolute value
    ],
)
def test_the_coordinator_follows_javas_hash(group: str, absolute_hash: int) -> None:
    assert [coordinating_partition(group, number) for number in (1, 50, 2**31)] == [
        absolute_hash % number for number in (1, 50, 2**31)
    ]


members = st.sets(
    st.text(alphabet="abcABC019-_.\ud7ff\U0001f600", min_size=1, max_size=6), min_size=1, max_size=5
)


@given(members, st.dictionaries(st.sampled_from("tuvw"), st.integers(0, 7), min_size=1), st.data())
def test_every_partition_that_somebody_wants_has_one_owner_who_wants_it(
    names: set[str], partitions: Mapping[str, int], data: st.DataObject
) -> None:
    """Whatever the subscriptions: nothing is shared out twice or left out, and nobody gets what he
    did not ask for.
    """
    topics = st.sets(st.sampled_from(sorted(partitions)))
    subscriptions = {name: data.draw(topics) for name in sorted(names)}
    wanted = {topic for found in subscriptions.values() for topic in found}
    kinds: tuple[Callable[[Mapping[str, set[str]], Mapping[str, int]], Shares], ...] = (
        range_shares,
        round_robin_shares,
    )
    for share in kinds:
        given_out = share(subscriptions, partitions)
        dealt = [partition for found in given_out.values() for partition in found]
        assert sorted(map(str, dealt)) == sorted(
            f"{topic}-{n}" for topic in wanted for n in range(partitions[topic])
        )
        assert all(
            p.topic in subscriptions[member] for member, found in given_out.items() for p in found
        )
        assert set(given_out) == names
