"""Where copies come from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.cluster.states import cluster, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.copying import per_broker
from kadmin.plan.sources import lacks_source, sender_of

A = tp("a-0")


@pytest.mark.parametrize(
    ("leader", "isr", "sender"),
    [
        pytest.param(1, (1, 2), 1, id="the leader"),
        pytest.param(NO_LEADER, (5, 2), 2, id="the one that would lead"),
        pytest.param(
            5, (5, 1, 2), 2, id="a dead leader: the first live replica of the list in sync"
        ),
        pytest.param(NO_LEADER, (5,), None, id="dead: the ISR keeps its last member"),
        pytest.param(NO_LEADER, (), None, id="empty: with eligible leaders"),
        pytest.param(5, (5,), None, id="died a moment ago"),
    ],
)
def test_a_dead_broker_sends_nothing(leader: int, isr: tuple[int, ...], sender: int | None) -> None:
    state = cluster({"a-0": (5, 2, 1)}, states={"a-0": (leader, isr)})
    assert sender_of(A, (5, 2, 1), state) == sender
    assert lacks_source(A, state) is (sender is None)


def test_a_replica_on_a_failed_disk_is_no_source() -> None:
    state = cluster({"a-0": (1,)}, states={"a-0": (NO_LEADER, (1,))})
    failed = replace(state, states={A: replace(state.states[A], offline_replicas=(1,))})
    assert lacks_source(A, failed)
    assert not lacks_source(A, state)


def test_unknown_is_not_without_a_source() -> None:
    state = replace(cluster({"a-0": (5, 2)}), states={})
    assert not lacks_source(A, state)
    assert sender_of(A, (5, 2), state) == 2


def test_a_copy_without_a_sender_counts_where_it_is_received() -> None:
    assert per_broker([(None, (3,), 10), (1, (3,), 5)]) == (5, 15)
