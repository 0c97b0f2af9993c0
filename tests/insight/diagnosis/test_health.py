"""What counts as trouble that is new since an operation began."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, tp

from kadmin.cluster.model import Controller, QuorumMember
from kadmin.insight.diagnosis.health import LAG_S, health_of, new_trouble

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas

HEALTHY = cluster({"foo-0": (1, 2), "foo-1": (2, 3)})
NEVER = QuorumMember(103, None, None)


def quorum(*seconds: float) -> tuple[QuorumMember, ...]:
    """Return voters from 101 on that fetched and were caught up so many seconds ago."""
    return tuple(QuorumMember(101 + place, each, each) for place, each in enumerate(seconds))


@pytest.mark.parametrize(
    ("voters", "trouble"),
    [
        ((), ()),
        (quorum(0.0, 0.5, 0.5), ()),
        (quorum(0.0, 0.5, LAG_S), ()),
        (quorum(0.0, 0.5, LAG_S + 1), ("controllers more than 60 s behind the active one: 103",)),
        (quorum(0.0, 30.0, 30.0), ("no majority of the controllers follows the active one",)),
        ((*quorum(0.0, 0.5), NEVER), ()),
        ((*quorum(0.0, 30.0), NEVER), ("no majority of the controllers follows the active one",)),
    ],
)
def test_controllers_close_the_gate(
    voters: tuple[QuorumMember, ...], trouble: tuple[str, ...]
) -> None:
    now = replace(HEALTHY, controller=Controller(101, voters=voters))
    assert new_trouble(health_of(HEALTHY), now, ()) == trouble


def test_a_controller_that_was_behind_before_is_no_news() -> None:
    late = replace(HEALTHY, controller=Controller(101, voters=quorum(0.0, 0.5, LAG_S + 1)))
    assert new_trouble(health_of(late), late, ()) == ()


def test_brokers_and_partitions() -> None:
    """Without broker 1 partition foo-0 waits for it: as the last of the ISR, or as an eligible
    leader.
    """
    alive = {number: each for number, each in HEALTHY.brokers.items() if number != 1}

    def offline(isr: Replicas, elr: Replicas = (), last: Replicas = ()) -> ClusterState:
        found = replace(
            HEALTHY.states[tp("foo-0")], leader=-1, isr=isr, elr=elr, last_known_elr=last
        )
        return replace(HEALTHY, brokers=alive, states={**HEALTHY.states, tp("foo-0"): found})

    gone = "brokers missing: 1"
    for now, waits in (
        (offline((1,)), "waiting for broker 1"),
        (offline((), elr=(1,), last=(1,)), "waiting for broker 1"),
        (offline((), last=(1,)), "no replica may lead without a loss: foo-0"),
    ):
        assert new_trouble(health_of(HEALTHY), now, ()) == (
            gone,
            f"partitions offline: foo-0, {waits}",
        )
        assert new_trouble(health_of(HEALTHY), now, (tp("foo-0"),)) == (gone,)
