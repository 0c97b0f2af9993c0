"""Where the topic of lock and record is placed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from support.cluster.states import cluster, tp

from kadmin.operations.decide.record_topic import choose_brokers, vacated_brokers
from kadmin.plan.model import PartitionTarget

PARTITIONS = 2


@given(
    racks=st.dictionaries(st.integers(0, 9), st.sampled_from(["r1", "r2", "r3", None]), min_size=1),
    avoid=st.frozensets(st.integers(0, 9)),
)
def test_replicas_are_on_live_brokers_over_racks_and_on_none_to_avoid(
    racks: dict[int, str | None], avoid: frozenset[int]
) -> None:
    placed = choose_brokers(racks, avoid, PARTITIONS)
    others = racks.keys() - avoid
    copies = min(3, len(racks))
    assert list(placed) == [0, 1]
    for replicas in placed.values():
        assert len(set(replicas)) == len(replicas) == copies
        assert set(replicas) <= racks.keys()
        assert len(set(replicas) & others) == min(copies, len(others)), (
            "those to avoid hold only what is left over"
        )
        if len(others) >= copies:
            reached = {racks[broker] for broker in replicas}
            assert len(reached) == min(copies, len({racks[broker] for broker in others}))
    if copies > 1:
        assert placed[0][0] != placed[1][0] or len(others) == 1, "leaders are on two brokers"


def test_a_fourth_broker_takes_its_share() -> None:
    racks: dict[int, str | None] = {1: "r1", 2: "r2", 3: "r3", 4: "r1"}
    assert choose_brokers(racks, (), PARTITIONS) == {0: (1, 2, 3), 1: (4, 2, 3)}
    assert choose_brokers(racks, {1}, PARTITIONS) == {0: (2, 3, 4), 1: (3, 4, 2)}


def test_a_broker_that_loses_replicas_and_gets_none_is_vacated() -> None:
    before = cluster({"a-0": (1, 2), "a-1": (2, 3), "b-0": (4, 5)})
    targets = [
        PartitionTarget(tp("a-0"), (3, 2)),
        PartitionTarget(tp("a-1"), (2, 3)),
        PartitionTarget(tp("x-0"), (3,)),
    ]
    assert vacated_brokers(targets, before) == {1}, (
        "broker 4 is not touched, broker 3 gets what it holds"
    )


def test_a_broker_that_is_demoted_is_vacated() -> None:
    before = cluster({"a-0": (1, 2), "a-1": (2, 1), "a-2": (2, 3)})
    targets = [PartitionTarget(tp("a-0"), (2, 1)), PartitionTarget(tp("a-2"), (2, 3))]
    assert vacated_brokers(targets, before) == {1}
