from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, tp

from kadmin.plan.copied import (
    Copied,
    Sample,
    copied,
    eta_of,
    rate_of,
    replicas_to_measure,
    sizes_told,
    with_sample,
)
from kadmin.plan.model import PartitionTarget

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition

A = PartitionTarget(tp("a-0"), (3, 4), (1, 2), size_bytes=100)
B = PartitionTarget(tp("b-0"), (1, 3), (1, 2))
NEW_ORDER = PartitionTarget(tp("c-0"), (2, 1), (1, 2))
STATE = cluster(
    {"a-0": (3, 4, 1, 2), "b-0": (1, 3, 2)}, states={"a-0": (2, (1, 2)), "b-0": (1, (1, 2))}
)


def sampled(*points: tuple[float, int, int]) -> tuple[Sample, ...]:
    """Return what is averaged after samples of time, bytes copied, and bytes left on one broker."""
    each = (Sample(at, Copied(done, 10**6, left, left, left)) for at, done, left in points)
    return list(accumulate(each, with_sample, initial=tuple[Sample, ...]()))[-1]


def test_bytes_inside_partitions_count_and_never_more_than_the_leader_has() -> None:
    on_disk = {2: {tp("a-0"): 100}, 3: {tp("a-0"): 60, tp("b-0"): 900}, 4: {tp("a-0"): 20}}
    found = copied([[A, NEW_ORDER], [B]], {tp("c-0")}, STATE, {tp("b-0"): 50}, on_disk)
    assert found is not None
    assert (found.done, found.total) == (60 + 20 + 50, 250)
    assert found.left == 120, "broker 2 sends 40 and 80, then nothing is left"


def test_waves_follow_each_other_and_what_is_finished_is_copied_whole() -> None:
    def counted(finished: set[TopicPartition]) -> tuple[int, int, float]:
        found = copied([[A], [B]], finished, STATE, {tp("b-0"): 50}, {})
        assert found is not None
        return found.done, found.total, found.left

    assert counted(set()) == (0, 250, 200 + 50)
    assert counted({tp("a-0")}) == (200, 250, 50)


def test_what_brokers_say_takes_precedence_and_an_unknown_size_makes_all_unknown() -> None:
    found = copied([[A]], set(), STATE, {tp("a-0"): 70}, {})
    assert found is not None
    assert (found.total, found.left) == (140, 140)
    assert copied([[A, B]], set(), STATE, {}, {}) is None
    assert copied([[NEW_ORDER]], set(), STATE, {}, {}) == Copied(0, 0, 0, 0, 0), (
        "a new order copies nothing"
    )


def test_a_broker_that_lags_by_a_burst_does_not_stretch_the_remaining_time() -> None:
    """Two brokers of 100 MB at 2 MB/s each fetch 4 MB at a time, the second one later."""

    def at(second: float, first: int, other: int) -> Sample:
        moves = [PartitionTarget(tp(f"a-{n}"), (4 + n,), (2 + n,), size_bytes=100) for n in (0, 1)]
        found = copied(
            [moves], set(), cluster({}), {}, {4: {tp("a-0"): first}, 5: {tp("a-1"): other}}
        )
        assert found is not None
        return Sample(second, found)

    samples = (at(0, 0, 0), at(2, 8, 4))
    eta_s = eta_of(samples, None)
    assert eta_s is not None
    assert eta_s == pytest.approx(32.0), (
        "96 MB at 3 MB/s, and not at the 2 MB/s of the one that has the most left"
    )


def test_a_broker_that_has_little_to_do_does_not_hide_the_busy_one() -> None:
    def at(second: float, busy: int, idle: int) -> Sample:
        moves = [
            PartitionTarget(tp("a-0"), (4,), (2,), size_bytes=1000),
            PartitionTarget(tp("a-1"), (5,), (3,), size_bytes=100),
        ]
        found = copied(
            [moves], set(), cluster({}), {}, {4: {tp("a-0"): busy}, 5: {tp("a-1"): idle}}
        )
        assert found is not None
        return Sample(second, found)

    assert eta_of((at(0, 0, 0), at(2, 20, 100)), None) == pytest.approx(98.0, rel=0.01)


