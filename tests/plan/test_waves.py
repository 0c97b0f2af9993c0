from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.plan.model import PartitionTarget, WaveLimits
from kadmin.plan.waves import ZOOKEEPER_LIMITS, added, moved_bytes, removed, schedule

brokers = st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True).map(tuple)
targets = st.lists(
    st.builds(
        lambda number, target, current, size: PartitionTarget(TopicPartition("t", number), target, current, size),
        st.integers(0, 10_000),
        brokers,
        brokers,
        st.integers(0, 1_000),
    ),
    unique_by=lambda target: target.partition,
    max_size=60,
)
limits = st.builds(
    WaveLimits,
    max_partitions=st.integers(1, 20),
    max_moves_per_broker=st.none() | st.integers(1, 6),
    max_bytes=st.none() | st.integers(4_000, 20_000),
    max_payload=st.integers(200, 4_000),
)


@given(targets, limits)
def test_waves_partition_the_plan_and_each_keeps_every_limit(plan: list[PartitionTarget], limit: WaveLimits) -> None:
    """Waves partition the plan, each within its caps."""
    waves = schedule(plan, limit)
    published = [target for wave in waves for target in wave.reassignments]
    assert sorted(w.partition for w in published) == sorted(w.partition for w in plan)
    for index, wave in enumerate(waves):
        assert wave.index == index
        assert 1 <= len(wave.reassignments) <= limit.max_partitions
        assert len(wave.payload) <= min(limit.max_payload, ZOOKEEPER_LIMITS.max_bytes)
        assert wave.moved_bytes == sum(moved_bytes(w) or 0 for w in wave.reassignments)
        if limit.max_bytes is not None:
            assert wave.moved_bytes is not None
            assert wave.moved_bytes <= limit.max_bytes
        for broker in range(13):
            moves_in = sum(broker in added(w) for w in wave.reassignments)
            moves_out = sum(broker in removed(w) for w in wave.reassignments)
            assert wave.moves_in.get(broker, 0) == moves_in
            assert wave.moves_out.get(broker, 0) == moves_out
            assert max(moves_in, moves_out) <= (limit.max_moves_per_broker or 1_000)


@given(targets)
def test_without_tight_limits_the_order_is_the_plans(plan: list[PartitionTarget]) -> None:
    waves = schedule(plan, WaveLimits())
    assert [w.partition for wave in waves for w in wave.reassignments] == [w.partition for w in plan]


def test_the_payload_is_exactly_what_is_published() -> None:
    wave = schedule(
        [PartitionTarget(tp("orders-0"), (1, 2), (2, 1)), PartitionTarget(tp("orders-1"), (3,))], WaveLimits()
    )[0]
    assert json.loads(wave.payload) == {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "replicas": [1, 2]},
            {"topic": "orders", "partition": 1, "replicas": [3]},
        ],
    }


def test_a_blocked_broker_does_not_leave_a_wave_half_empty() -> None:
    plan = [PartitionTarget(tp(f"a-{n}"), (1, 9), (1, 2)) for n in range(3)] + [
        PartitionTarget(tp("b-0"), (1, 8), (1, 2))
    ]
    first = schedule(plan, WaveLimits(max_moves_per_broker=2))[0]
    assert [str(w.partition) for w in first.reassignments] == ["a-0", "a-1"]
    plan[-1] = PartitionTarget(tp("b-0"), (1, 8), (1, 3))
    first = schedule(plan, WaveLimits(max_moves_per_broker=2))[0]
    assert [str(w.partition) for w in first.reassignments] == ["a-0", "a-1", "b-0"]


@pytest.mark.parametrize(
    ("target", "limit", "cause"),
    [
        (PartitionTarget(tp(f"{'x' * 200}-0"), (1,), (2,)), WaveLimits(max_payload=200), "max_payload"),
        (PartitionTarget(tp("t-0"), (1,), (2,)), WaveLimits(max_bytes=10), "has no size_bytes"),
        (PartitionTarget(tp("t-0"), (1, 3), (2, 4), 100), WaveLimits(max_bytes=199), "more than max_bytes: 199"),
        (PartitionTarget(tp("t-0"), (1,), (2,)), WaveLimits(max_moves_per_broker=0), "max_moves_per_broker"),
    ],
)
def test_an_entry_that_fits_in_no_wave_is_refused_by_name(
    target: PartitionTarget, limit: WaveLimits, cause: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        schedule([target], limit)
    assert str(target.partition) in refused.value.message
    assert cause in (refused.value.cause or "")


def test_no_wave_passes_zookeepers_packet_whatever_is_asked() -> None:
    plan = [PartitionTarget(TopicPartition(f"{'x' * 200}{n}", 0), (1, 2, 3), (4, 5, 6)) for n in range(9_000)]
    waves = schedule(plan, WaveLimits(max_partitions=100_000, max_payload=10_000_000))
    assert len(waves) > 1
    for wave in waves:
        checks = sum(len(target.partition.topic) + 120 for target in wave.reassignments)
        assert len(wave.payload) + checks <= ZOOKEEPER_LIMITS.max_bytes


def test_a_pure_reorder_moves_nothing() -> None:
    target = PartitionTarget(tp("t-0"), (2, 1), (1, 2))
    assert (added(target), removed(target), moved_bytes(target)) == ((), (), 0)
