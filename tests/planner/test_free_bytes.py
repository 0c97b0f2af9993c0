"""`spec.free`: frees bytes on one broker with the fewest bytes moved, and changes nothing else."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.planner.small_clusters import clusters, lists, propose, request

from kadmin.inventory import BrokerRow, ClusterInventory, PartitionRow
from kadmin.plan.model import FreeBytes, ProposalLimits, Racks
from kadmin.planner.kernel.smallest_cover import smallest_cover

FULL = ClusterInventory(
    "c",
    (BrokerRow(1, "a"), BrokerRow(2, "b"), BrokerRow(3, "a"), BrokerRow(4, "b")),
    tuple(
        PartitionRow("t", number, (1, 2), size_bytes=size)
        for number, size in enumerate((700, 600, 400, 90))
    ),
)


def test_the_fewest_bytes_leave_and_nothing_else_is_touched() -> None:
    proposed = propose(FULL, request(free=FreeBytes(1, 1000)))
    assert {key: set(row) for key, row in proposed.entries.items()} == {
        ("t", 1): {2, 3},
        ("t", 2): {2, 3},
    }
    assert (proposed.figures["moved_bytes"], proposed.figures["moves"]) == (1000, 2)
    assert proposed.figures["proved_optimal"]
    assert proposed.figures["after"]["rack_violations"] == 0


def test_a_moved_leader_hands_over_to_a_replica_that_has_the_data() -> None:
    assert propose(FULL, request(free=FreeBytes(1, 50))).entries == {("t", 3): (2, 3)}


def test_nothing_to_free_is_an_empty_plan() -> None:
    assert propose(FULL, request(free=FreeBytes(1, 0))).entries == {}


def test_a_broker_over_its_capacity_gives_bytes_and_receives_nothing() -> None:
    brokers = tuple(replace(row, capacity_bytes=1000) for row in FULL.brokers)
    proposed = propose(replace(FULL, brokers=brokers), request(free=FreeBytes(1, 790)))
    assert proposed.error is None
    assert proposed.figures["moved_bytes"] == 790
    assert all(1 not in row for row in proposed.entries.values())


def test_what_cannot_be_freed_names_the_broker_and_how_much_could_go() -> None:
    stays = request(free=FreeBytes(1, 1100), exclude_topics=("t",))
    assert "only 0 B could go elsewhere: brokers 1" in str(propose(FULL, stays).error)
    no_place = request(free=FreeBytes(1, 100), no_receive=(3,))
    assert str(propose(FULL, no_place).error).startswith("InfeasibleError: only 0 B")
    bare = replace(FULL, partitions=tuple(replace(row, size_bytes=None) for row in FULL.partitions))
    assert "spec.free counts bytes, but 4 partitions have no size_bytes" in str(
        propose(bare, stays).error
    )


def test_a_partition_that_breaks_the_racks_already_stays() -> None:
    """Its replicas on 2 and 4 share a rack whatever leaves broker 1; the planner changes nothing
    else to repair it.
    """
    crowded = PartitionRow("u", 0, (1, 2, 4), size_bytes=100)
    proposed = propose(
        replace(FULL, partitions=(*FULL.partitions, crowded)), request(free=FreeBytes(1, 90))
    )
    assert (proposed.error, list(proposed.entries)) == (None, [("t", 3)])
    alone = propose(replace(FULL, partitions=(crowded,)), request(free=FreeBytes(1, 90)))
    assert str(alone.error).startswith("InfeasibleError: only 0 B could go elsewhere: brokers 1")


def test_limits_cut_what_is_freed_and_say_so() -> None:
    proposed = propose(FULL, request(free=FreeBytes(1, 1000), limits=ProposalLimits(max_moves=1)))
    assert (list(proposed.entries), proposed.figures["left_out"]) == ([("t", 1)], 1)
    assert not proposed.figures["proved_optimal"]


def many(*sizes: int) -> ClusterInventory:
    return replace(
        FULL,
        partitions=tuple(
            PartitionRow("t", number, (1,), size_bytes=size) for number, size in enumerate(sizes)
        ),
    )


@pytest.mark.parametrize(
    ("wanted", "sizes", "moved"),
    [(20, [1] * 15 + [60] * 5, [60]), (100, [1] * 15 + [60] * 5, [60, 60])],
)
def test_one_large_replica_goes_where_many_small_ones_do_not_suffice(
    wanted: int, sizes: list[int], moved: list[int]
) -> None:
    """Of twenty replicas, the small ones together are less than what is wanted."""
    proposed = propose(many(*sizes), request(free=FreeBytes(1, wanted), racks=Racks.IGNORE))
    assert [sizes[number] for _, number in proposed.entries] == moved
    assert proposed.figures["proved_optimal"]


def test_the_largest_leaves_first() -> None:
    sizes = [10, 500, 30, 90, 200]
    proposed = propose(many(*sizes), request(free=FreeBytes(1, 825), racks=Racks.IGNORE))
    assert [sizes[number] for _, number in proposed.entries] == [500, 200, 90, 30, 10]


@given(st.integers(0, 2**32), st.integers(1, 60), st.floats(0.01, 1.0))
def test_no_other_choice_of_replicas_has_fewer_bytes(seed: int, count: int, part: float) -> None:
    """Rule: the least sum, and of as small ones the fewest replicas, where it is called proved."""
    sizes = np.random.default_rng(seed).integers(1, 40, count)
    wanted = max(1, int(sizes.sum() * part))
    cover = smallest_cover(sizes, wanted)
    fewest = {0: 0}
    for size in sizes.tolist():
        for total, members in sorted(fewest.items(), reverse=True):
            fewest[total + size] = min(fewest.get(total + size, count), members + 1)
    least = min(total for total in fewest if total >= wanted)
    assert int(sizes[cover.positions].sum()) == least or not cover.proved
    assert cover.fewest <= fewest[least] <= len(cover.positions) or not cover.proved
    few = np.count_nonzero(sizes < wanted) <= 36
    assert cover.proved >= few
    assert not few or len(cover.positions) == fewest[least]


@given(clusters(), st.integers(1, 8), st.floats(0, 1))
def test_exactly_enough_leaves_one_broker(
    cluster: ClusterInventory, broker: int, part: float
) -> None:
    """Rule: no subset of the replicas that may leave frees enough with fewer bytes; nothing else
    changes.
    """
    bare = replace(
        cluster, brokers=tuple(replace(row, capacity_bytes=None) for row in cluster.brokers)
    )
    giver = min(broker, len(bare.brokers))
    before, size = (
        lists(bare),
        {(row.topic, row.partition): row.size_bytes or 0 for row in bare.partitions},
    )
    able = [
        size[key] for key, row in before.items() if giver in row and len(row) < len(bare.brokers)
    ]
    assume(sum(able) > 0)
    wanted = max(1, int(sum(able) * part))
    proposed = propose(bare, request(free=FreeBytes(giver, wanted), racks=Racks.IGNORE))
    assert proposed.error is None
    for key, row in proposed.entries.items():
        assert set(before[key]) - set(row) == {giver}
        assert len(row) == len(set(row)) == len(before[key])
    sums = (
        sum(some) for count in range(len(able) + 1) for some in itertools.combinations(able, count)
    )
    assert sum(size[key] for key in proposed.entries) == min(
        total for total in sums if total >= wanted
    )
    assert proposed.figures["proved_optimal"]


@given(st.integers(0, 2**32), st.floats(0.01, 0.9))
def test_many_replicas_are_covered_within_one_percent(seed: int, part: float) -> None:
    """Rule: always enough, and with hundreds of sizes at most 1 % more than requested."""
    sizes = (np.random.default_rng(seed).lognormal(6, 1.5, 400) * 2**20).astype(np.int64)
    wanted = int(sizes.sum() * part)
    chosen = smallest_cover(sizes, wanted).positions
    assert len(set(chosen.tolist())) == len(chosen)
    assert wanted <= sizes[chosen].sum() <= wanted * 1.01 + sizes.min()
