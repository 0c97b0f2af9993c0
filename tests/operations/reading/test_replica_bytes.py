"""Brokers that cannot be asked for the bytes of copies: a note, and a run that goes on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, moving, tp
from support.executor.fast_clock import FastClock

from kadmin.cluster.log_dirs import LogDirs
from kadmin.cluster.model import Endpoint
from kadmin.cluster.servers import PLAIN
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.operations.decide.actions import Memory, Observed
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.events import Note
from kadmin.operations.reading import replica_bytes
from kadmin.operations.reading.replica_bytes import SILENCE_S, BrokerBackoff, ReplicaBytes
from kadmin.plan.copied import SAMPLE_S
from kadmin.plan.model import Elect, PartitionTarget
from kadmin.worlds.kafka.brokers import KafkaBrokers, listeners_of

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.events import Event

TARGET = PartitionTarget(tp("a-0"), (1, 4), (1, 2), size_bytes=100)
WORK = ReassignmentWork(((TARGET,),), (TARGET,), Elect.NONE)
STILL = cluster({"a-0": (1, 2)})
COPYING = moving(
    cluster({"a-0": (1, 4, 2)}, states={"a-0": (1, (1, 2))}), "a-0", adding=(4,), removing=(2,)
)


def listening(state: ClusterState, protocol: str) -> ClusterState:
    at = Endpoint("EXTERNAL", "127.0.0.1", 1, protocol)
    return replace(
        state,
        brokers={number: replace(each, endpoints=(at,)) for number, each in state.brokers.items()},
    )


def brokers_of(state: ClusterState) -> KafkaBrokers:
    return KafkaBrokers(listeners_of(state, PLAIN))


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        ("PLAINTEXT", "Nothing listens at 127.0.0.1:1,127.0.0.1:1,127.0.0.1:1,127.0.0.1:1."),
        ("SSL", "no broker has a PLAINTEXT listener"),
    ],
)
def test_brokers_that_do_not_answer_are_told_once_and_left_alone_for_a_while(
    monkeypatch: pytest.MonkeyPatch, protocol: str, reason: str
) -> None:
    monkeypatch.setattr(replica_bytes, "PATIENCE_S", 0.2)
    told: list[Event] = []
    clock = FastClock()
    observed = Observed(listening(COPYING, protocol), (), NODES)
    with ReplicaBytes(WORK, brokers_of, clock, told.append) as asking:
        seen = []
        for at in (0.0, SAMPLE_S, 2 * SAMPLE_S, SAMPLE_S + SILENCE_S + 1):
            clock.time = at
            seen.append(asking.measure(observed, Memory()))
    assert [(each.sizes, each.on_disk) for each in seen] == [({}, {})] * 4
    assert WORK.tally(seen[-1], Memory()).done_bytes == 0, (
        "the plan's size counts, when the partition is whole"
    )
    (note,) = told
    assert isinstance(note, Note)
    assert note.text.startswith(f"progress counts whole partitions: {reason}")


def test_nothing_is_asked_while_nothing_copies() -> None:
    """The address would be told as one that does not answer."""
    told: list[Event] = []
    with ReplicaBytes(WORK, brokers_of, FastClock(), told.append) as asking:
        assert (
            asking.measure(Observed(listening(STILL, "PLAINTEXT"), (), NODES), Memory()).on_disk
            == {}
        )
    assert told == []


def test_a_broker_that_misses_one_sample_is_asked_again_at_the_next() -> None:
    missed = LogDirs(
        {1: {}}, {4: UnreachableError("Broker 4 did not describe its log directories.")}
    )
    both = LogDirs({1: {}, 4: {}}, {})
    silences = BrokerBackoff()
    left_alone = [
        list(silences.heard(found, now)) for now, found in enumerate([missed, both, missed, missed])
    ]
    assert left_alone == [[], [], [], [4]]
    assert [silences.is_over(broker, 4) for broker in (1, 4)] == [True, False]
    assert silences.is_over(4, 3 + SILENCE_S)


def test_a_broker_that_cannot_tell_is_left_alone_at_once() -> None:
    too_old = LogDirs({}, {4: NotCompletedError("Broker 4 is too old.")})
    assert list(BrokerBackoff().heard(too_old, 0)) == [4]