def test_while_only_brokers_with_little_to_do_copy_the_remaining_time_is_not_known() -> None:
    def at(second: float, busy: int, idle: int) -> Sample:
        moves = [
            PartitionTarget(tp("a-0"), (4,), (2,), size_bytes=10**7),
            PartitionTarget(tp("a-1"), (5,), (3,), size_bytes=4 * 10**6),
        ]
        found = copied(
            [moves], set(), cluster({}), {}, {4: {tp("a-0"): busy}, 5: {tp("a-1"): idle}}
        )
        assert found is not None
        return Sample(second, found)

    samples = (at(0, 0, 0), at(2, 0, 70_000))
    assert rate_of(samples) == pytest.approx(35_000.0)
    assert eta_of(samples, None) is None, "2^8 times less of 35 kB/s would be hours"
    assert eta_of((*samples, at(12, 10**6, 10**6)), None) == pytest.approx(108.0, rel=0.01)


def test_only_leaders_and_receivers_are_measured() -> None:
    assert replicas_to_measure([A], [B], STATE) == {
        2: {tp("a-0")},
        3: {tp("a-0")},
        4: {tp("a-0")},
        1: {tp("b-0")},
    }


def test_a_size_is_that_of_the_leader_and_not_known_while_the_leader_is_silent() -> None:
    assert sizes_told([A], STATE, {2: {tp("a-0"): 90}, 3: {tp("a-0"): 100}}) == {tp("a-0"): 90}
    assert sizes_told([A], STATE, {3: {tp("a-0"): 100}}) == {}


def test_a_partition_that_was_not_read_has_the_size_of_its_first_replica_before_or_after() -> None:
    away = PartitionTarget(tp("z-0"), (3, 4), (1, 2))
    assert replicas_to_measure([], [away], STATE) == {1: {tp("z-0")}, 3: {tp("z-0")}}
    assert sizes_told([away], STATE, {1: {}, 3: {tp("z-0"): 9}}) == {tp("z-0"): 9}
    assert sizes_told([away], STATE, {3: {tp("z-0"): 9}}) == {}
    assert sizes_told([away], STATE, {1: {}, 3: {}}) == {}


def test_a_leader_that_has_deleted_its_replica_has_no_size_and_an_empty_one_has_0() -> None:
    assert sizes_told([A], STATE, {2: {}}) == {}
    assert sizes_told([A], STATE, {2: {tp("a-0"): 0}}) == {tp("a-0"): 0}


def test_nothing_is_known_before_the_first_growth() -> None:
    assert rate_of(()) is None
    idle = sampled((0, 500, 100), (2, 500, 100), (4, 500, 100))
    assert rate_of(idle) is None
    assert eta_of(idle, None) is None


def test_what_an_earlier_run_copied_and_the_time_before_the_first_byte_do_not_count() -> None:
    samples = sampled((0, 500, 100), (2, 500, 100), (4, 520, 90))
    assert rate_of(samples) == pytest.approx(10.0)
    assert eta_of(samples, None) == pytest.approx(18.0)


def test_the_rate_is_that_of_the_last_half_minute_and_falls_in_a_stall() -> None:
    fast = [(float(at), 100 * at, 10_000 - 100 * at) for at in range(0, 40, 2)]
    slow = [(38.0 + at, 3800 + 10 * at, 6200 - 10 * at) for at in range(2, 40, 2)]
    assert rate_of(sampled(*fast)) == pytest.approx(100.0)
    assert rate_of(sampled(*fast, *slow)) == pytest.approx(10.0)
    stalled = [(40.0 + at, 3800, 6200) for at in range(0, 40, 2)]
    assert rate_of(sampled(*fast, *stalled)) == 0
    assert eta_of(sampled(*fast, *stalled), None) is None


def test_rare_samples_are_averaged_over_more_than_half_a_minute() -> None:
    """As where whole partitions are counted, one in ten minutes."""
    samples = sampled(*((600.0 * n, 6000 * n, 100_000 - 6000 * n) for n in range(10)))
    assert rate_of(samples) == pytest.approx(10.0)


def test_the_remaining_time_is_never_below_what_the_throttle_allows() -> None:
    samples = sampled((0, 0, 1000), (2, 100, 900))
    assert eta_of(samples, None) == pytest.approx(18.0)
    assert eta_of(samples, 25) == pytest.approx(36.0)
    assert eta_of(samples, 500) == pytest.approx(18.0)


def test_copies_that_shrank_begin_the_average_anew() -> None:
    assert rate_of(sampled((0, 0, 1000), (2, 100, 900), (4, 40, 960))) is None
