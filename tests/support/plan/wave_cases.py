"""Random plans and limits, and what every cut into waves keeps."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from support.cluster.capabilities import LIMITS

from kadmin.cluster.model import TopicPartition
from kadmin.plan.model import PartitionTarget, WaveLimits
from kadmin.plan.waves import moved_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.plan.waves import Wave

brokers = st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True).map(tuple)
targets = st.lists(
    st.builds(
        lambda number, target, current, size: PartitionTarget(
            TopicPartition("t", number), target, current, size
        ),
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


def check_waves(waves: Sequence[Wave], plan: Sequence[PartitionTarget], limit: WaveLimits) -> None:
    """Assert that waves partition the plan, each within its limits and with the right figures."""
    published = [target for wave in waves for target in wave.reassignments]
    assert sorted(w.partition for w in published) == sorted(w.partition for w in plan)
    for index, wave in enumerate(waves):
        assert wave.index == index
        assert 1 <= len(wave.reassignments) <= limit.max_partitions
        assert len(wave.payload) <= min(limit.max_payload, LIMITS.max_bytes)
        assert wave.moved_bytes == sum(moved_bytes(w) or 0 for w in wave.reassignments)
        if limit.max_bytes is not None:
            assert wave.moved_bytes is not None
            assert wave.moved_bytes <= limit.max_bytes
        for broker in range(13):
            moves_in = sum(broker in w.added for w in wave.reassignments)
            moves_out = sum(broker in w.removed for w in wave.reassignments)
            assert wave.moves_in.get(broker, 0) == moves_in
            assert wave.moves_out.get(broker, 0) == moves_out
            assert max(moves_in, moves_out) <= (limit.max_moves_per_broker or 1_000)


def busiest(wave: Iterable[PartitionTarget]) -> int:
    """Return the most bytes in or out of one broker, every partition led by the first of its
    current replicas.
    """
    total: Counter[tuple[str, int]] = Counter()
    for target in wave:
        for broker in target.added:
            total["in", broker] += target.size_bytes or 0
            total["out", (target.current or target.replicas)[0]] += target.size_bytes or 0
    return max(total.values(), default=0)


def makespan(waves: Iterable[Wave]) -> int:
    """Return the time of all waves, one after the other, at a rate of one byte per second in and
    out of each broker.
    """
    return sum(busiest(wave.reassignments) for wave in waves)
