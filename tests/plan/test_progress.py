from __future__ import annotations

import pytest
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.plan.model import PartitionTarget
from kadmin.plan.progress import Progress, in_flight, judge

TARGET = PartitionTarget(tp("orders-0"), replicas=(1, 2, 4), current=(1, 2, 3))


def test_done_needs_the_exact_order_every_target_in_sync_and_a_leader_among_them() -> None:
    assert judge(TARGET, cluster({"orders-0": (1, 2, 4)}), published=True) is Progress.DONE
    assert judge(TARGET, cluster({"orders-0": (2, 1, 4)}), published=False) is Progress.STALE


@pytest.mark.parametrize(("leader", "isr"), [(1, (1, 2)), (-1, (1, 2, 4)), (3, (1, 2, 4, 3))])
def test_at_the_target_but_not_healthy_is_settled(leader: int, isr: tuple[int, ...]) -> None:
    state = cluster({"orders-0": (1, 2, 4)}, states={"orders-0": (leader, isr)})
    assert judge(TARGET, state, published=True) is Progress.SETTLED


def test_named_in_the_node_is_running_even_at_the_target() -> None:
    """The topic znode reaches the target before the node disappears: done needs both."""
    state = with_node(cluster({"orders-0": (1, 2, 4)}), {"orders-0": (1, 2, 4)})
    assert judge(TARGET, state, published=True) is Progress.RUNNING


def test_another_target_in_the_node_is_not_ours() -> None:
    state = with_node(cluster({"orders-0": (1, 2, 3)}), {"orders-0": (4, 3, 2)})
    assert judge(TARGET, state, published=False) is Progress.WAITING


def test_adding_and_removing_that_lead_to_the_target_are_running() -> None:
    """From 2.4 on the list is the target followed by what will be removed."""
    state = moving(cluster({"orders-0": (1, 2, 4, 3)}), "orders-0", adding=(4,), removing=(3,))
    assert judge(TARGET, state, published=False) is Progress.RUNNING


def test_adding_and_removing_that_lead_elsewhere_are_stale() -> None:
    state = moving(cluster({"orders-0": (5, 1, 2, 3)}), "orders-0", adding=(5,), removing=(3,))
    assert judge(TARGET, state, published=True) is Progress.STALE


def test_the_bare_union_is_running_only_for_a_published_step() -> None:
    """Up to 2.3 a move in flight shows as the union alone, which a finished increase would show
    too.
    """
    state = cluster({"orders-0": (4, 1, 2, 3)})
    assert judge(TARGET, state, published=True) is Progress.RUNNING
    assert judge(TARGET, state, published=False) is Progress.STALE


def test_current_is_waiting_and_a_missing_partition_is_stale() -> None:
    assert judge(TARGET, cluster({"orders-0": (1, 2, 3)}), published=True) is Progress.WAITING
    assert judge(TARGET, cluster({"orders-1": (1, 2, 3)}), published=False) is Progress.STALE
    assert judge(TARGET, cluster({"other-0": (1, 2, 3)}), published=False) is Progress.STALE


def test_an_increase_of_the_replication_factor_is_done_when_it_is_in_sync() -> None:
    """There the union is the target itself."""
    target = PartitionTarget(tp("orders-0"), replicas=(1, 2), current=(1,))
    done = cluster({"orders-0": (1, 2)})
    short = cluster({"orders-0": (1, 2)}, states={"orders-0": (1, (1,))})
    assert judge(target, done, published=True) is Progress.DONE
    assert judge(target, short, published=True) is Progress.SETTLED


def test_in_flight_sees_the_node_and_the_api() -> None:
    state = moving(cluster({"a-0": (1, 2), "b-1": (2, 3), "c-0": (1, 2)}), "b-1", adding=(3,))
    assert in_flight(with_node(state, {"a-0": (1, 3)})) == (tp("a-0"), tp("b-1"))
    assert in_flight(cluster({"a-0": (1, 2)})) == ()
