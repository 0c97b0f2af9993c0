from __future__ import annotations

import pytest
from support.cluster.capabilities import LIMITS
from support.cluster.states import cluster, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.diff import diff
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan, WaveLimits, WaveOrder


def test_a_dead_broker_that_is_drained_is_shown_before_and_after() -> None:
    """Nobody holds anything on it afterwards, and it is not alive: still a row."""
    state = cluster({"foo-0": (9, 1)}, states={"foo-0": (1, (1,))})
    found = diff(
        ReassignmentPlan(
            PlanHeader(name="drain"), (PartitionTarget(tp("foo-0"), replicas=(2, 1)),)
        ),
        state,
        LIMITS,
    )
    assert list(found.before) == list(found.after) == [1, 2, 3, 4, 9]
    assert (found.before[9].replicas, found.after[9].replicas) == (1, 0)


def test_plan_order_is_taken_where_disks_lack_room_for_the_shortest_waves() -> None:
    """The large partitions take one wave together, but broker 3 has room for one only after it gave
    the other.
    """
    moves = {"a-0": (3, 5, 100), "a-1": (6, 7, 10), "a-2": (1, 3, 100), "a-3": (8, 9, 10)}
    targets = tuple(
        PartitionTarget(tp(name), (to,), (of,), size) for name, (of, to, size) in moves.items()
    )
    plan = ReassignmentPlan(PlanHeader(), targets, limits=WaveLimits(max_partitions=2))
    state = cluster(
        {name: (of,) for name, (of, _, _) in moves.items()}, brokers=dict.fromkeys(range(1, 10))
    )
    for usable, pairs in (
        (100, [["a-0", "a-2"], ["a-1", "a-3"]]),
        (99, [["a-0", "a-1"], ["a-2", "a-3"]]),
    ):
        waves = diff(plan, state, LIMITS, ClusterFacts(usable={3: usable})).waves
        assert [[str(each.partition) for each in wave.reassignments] for wave in waves] == pairs


@pytest.mark.parametrize("order", WaveOrder)
def test_the_record_of_kadmin_itself_comes_last_one_partition_in_a_wave(order: WaveOrder) -> None:
    names = ("__kadmin-0", "a-0", "__kadmin-1", "b-0")
    targets = tuple(PartitionTarget(tp(name), (2,), (1,), 10) for name in names)
    plan = ReassignmentPlan(PlanHeader(), targets, order=order)
    waves = diff(plan, cluster(dict.fromkeys(names, (1,))), LIMITS).waves
    assert [[str(each.partition) for each in wave.reassignments] for wave in waves] == [
        ["a-0", "b-0"],
        ["__kadmin-0"],
        ["__kadmin-1"],
    ]
    assert [wave.index for wave in waves] == [0, 1, 2]


@pytest.mark.parametrize("order", WaveOrder)
def test_what_has_nothing_to_copy_from_comes_last_and_has_no_size(order: WaveOrder) -> None:
    """It waits for a broker, and the wave that holds it keeps no other partition waiting."""
    names = ("a-0", "__kadmin-0", "a-1", "b-0")
    targets = tuple(PartitionTarget(tp(name), (2,), (1,)) for name in names)
    state = cluster(dict.fromkeys(names, (1,)), states={"a-0": (NO_LEADER, ())})
    facts = ClusterFacts(sizes=dict.fromkeys(map(tp, names), 10))
    found = diff(ReassignmentPlan(PlanHeader(), targets, order=order), state, LIMITS, facts)
    assert [[str(each.partition) for each in wave.reassignments] for wave in found.waves] == [
        ["a-1", "b-0"],
        ["__kadmin-0"],
        ["a-0"],
    ]
    assert [wave.moved_bytes for wave in found.waves] == [20, 10, None], (
        "what a stale replica has says nothing"
    )


def test_bytes_of_a_broker_are_unknown_where_the_size_of_one_of_its_replicas_is() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("a-0"), (3, 2), (1, 2)),))
    found = diff(
        plan, cluster({"a-0": (1, 2), "a-1": (2, 4)}), LIMITS, ClusterFacts(sizes={tp("a-0"): 7})
    )
    assert {broker: load.size_bytes for broker, load in found.before.items()} == {
        1: 7,
        2: None,
        3: 0,
        4: None,
    }
    assert {broker: load.size_bytes for broker, load in found.after.items()} == {
        1: 0,
        2: None,
        3: 7,
        4: None,
    }
