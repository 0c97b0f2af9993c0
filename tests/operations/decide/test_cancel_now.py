"""The rules of `cancel --now`, row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from support.cluster.capabilities import NODES
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.cluster.model import NO_LEADER, Topic
from kadmin.errors import BusyError, NotCompletedError
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_S,
    STALLED_S,
    Finish,
    Memory,
    Observed,
    TakeBack,
    Wait,
)
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import CancelStep, Intent, Sending, WaveStep
from kadmin.plan.model import Elect, PartitionTarget
from kadmin.worlds.zookeeper.reader import not_begun

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.operations.decide.cancel_now import CancelAction
    from kadmin.operations.record.steps import Step

NODE = "/admin/reassign_partitions"
A = PartitionTarget(tp("a-0"), (3, 4), (2, 1))
B = PartitionTarget(tp("b-0"), (4, 1), (2, 3))
WORK = ReassignmentWork(((A, B),), (A, B), Elect.NONE)
WAVE = WaveStep(1, "now", 0)
CANCEL = CancelStep(2, "now", (tp("a-0"), tp("b-0")))
START = {"a-0": (2, 1), "b-0": (2, 3), "c-0": (1, 2)}
IN_FLIGHT = {"a-0": (3, 4, 2, 1), "b-0": (4, 1, 2, 3), "c-0": (1, 2)}


def at_work(  # type: ignore[no-untyped-def] # noqa: ANN201 - a state
    entries: dict[str, tuple[int, ...]] | None = None,
    assignment: dict[str, tuple[int, ...]] = IN_FLIGHT,
):
    """A union with a node, as controllers up to 2.3 leave it in mid-move."""
    leaders = dict.fromkeys(("a-0", "b-0"), (2, (2,)))
    state = cluster(assignment, states=leaders)
    return with_node(state, entries or {"a-0": A.replicas, "b-0": B.replicas}, version=5)


def act(state: ClusterState, *steps: Step, allow_foreign: bool = False) -> CancelAction:
    return decide_cancel(
        WORK, Observed(state, steps or (WAVE,), NODES), Memory(), 0.0, allow_foreign=allow_foreign
    )


def with_isr(state: ClusterState, name: str, *, leader: int, isr: tuple[int, ...]) -> ClusterState:
    return replace(
        state,
        states={**state.states, tp(name): replace(state.states[tp(name)], leader=leader, isr=isr)},
    )


def error_of(action: CancelAction) -> KadminError:
    assert isinstance(action, Finish)
    assert action.error is not None
    return action.error


def test_what_is_in_flight_gets_its_original_and_nothing_else_is_named() -> None:
    entries = {"c-0": (2, 1), "a-0": A.replicas, "d-0": (1, 2), "b-0": B.replicas}
    action = act(at_work(entries), allow_foreign=True)
    assert action == TakeBack({tp("a-0"): (2, 1), tp("b-0"): (2, 3)})


def test_what_is_done_stays_and_what_was_never_published_is_not_touched() -> None:
    done = {**IN_FLIGHT, "a-0": A.replicas}
    action = act(at_work({"b-0": B.replicas}, done))
    assert action == TakeBack({tp("b-0"): (2, 3)})
    unpublished = decide_cancel(
        WORK, Observed(cluster(START), (), NODES), Memory(), 0.0, allow_foreign=False
    )
    assert unpublished == Finish(OperationState.CANCELLED, "nothing was in flight")


def test_without_a_node_the_original_is_created() -> None:
    state = replace(at_work(), requests=cluster(START).requests)
    action = act(state)
    assert action == TakeBack({tp("a-0"): (2, 1), tp("b-0"): (2, 3)})


def test_from_2_4_on_a_move_without_a_node_is_seen_in_the_topic() -> None:
    state = cluster({"a-0": (3, 4, 2, 1), "b-0": (2, 3)}, states={"a-0": (2, (2, 1))})
    action = act(moving(state, "a-0", adding=(3, 4), removing=(2, 1)))
    assert action == TakeBack({tp("a-0"): (2, 1)})


def test_the_last_in_sync_replica_outside_the_original_is_not_given_up() -> None:
    """What can go back goes back; the other one is left in flight and named."""
    assert act(with_isr(at_work(), "a-0", leader=3, isr=(3,))) == TakeBack({tp("b-0"): (2, 3)})
    state = with_node(
        cluster({**IN_FLIGHT, "b-0": (2, 3)}, states={"a-0": (3, (3,))}),
        {"a-0": A.replicas},
        version=5,
    )
    left = act(state, WAVE, replace(CANCEL, partitions=(tp("b-0"),)))
    assert isinstance(left, Finish)
    assert left.state is OperationState.CANCELLED
    assert left.message.startswith("1 partition back at the original replicas; not back")
    error = error_of(left)
    assert isinstance(error, NotCompletedError)
    assert (
        "a-0: none of its original replicas is alive and in sync, and going back would lose data"
        in str(error)
    )


def test_dead_originals_that_the_isr_names_lose_nothing_and_an_empty_isr_is_left() -> None:
    """Without a leader nothing is written meanwhile; with eligible leaders the controller takes
    nothing back.
    """
    dead = replace(at_work(), brokers={broker: at_work().brokers[broker] for broker in (1, 3, 4)})
    assert act(dead) == TakeBack({tp("a-0"): (2, 1), tp("b-0"): (2, 3)})
    empty = with_isr(dead, "a-0", leader=NO_LEADER, isr=())
    assert act(empty) == TakeBack({tp("b-0"): (2, 3)})
    alone = decide_cancel(
        ReassignmentWork(((A,),), (A,), Elect.NONE),
        Observed(empty, (WAVE,), NODES),
        Memory(),
        0.0,
        allow_foreign=False,
    )
    error = error_of(alone)
    assert "a-0: no in-sync replica is alive" in str(error)
    assert str(error.next_command).startswith("start broker 2; kadmin cancel --foreign")


def test_an_end_that_the_controller_refused_is_not_asked_for_again() -> None:
    state = moving(
        cluster({"a-0": (2, 1, 3, 4), "b-0": (2, 3)}), "a-0", adding=(3, 4), removing=(3, 4)
    )
    ended = replace(CANCEL, sending=Sending.ANSWERED, intent=Intent({tp("a-0"): None}))
    assert act(state, WAVE, ended) == TakeBack({tp("a-0"): (2, 1)})
    refused = replace(ended, refused={tp("a-0"): "INVALID_REPLICA_ASSIGNMENT"})
    assert "a-0: INVALID_REPLICA_ASSIGNMENT" in str(error_of(act(state, WAVE, refused)))


def test_entries_of_others_that_would_start_are_named() -> None:
    state = at_work({"a-0": A.replicas, "b-0": B.replicas, "c-0": (3, 4)})
    error = error_of(act(state))
    assert isinstance(error, BusyError)
    assert "c-0" in str(error)
    assert isinstance(act(state, allow_foreign=True), TakeBack)


def test_entries_that_start_nothing() -> None:
    """Dropped (unknown, the probe), at their target, or at work already: a union up to 2.3, marked
    from 2.4 on.
    """
    union = cluster({"a-0": (3, 1, 2), "c-0": (1, 2)})
    listed = {tp("x-0"): (1,), tp("!probe-0"): (1,), tp("c-0"): (1, 2), tp("a-0"): (3, 1)}
    assert not_begun(listed, union.topics) == ()
    modern = Topic("a", union.topics["a"].replicas, format_version=3)
    zombie = replace(union, topics={**union.topics, "a": modern})
    assert not_begun(listed, zombie.topics) == (tp("a-0"),)
    assert not_begun(listed, moving(zombie, "a-0", adding=(3,), removing=(2,)).topics) == ()


def test_an_empty_entry_of_another_tool_is_refused_even_when_others_are_allowed() -> None:
    error = error_of(act(at_work({"a-0": A.replicas, "c-0": ()}), allow_foreign=True))
    assert isinstance(error, NotCompletedError)
    assert error.next_command == "kadmin heal"


def test_an_entry_that_names_a_broker_twice_is_ended_only_when_others_are_allowed() -> None:
    """From Kafka 2.4 on it stays for good, and `heal` leaves it beside what is in flight."""
    state = at_work({"a-0": A.replicas, "b-0": B.replicas, "c-0": (3, 3), "x-0": (3, 3)})
    error = error_of(act(state))
    assert isinstance(error, NotCompletedError)
    assert (error.next_command or "").startswith("kadmin cancel --now --allow-foreign")
    back = {tp("a-0"): (2, 1), tp("b-0"): (2, 3)}
    as_they_are = {tp("c-0"): (1, 2), tp("x-0"): (3,)}
    assert act(state, allow_foreign=True) == TakeBack({**as_they_are, **back}), (
        "x-0 does not exist, and is dropped"
    )


def test_a_node_that_does_not_decode_is_healed_first() -> None:
    error = error_of(act(with_node(cluster(IN_FLIGHT), None)))
    assert "heal" in str(getattr(error, "next_command", ""))


def test_once_superseded_it_is_only_followed() -> None:
    """Killed after the write, a second run finds its own step and node, and does not move the
    controller again.
    """
    state = at_work({"a-0": (2, 1), "b-0": (2, 3)})
    assert act(state, WAVE, CANCEL) == Wait("going back to the original replicas")
    back = act(cluster(START), WAVE, CANCEL)
    assert back == Finish(OperationState.CANCELLED, "2 partitions back at the original replicas")


def test_what_the_old_controller_wrote_over_it_is_superseded_again() -> None:
    """Up to 2.3 a controller that is taking a node up writes its own list back, and may do so after
    we wrote ours.
    """
    again = act(at_work({"a-0": A.replicas, "b-0": (2, 3)}), WAVE, CANCEL)
    assert again == TakeBack({tp("a-0"): (2, 1)})


def test_a_partition_that_is_elsewhere_is_named() -> None:
    error = error_of(act(cluster({"a-0": A.replicas, "b-0": (2, 3)}), WAVE, CANCEL))
    assert "a-0" in str(error)
    assert "b-0" not in str(error)


def test_a_partition_that_waits_for_a_dead_broker_says_so_once_all_others_are_back() -> None:
    state = at_work({"a-0": (2, 1)}, {**IN_FLIGHT, "b-0": (2, 3)})
    state = replace(state, states={**state.states, tp("b-0"): cluster(START).states[tp("b-0")]})
    dead = replace(state, brokers={broker: state.brokers[broker] for broker in (2, 3, 4)})
    assert isinstance(act(dead, WAVE, CANCEL), Wait), "the next controller may not have begun"
    late = Observed(dead, (WAVE, CANCEL), NODES)
    ended = decide_cancel(WORK, late, Memory(), PICKUP_DEADLINE_S + 1, allow_foreign=False)
    assert isinstance(ended, Finish)
    assert ended.state is OperationState.CANCELLED, (
        "the lock is free, and the controller goes on alone"
    )
    assert "not alive: 1" in str(error_of(ended))
    waiting = at_work({"a-0": (2, 1), "b-0": (2, 3)})
    dead = replace(waiting, brokers={broker: waiting.brokers[broker] for broker in (2, 3, 4)})
    assert isinstance(act(dead, WAVE, CANCEL), Wait), "the other one is on its way"


def test_a_way_back_on_which_nothing_happens_ends_the_operation() -> None:
    """A broker whose disk failed is alive, and never in sync: the controller waits for it without
    end.
    """
    waiting = Observed(at_work({"a-0": (2, 1), "b-0": (2, 3)}), (WAVE, CANCEL), NODES)
    assert isinstance(
        decide_cancel(WORK, waiting, Memory(changed_at=1.0), STALLED_S, allow_foreign=False), Wait
    )
    ended = decide_cancel(
        WORK, waiting, Memory(changed_at=1.0), 1.0 + STALLED_S, allow_foreign=False
    )
    assert isinstance(ended, Finish)
    assert ended.state is OperationState.CANCELLED
    assert "a-0, b-0: on its way back, where nothing has changed for 60 s" in str(error_of(ended))


def test_what_ended_at_its_target_meanwhile_is_not_called_nothing() -> None:
    """Another tool elected the copy, or the controller was faster: what is said is what the cluster
    shows.
    """
    state = cluster({"a-0": A.replicas, "b-0": (4, 3)})
    ended = act(state)
    assert ended == Finish(
        OperationState.CANCELLED,
        "nothing was in flight; 1 partition at the target; elsewhere: b-0 has [4, 3]",
    )
