from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import CLUSTER_ID, cluster, moving, tp

from kadmin.cluster.model import NO_LEADER
from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.actions import Finish, Memory, Observed, Wait
from kadmin.operations.decide.catch_up import CATCH_UP, catch_up_plan, catch_up_work, to_catch_up
from kadmin.operations.decide.kinds import plan_type, record_of, spec_of
from kadmin.operations.decide.spec import Tally
from kadmin.operations.record.codec import decode_record, encode_record
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationKind, OperationState
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.plan.model import ThrottleBy, ThrottleSpec
from kadmin.plan.pairs import pairs_of
from kadmin.plan.throttle import FOLLOWER_REPLICAS, LEADER_REPLICAS, throttled

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action

ASSIGNMENT = {"a-0": (1, 3), "a-1": (3, 2, 1), "b-0": (1, 2), "c-0": (3,)}
ALIVE = {1: None, 2: None, 3: None}
AWAY = {1: None, 2: None}
BEHIND = {"a-0": (1, (1,)), "a-1": (2, (2, 1)), "c-0": (3, (3,))}
THROTTLE = ThrottleSpec(ThrottleBy.RATE, 5_000)


def seen(*in_sync: str, away: bool = False) -> ClusterState:
    """The cluster with broker 3 away, or behind but for partitions."""
    behind = {name: state for name, state in BEHIND.items() if name not in in_sync}
    return cluster(ASSIGNMENT, brokers=AWAY if away else ALIVE, states=behind)


PLAN = catch_up_plan(3, to_catch_up(3, seen()), THROTTLE, seen())
WORK = catch_up_work(PLAN)


def act(
    state: ClusterState, request: StopRequest | None = None, now: float = 0.0, since: float = 0.0
) -> Action:
    observed = Observed(state, (), NODES, request)
    return decide(WORK, observed, remember(Memory(), observed, since), now)


def test_of_a_live_broker_the_replicas_out_of_sync_are_caught_up_of_another_one_all() -> None:
    assert set(to_catch_up(3, seen())) == {tp("a-0"), tp("a-1")}
    assert set(to_catch_up(3, seen("a-1"))) == {tp("a-0")}
    assert to_catch_up(3, seen("a-0", "a-1")) == {}
    assert set(to_catch_up(3, cluster(ASSIGNMENT, brokers=AWAY))) == {tp("a-0"), tp("a-1")}
    assert to_catch_up(4, seen()) == {}


def test_a_replica_that_a_reassignment_adds_is_left_to_it() -> None:
    state = moving(seen(), "a-0", adding=(3,))
    assert set(to_catch_up(3, state)) == {tp("a-1")}


def test_followers_are_throttled_on_the_broker_and_every_other_replica_as_leader() -> None:
    values = {str(entity): keys for entity, keys in throttled(WORK.targets, 5_000).items()}
    assert values["topics/a"] == {
        LEADER_REPLICAS: "0:1,1:2,1:1",
        FOLLOWER_REPLICAS: "0:3,1:3",
    }
    assert set(values) == {"topics/a", "brokers/1", "brokers/2", "brokers/3"}
    assert {pair for each in WORK.targets for pair in pairs_of(each, seen())} == {(1, 3), (2, 3)}


def test_the_record_alone_rebuilds_the_work() -> None:
    holder = Holder(Author("ann", "h1", 7), "op-1", "now", 10.0)
    record = record_of(CATCH_UP, PLAN, WORK, seen(), holder)
    read = decode_record(encode_record(record), "op-1")
    assert spec_of(read) == WORK
    assert (read.kind, read.plan_name, read.cluster_id) == (
        OperationKind.CATCH_UP,
        "catch-up-broker-3",
        CLUSTER_ID,
    )
    assert all(target.replicas == target.current for target in PLAN.reassignments)
    assert plan_type(OperationKind.CATCH_UP) is None


def test_it_waits_for_the_broker_and_then_for_each_replica() -> None:
    assert act(seen(away=True)) == Wait("broker 3 is not alive: waiting until it is back")
    assert act(seen()) == Wait("copying")
    assert act(seen("a-1")) == Wait("copying")
    stalled = act(seen("a-1"), now=130.0)
    assert stalled == Wait("stalled: no ISR has grown for 2 min: a-0")
    done = act(seen("a-0", "a-1"))
    assert done == Finish(OperationState.COMPLETED, "2 replicas of broker 3 in sync")


def test_in_the_isr_while_the_broker_is_away_is_not_in_sync() -> None:
    """As right after it stopped."""
    state = cluster(ASSIGNMENT, brokers=AWAY)
    assert isinstance(act(state), Wait)
    assert WORK.to_throttle(state) == (tp("a-0"), tp("a-1"))


def test_a_partition_without_a_source_is_named_with_the_brokers_that_have_one() -> None:
    state = cluster(
        ASSIGNMENT, brokers={2: None, 3: None}, states={**BEHIND, "a-0": (NO_LEADER, (1,))}
    )
    assert act(state) == Wait(
        "no replica is alive and in sync: a-0",
        "no replica is alive and in sync: a-0; copies wait for brokers: 1",
    )


def test_what_is_no_longer_on_the_broker_counts_as_done() -> None:
    moved = cluster({**ASSIGNMENT, "a-0": (1, 2)}, brokers=ALIVE, states={"a-1": (2, (2, 1))})
    assert act(moved) == Wait("copying")
    deleted = cluster({"b-0": (1, 2)}, brokers=ALIVE)
    found = act(deleted)
    assert isinstance(found, Finish)
    assert found.message == "0 replicas of broker 3 in sync; no longer on it: a-0, a-1"


def test_progress_counts_replicas_and_their_bytes() -> None:
    sizes = {tp("a-0"): 100, tp("a-1"): 1000}
    on_disk = {3: {tp("a-0"): 40, tp("a-1"): 1000}}
    observed = replace(Observed(seen("a-1"), (), NODES), sizes=sizes, on_disk=on_disk)
    assert WORK.tally(observed, Memory()) == Tally(1, 2, 1040, 1100)
    assert WORK.left_to_do(observed, Memory()) == ("a-0",)


@pytest.mark.parametrize(
    ("stop", "state"),
    [(Stop.PAUSE, OperationState.PAUSED), (Stop.CANCEL, OperationState.CANCELLED)],
)
@pytest.mark.parametrize("now", [0.0, 120.0], ids=["", "stalled"])
def test_a_request_ends_it_at_once(stop: Stop, state: OperationState, now: float) -> None:
    request = StopRequest(stop, "ann@h1", "then")
    for away in (True, False):
        found = act(seen(away=away), request, now)
        assert isinstance(found, Finish)
        assert found.state is state
        assert isinstance(found.error, StoppedByRequestError)
        assert "0 of 2 replicas of broker 3 in sync" in found.message
    assert act(seen("a-0", "a-1"), request) == act(seen("a-0", "a-1"))
