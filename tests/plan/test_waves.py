from __future__ import annotations

import json

import pytest
from hypothesis import given
from support.cluster.capabilities import LIMITS
from support.cluster.states import tp
from support.plan.wave_cases import check_waves, limits, targets

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.plan.model import PartitionTarget, WaveLimits
from kadmin.plan.waves import moved_bytes, schedule


@given(targets, limits)
def test_waves_partition_the_plan_and_each_keeps_every_limit(
    plan: list[PartitionTarget], limit: WaveLimits
) -> None:
    """Waves partition the plan, each within its caps."""
    check_waves(schedule(plan, limit, LIMITS), plan, limit)


@given(targets)
def test_without_tight_limits_the_order_is_the_plans(plan: list[PartitionTarget]) -> None:
    waves = schedule(plan, WaveLimits(), LIMITS)
    assert [w.partition for wave in waves for w in wave.reassignments] == [
        w.partition for w in plan
    ]


def test_the_payload_is_exactly_what_is_published() -> None:
    wave = schedule(
        [PartitionTarget(tp("orders-0"), (1, 2), (2, 1)), PartitionTarget(tp("orders-1"), (3,))],
        WaveLimits(),
        LIMITS,
    )[0]
    assert json.loads(wave.payload) == {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "replicas": [1, 2]},
            {"topic": "orders", "partition": 1, "replicas": [3]},
        ],
    }


def test_what_moves_between_disks_alone_is_in_a_wave_and_not_in_its_payload() -> None:
    inside = PartitionTarget(tp("orders-0"), (1, 2), (1, 2), log_dirs=("/data/b", "any"))
    (alone,) = schedule([inside], WaveLimits(), LIMITS)
    assert (alone.reassignments, alone.payload) == ((inside,), b"")
    (both,) = schedule([inside, PartitionTarget(tp("orders-1"), (3,))], WaveLimits(), LIMITS)
    assert [each["partition"] for each in json.loads(both.payload)["partitions"]] == [1]


def test_a_blocked_broker_does_not_leave_a_wave_half_empty() -> None:
    plan = [PartitionTarget(tp(f"a-{n}"), (1, 9), (1, 2)) for n in range(3)] + [
        PartitionTarget(tp("b-0"), (1, 8), (1, 2))
    ]
    first = schedule(plan, WaveLimits(max_moves_per_broker=2), LIMITS)[0]
    assert [str(w.partition) for w in first.reassignments] == ["a-0", "a-1"]
    plan[-1] = PartitionTarget(tp("b-0"), (1, 8), (1, 3))
    first = schedule(plan, WaveLimits(max_moves_per_broker=2), LIMITS)[0]
    assert [str(w.partition) for w in first.reassignments] == ["a-0", "a-1", "b-0"]


@pytest.mark.parametrize(
    ("target", "limit", "cause"),
    [
        (
            PartitionTarget(tp(f"{'x' * 200}-0"), (1,), (2,)),
            WaveLimits(max_payload=200),
            "max_payload",
        ),
        (PartitionTarget(tp("t-0"), (1,), (2,)), WaveLimits(max_bytes=10), "has no size_bytes"),
        (
            PartitionTarget(tp("t-0"), (1, 3), (2, 4), 100),
            WaveLimits(max_bytes=199),
            "more than max_bytes: 199",
        ),
        (
            PartitionTarget(tp("t-0"), (1,), (2,)),
            WaveLimits(max_moves_per_broker=0),
            "max_moves_per_broker",
        ),
    ],
)
def test_an_entry_that_fits_in_no_wave_is_refused_by_name(
    target: PartitionTarget, limit: WaveLimits, cause: str
) -> None:
    with pytest.raises(InvalidInputError) as refused:
        schedule([target], limit, LIMITS)
    assert str(target.partition) in refused.value.message
    assert cause in (refused.value.cause or "")


def test_no_wave_passes_zookeepers_packet_whatever_is_asked() -> None:
    plan = [
        PartitionTarget(TopicPartition(f"{'x' * 200}{n}", 0), (1, 2, 3), (4, 5, 6))
        for n in range(9_000)
    ]
    waves = schedule(plan, WaveLimits(max_partitions=100_000, max_payload=10_000_000), LIMITS)
    assert len(waves) > 1
    for wave in waves:
        checks = sum(len(target.partition.topic) + 120 for target in wave.reassignments)
        assert len(wave.payload) + checks <= LIMITS.max_bytes


def test_a_pure_reorder_moves_nothing() -> None:
    target = PartitionTarget(tp("t-0"), (2, 1), (1, 2))
    assert (target.added, target.removed, moved_bytes(target)) == ((), (), 0)
