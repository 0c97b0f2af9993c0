"""Partitions that fall out of sync while an operation copies."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, moving, tp

from kadmin.plan.out_of_sync import fell_out_of_sync, out_of_sync

REPLICAS = {"orders-0": (1, 2, 3), "orders-1": (2, 3), "payments-0": (3, 1)}
HEALTHY = cluster(REPLICAS)
ALL = (1, 2, 3, 4)
BEHIND = cluster(REPLICAS, states={"orders-0": (1, (1, 3)), "payments-0": (3, (3,))})


def alive(*brokers: int) -> dict[int, str | None]:
    return dict.fromkeys(brokers, "r1")


def test_a_live_follower_that_left_the_isr_counts_and_is_named() -> None:
    found = out_of_sync(HEALTHY, BEHIND)
    assert fell_out_of_sync(HEALTHY, BEHIND) == (tp("orders-0"), tp("payments-0"))
    assert found.is_exceeded
    assert found.reason == "out_of_sync is 2, not below 1: orders-0, payments-0"


def test_a_follower_that_was_behind_at_the_first_look_does_not_count() -> None:
    assert fell_out_of_sync(BEHIND, BEHIND) == ()
    found = out_of_sync(BEHIND, HEALTHY)
    assert not found.is_exceeded
    assert found.reason == "out_of_sync is 0, below 1"


@pytest.mark.parametrize(
    ("first", "last"), [(ALL, (1, 3, 4)), ((1, 3, 4), ALL)], ids=["died", "is back"]
)
def test_a_broker_that_is_dead_at_either_look_does_not_count(
    first: tuple[int, ...], last: tuple[int, ...]
) -> None:
    behind = {"orders-0": (1, (1, 3))}
    before = cluster(REPLICAS, brokers=alive(*first))
    assert fell_out_of_sync(before, cluster(REPLICAS, brokers=alive(*last), states=behind)) == ()


def test_a_replica_on_a_failed_disk_does_not_count() -> None:
    partition = tp("orders-0")
    failed = replace(BEHIND.states[partition], offline_replicas=(2,))
    last = replace(BEHIND, states={**BEHIND.states, partition: failed})
    assert fell_out_of_sync(HEALTHY, last) == (tp("payments-0"),)


def test_a_partition_that_is_reassigned_or_new_or_deleted_does_not_count() -> None:
    last = moving(BEHIND, "orders-0", adding=(4,), removing=(2,))
    assert fell_out_of_sync(HEALTHY, last) == (tp("payments-0"),)
    assert fell_out_of_sync(cluster({"orders-1": (2, 3)}), BEHIND) == ()
    assert fell_out_of_sync(HEALTHY, cluster({"orders-1": (2, 3)})) == ()


def test_a_replica_that_a_finished_move_added_or_removed_does_not_count() -> None:
    done = cluster({"orders-0": (1, 3, 4)}, states={"orders-0": (1, (1, 3))})
    assert fell_out_of_sync(HEALTHY, done) == ()


isrs = st.fixed_dictionaries(
    {
        name: st.sets(st.sampled_from(replicas), min_size=1).map(lambda each: tuple(sorted(each)))
        for name, replicas in REPLICAS.items()
    }
).map(lambda found: {name: (isr[0], isr) for name, isr in found.items()})
brokers = st.sets(st.sampled_from(ALL), min_size=1)


@given(isrs, isrs, brokers, brokers)
def test_what_counts_is_over_once_the_isr_is_what_it_was_at_first(
    before: dict[str, tuple[int, tuple[int, ...]]],
    after: dict[str, tuple[int, tuple[int, ...]]],
    first_alive: set[int],
    last_alive: set[int],
) -> None:
    first = cluster(REPLICAS, brokers=alive(*first_alive), states=before)
    last = cluster(REPLICAS, brokers=alive(*last_alive), states=after)
    found = fell_out_of_sync(first, last)
    lost = {tp(name) for name in REPLICAS if set(before[name][1]) - set(after[name][1])}
    assert set(found) <= lost
    assert set(found) == lost or first_alive & last_alive < set(ALL)
    assert fell_out_of_sync(first, cluster(REPLICAS, states=before)) == ()
    assert fell_out_of_sync(last, last) == ()
