"""Which brokers lack room on disk for the waves of a reassignment."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import tp

from kadmin.plan.disk_space import Shortage, shortages
from kadmin.plan.model import PartitionTarget

TO_3 = PartitionTarget(tp("a-0"), (1, 3), (1, 2), 6)
FROM_3 = PartitionTarget(tp("b-0"), (2, 1), (3, 1), 4)
LATER_TO_3 = PartitionTarget(tp("c-0"), (3,), (1,), 7)


def test_a_wave_makes_room_for_later_waves_only() -> None:
    assert shortages([[TO_3], [FROM_3], [LATER_TO_3]], {3: 9}) == ()
    short = Shortage(3, 9, 10, (tp("a-0"), tp("b-0")))
    assert shortages([[TO_3, replace(FROM_3, replicas=(3, 1), current=(2, 1))]], {3: 9}) == (short,)
    assert shortages([[TO_3], [FROM_3, LATER_TO_3]], {3: 12}) == (
        Shortage(3, 12, 13, (tp("a-0"), tp("c-0"))),
    )


def test_the_most_that_is_needed_at_one_time_is_told_with_its_partitions() -> None:
    last = PartitionTarget(tp("d-0"), (3,), (1,), 100)
    (short,) = shortages([[TO_3], [last], [replace(FROM_3, size_bytes=1)]], {1: 0, 3: 1})
    assert short == Shortage(3, 1, 106, (tp("a-0"), tp("d-0")))
    assert str(short) == "broker 3 has room for 1 B, 105 B less than the copies of a-0, d-0 need"


def test_unknown_never_counts_against_a_plan() -> None:
    assert shortages([[TO_3]], {2: 0, 3: None}) == ()
    assert shortages([[replace(TO_3, size_bytes=None)]], {3: 0}) == ()
    freed = replace(FROM_3, size_bytes=None)
    assert shortages([[freed], [TO_3, LATER_TO_3]], {3: 1}) == (), (
        "what broker 3 gives away may be enough"
    )
    assert shortages([[TO_3, freed], [LATER_TO_3]], {3: 1})[0].needed_bytes == 6


def test_a_new_order_of_replicas_needs_no_room() -> None:
    assert shortages([[PartitionTarget(tp("a-0"), (2, 1), (1, 2), 6)]], {1: 0, 2: 0}) == ()


SIZES = st.integers(0, 9)
REPLICAS = st.permutations([1, 2, 3, 4]).flatmap(
    lambda ids: st.integers(1, 3).map(lambda n: tuple(ids[:n]))
)
TARGETS = st.builds(
    lambda now, then, size: PartitionTarget(tp("t-0"), then, now, size), REPLICAS, REPLICAS, SIZES
)


@given(
    st.lists(st.lists(TARGETS, max_size=4), max_size=4),
    st.dictionaries(st.integers(1, 4), st.integers(0, 20)),
)
def test_a_broker_is_short_when_a_disk_of_that_room_would_be_full(
    waves: list[list[PartitionTarget]], disk_space: dict[int, int]
) -> None:
    """Copy every wave onto disks that only fill, then remove what it replaces."""
    left, full = dict(disk_space), set[int]()
    for wave in waves:
        for target in wave:
            for broker in set(disk_space) & set(target.replicas) - set(target.current or ()):
                left[broker] -= target.size_bytes or 0
        full |= {broker for broker in disk_space if left[broker] < 0}
        for target in wave:
            for broker in set(disk_space) & set(target.current or ()) - set(target.replicas):
                left[broker] += target.size_bytes or 0
    assert {each.broker_id for each in shortages(waves, disk_space)} == full
