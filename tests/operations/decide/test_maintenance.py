"""Rules of a maintenance: its stages, its two waits for a person, cancel, pause and leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import CLUSTER_ID, cluster, moving, tp, with_node

from kadmin.operations.decide import decide, recall
from kadmin.operations.decide.actions import (
    STALLED_S,
    Advance,
    AskListening,
    AskStop,
    Finish,
    Memory,
    NoteGone,
    Observed,
    PublishElection,
    PublishWave,
    StopSeen,
    Wait,
)
from kadmin.operations.decide.kinds import record_of, spec_of
from kadmin.operations.decide.leaving import LeftError, leave
from kadmin.operations.decide.maintenance import MAINTENANCE, maintenance_work
from kadmin.operations.decide.maintenance_stages import StageKind, replicas_of
from kadmin.operations.record.codec import decode_record, encode_record
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationState
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.steps import Channel, ElectionStep, GoneStep, WaveStep
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.plan.model import MaintenancePlan, MaintenanceRound, PartitionTarget, PlanHeader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.decide.actions import (
        Action,
    )
    from kadmin.operations.record.steps import Step

AT = "2026-01-01T00:00:00Z"
BEFORE = {"a-0": (3, 1, 2), "a-1": (1, 3, 2), "b-0": (1, 2), "c-0": (3,)}
DEMOTED = BEFORE | {"a-0": (1, 2, 3)}
EVERY = {1: None, 2: None, 3: None}
AWAY = {1: None, 2: None}
PLAN = MaintenancePlan(
    PlanHeader(cluster_id=CLUSTER_ID),
    (MaintenanceRound((3,), (PartitionTarget(tp("a-0"), (1, 2, 3), (3, 1, 2)),)),),
    margin=1,
)
WORK = maintenance_work(PLAN, replicas_of(PLAN, cluster(BEFORE, brokers=EVERY).assignment))
DEMOTE, RESTART, RESTORE = range(3)
SAFE, UNSAFE = (
    StopSeen(frozenset({3}), frozenset(EVERY), 5.0, why) for why in ("", "1 under-min-isr")
)
LED = {"a-0": (1, (1, 2, 3))}
BEHIND = {"a-0": (1, (1, 2)), "a-1": (1, (1, 2))}
SENT: tuple[Step, ...] = (WaveStep(1, AT, DEMOTE),)
GONE: tuple[Step, ...] = (*SENT, GoneStep(2, AT, RESTART, (3,)))
CANCEL, PAUSE = (
    StopRequest(kind, "ann@host", AT, allow_foreign=False) for kind in (Stop.CANCEL, Stop.PAUSE)
)


def act(
    assignment: Mapping[str, tuple[int, ...]] = DEMOTED,
    brokers: Mapping[int, str | None] = EVERY,
    states: Mapping[str, tuple[int, tuple[int, ...]]] = LED,
    steps: tuple[Step, ...] = SENT,
    memory: Memory | None = None,
    *,
    request: StopRequest | None = None,
    now: float = 0.0,
) -> Action:
    state = cluster(assignment, brokers=brokers, states=states)
    observed = Observed(state, steps, NODES, request)
    return decide(WORK, observed, memory or recall(steps), now)


def at(wave: int, stop: StopSeen | None = None) -> Memory:
    return Memory(wave=wave, stop=stop)


def test_a_round_is_another_order_a_restart_and_the_order_of_before() -> None:
    assert [each.kind for each in WORK.stages] == list(StageKind)
    assert WORK.waves[DEMOTE] == (PartitionTarget(tp("a-0"), (1, 2, 3), (3, 1, 2)),)
    assert {(each.partition, each.current) for each in WORK.waves[RESTART]} == {
        (tp("a-0"), (1, 2)),
        (tp("a-1"), (1, 2)),
    }
    assert WORK.waves[RESTORE] == (PartitionTarget(tp("a-0"), (3, 1, 2), (1, 2, 3)),)


def test_nothing_changes_before_the_gate_allows_the_stop() -> None:
    assert act(BEFORE, steps=(), memory=at(DEMOTE)) == AskStop(frozenset({3}), 1, frozenset(EVERY))
    reason = "broker 3 may not be stopped now: 1 under-min-isr"
    assert act(BEFORE, steps=(), memory=at(DEMOTE, UNSAFE)) == Wait(reason, reason)
    assert isinstance(act(BEFORE, steps=(), memory=at(DEMOTE, SAFE)), AskListening)
    assert isinstance(act(BEFORE, steps=(), memory=at(DEMOTE, SAFE), now=5.0), AskStop)


def test_an_answer_of_the_gate_counts_for_its_time_and_while_the_same_brokers_are_alive() -> None:
    seen = replace(SAFE, until=60.0)
    assert isinstance(act(memory=at(RESTART, seen), now=59.0), Wait)
    assert isinstance(act(memory=at(RESTART, seen), now=60.0), AskStop)
    assert isinstance(act(brokers={1: None, 3: None}, memory=at(RESTART, seen)), AskStop)


def test_the_demotion_is_done_where_the_order_is_there_and_another_broker_leads() -> None:
    assert act() == Advance(RESTART)
    assert not isinstance(act(states={"a-0": (3, (1, 2, 3))}), Advance)
    short = {"a-0": (1, (1, 3))}
    assert act(states=short) == Advance(RESTART), "an ISR that is short elsewhere is no obstacle"


def test_it_waits_for_the_stop_and_says_at_once_where_that_is_not_safe_any_more() -> None:
    assert act(memory=at(RESTART)) == AskStop(frozenset({3}), 1, frozenset(EVERY))
    words = "stop broker 3 now; kadmin waits until that is seen"
    assert act(memory=at(RESTART, SAFE)) == Wait(words, for_person=True)
    reason = "do not stop broker 3 now: 1 under-min-isr"
    assert act(memory=at(RESTART, UNSAFE)) == Wait(reason, reason)


def test_a_stop_is_on_record_before_anything_else_and_then_its_start_is_awaited() -> None:
    assert act(brokers=AWAY, states=BEHIND, memory=at(RESTART)) == NoteGone(RESTART, (3,))
    away = replace(SAFE, alive=frozenset(AWAY))
    waits = act(brokers=AWAY, states=BEHIND, steps=GONE, memory=at(RESTART, away))
    assert waits == Wait("broker 3 stopped: start it when the work is done", for_person=True)


def test_the_start_is_asked_for_at_once_where_clients_wait_for_it() -> None:
    away = StopSeen(frozenset({3}), frozenset({1}), 5.0, "", (tp("a-0"), tp("a-1")))
    found = act(brokers={1: None}, states=BEHIND, steps=GONE, memory=at(RESTART, away))
    assert isinstance(found, Wait)
    assert found.for_person
    assert found.reason == found.warning
    assert found.reason.startswith("start broker 3 as soon as possible: 2 partitions offline or")
    assert found.reason.endswith(": a-0, a-1")


def test_it_is_back_when_every_replica_is_in_sync() -> None:
    assert isinstance(act(states=BEHIND, steps=GONE), Wait)
    assert act(states=LED, steps=GONE) == Advance(RESTORE)


def test_the_order_of_before_ends_it() -> None:
    restored = (*GONE, WaveStep(3, AT, RESTORE))
    led = {"a-0": (3, (1, 2, 3))}
    assert act(BEFORE, states=led, steps=restored) == Advance(3)
    done = act(BEFORE, states=led, steps=restored, memory=at(3))
    assert done == Finish(OperationState.COMPLETED, "broker 3 stopped, started and in sync")


@pytest.mark.parametrize(("steps", "wave"), [((), 0), (SENT, 0), (GONE, 1)])
def test_a_resumed_one_goes_on_at_the_stage_on_record(steps: tuple[Step, ...], wave: int) -> None:
    assert recall(steps).wave == wave
    assert tuple(decode_step(encode_step(each)) for each in steps) == steps


def test_the_record_has_all_that_another_machine_needs() -> None:
    state = cluster(BEFORE, brokers=EVERY)
    record = record_of(
        MAINTENANCE, PLAN, WORK, state, Holder(Author("ann", "host", 1), "op", AT, 6.0)
    )
    assert spec_of(decode_record(encode_record(record), "op")) == WORK


def test_a_cancellation_restores_the_order_and_gives_the_leaders_back() -> None:
    assert act(memory=at(RESTART, SAFE), request=CANCEL) == Advance(RESTORE)
    assert isinstance(act(memory=at(RESTORE), request=CANCEL), AskListening)
    found = act(BEFORE, states={"a-0": (3, (1, 2, 3))}, memory=at(RESTORE), request=CANCEL)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED
    assert "the order of replicas is as before" in found.message


def test_a_cancellation_while_the_broker_is_away_says_what_keeps_its_order() -> None:
    found = act(brokers=AWAY, states=BEHIND, steps=GONE, memory=at(RESTORE), request=CANCEL)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED
    assert "the order of 1 partition stays, because broker 3 is not alive: a-0" in found.message


def test_it_pauses_at_any_stage_and_is_left_where_a_person_is_awaited() -> None:
    found = act(memory=at(RESTART, SAFE), request=PAUSE)
    assert isinstance(found, Finish)
    assert isinstance(found.error, StoppedByRequestError)
    assert "stage 2 of 3: restart broker 3" in found.message
    state = cluster(DEMOTED, brokers=EVERY, states=LED)
    waits = act(memory=at(RESTART, SAFE))
    left = leave(waits, WORK, Observed(state, SENT, NODES), at(RESTART), None)
    assert isinstance(left, Finish)
    assert isinstance(left.error, LeftError)
    copying = act(states=BEHIND, steps=GONE)
    assert leave(copying, WORK, Observed(state, GONE, NODES), at(RESTART), None) == copying


def test_two_rounds_are_one_after_the_other() -> None:
    plan = replace(PLAN, rounds=(*PLAN.rounds, MaintenanceRound((1,))))
    work = maintenance_work(plan, replicas_of(plan, cluster(BEFORE, brokers=EVERY).assignment))
    assert [sorted(each.brokers) for each in work.stages] == [[3]] * 3 + [[1]] * 3
    assert work.names[1] == "restart broker 3: 2 replicas catch up"


def test_a_leader_that_came_back_is_taken_again_before_the_stop_is_asked_for() -> None:
    elected = (*SENT, ElectionStep(2, AT, (tp("a-0"),)))
    back = {"a-0": (3, (1, 2, 3))}
    listening = replace(at(RESTART, SAFE), listening=frozenset(Channel))
    assert act(states=back, steps=elected, memory=listening) == PublishElection((tp("a-0"),))
    theirs = act(DEMOTED | {"a-0": (2, 1, 3)}, states=back, steps=elected, memory=listening)
    assert isinstance(theirs, Wait), "nobody is elected for a list of others"
    tried = (*elected, ElectionStep(3, AT, (tp("a-0"),)), ElectionStep(4, AT, (tp("a-0"),)))
    assert isinstance(act(states=back, steps=tried, memory=listening), Wait)


def test_a_cancellation_publishes_what_it_can_restore_and_leaves_the_rest() -> None:
    """Broker 4 died meanwhile: b-0 is on it, and a-0 is not."""
    before = {"a-0": (3, 1, 2), "b-0": (3, 4)}
    demotions = (
        PartitionTarget(tp("a-0"), (1, 2, 3), (3, 1, 2)),
        PartitionTarget(tp("b-0"), (4, 3), (3, 4)),
    )
    plan = replace(PLAN, rounds=(MaintenanceRound((3,), demotions),))
    work = maintenance_work(plan, replicas_of(plan, cluster(before, brokers=EVERY).assignment))
    memory = replace(at(RESTORE), listening=frozenset(Channel))
    state = cluster({"a-0": (1, 2, 3), "b-0": (4, 3)}, brokers=EVERY, states={"b-0": (3, (3,))})
    action = decide(work, Observed(state, SENT, NODES, CANCEL), memory, 0.0)
    assert action == PublishWave(RESTORE, (PartitionTarget(tp("a-0"), (3, 1, 2), (1, 2, 3)),))
    restored = (*SENT, WaveStep(3, AT, RESTORE))
    state = cluster({"a-0": (3, 1, 2), "b-0": (4, 3)}, brokers=EVERY, states={"b-0": (3, (3,))})
    found = decide(work, Observed(state, restored, NODES, CANCEL), memory, 0.0)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED
    assert "the order of 1 partition stays, because broker 4 is not alive: b-0" in found.message


RESTORED: tuple[Step, ...] = (*GONE, WaveStep(3, AT, RESTORE))
LED_BY_3 = {"a-0": (3, (1, 2, 3))}


@pytest.mark.parametrize("steps", [GONE, RESTORED], ids=["before", "after its publish"])
def test_a_list_that_others_changed_is_left_and_named(steps: tuple[Step, ...]) -> None:
    found = DEMOTED | {"a-0": (1, 2, 4)}
    assert act(found, steps=steps, memory=at(RESTORE)) == Advance(3)
    done = act(found, steps=steps, memory=at(3))
    assert done == Finish(
        OperationState.COMPLETED,
        "broker 3 stopped, started and in sync; others changed the replicas of 1 partition, which "
        "stay as they are: a-0",
    )
    cancelled = act(found, steps=steps, memory=at(RESTORE), request=CANCEL)
    assert isinstance(cancelled, Finish)
    assert "others changed the replicas of 1 partition" in cancelled.message


def test_the_order_of_before_is_restored_from_any_other() -> None:
    listening = replace(at(RESTORE), listening=frozenset(Channel))
    theirs = (2, 1, 3)
    found = act(DEMOTED | {"a-0": theirs}, steps=GONE, memory=listening)
    assert found == PublishWave(RESTORE, (PartitionTarget(tp("a-0"), (3, 1, 2), theirs),))


def test_the_order_of_before_waits_for_another_tool_and_a_cancellation_does_not() -> None:
    state = cluster(DEMOTED | {"a-0": (1, 2, 3, 4)}, brokers=EVERY, states=LED)
    state = moving(state, "a-0", adding=(4,), removing=(3,))
    observed = Observed(state, GONE, NODES)
    reason = "another tool reassigns a-0: waiting until that is done"
    assert decide(WORK, observed, at(RESTORE), 0.0) == Wait(reason, reason)
    found = decide(WORK, replace(observed, request=CANCEL), at(RESTORE), 0.0)
    assert isinstance(found, Finish)
    assert "others changed the replicas of 1 partition" in found.message


@pytest.mark.parametrize("theirs", [(2, 1, 3), (3, 1, 2)], ids=["another order", "the one before"])
def test_an_order_that_others_changed_again_before_the_stop_is_left_to_the_gate(
    theirs: tuple[int, ...],
) -> None:
    listening = replace(at(DEMOTE), listening=frozenset(Channel))
    assert act(DEMOTED | {"a-0": theirs}, memory=listening) == Advance(RESTART)


def test_a_reassignment_of_another_tool_is_left_to_the_gate_before_the_stop() -> None:
    state = cluster(DEMOTED | {"a-0": (1, 2, 4, 3)}, brokers=EVERY, states=LED)
    state = moving(state, "a-0", adding=(4,), removing=(3,))
    assert decide(WORK, Observed(state, SENT, NODES), at(DEMOTE), 0.0) == Advance(RESTART)
    assert isinstance(decide(WORK, Observed(state, SENT, NODES), at(RESTART), 0.0), AskStop)


def test_a_reassignment_of_another_partition_does_not_keep_the_leaders_from_coming_back() -> None:
    state = cluster(BEFORE | {"z-0": (1, 2)}, brokers=EVERY, states={"a-0": (1, (1, 2, 3))})
    observed = Observed(with_node(state, {"z-0": (2, 1)}, version=1), RESTORED, NODES)
    memory = replace(at(RESTORE), listening=frozenset(Channel))
    assert decide(WORK, observed, memory, 0.0) == PublishElection((tp("a-0"),))


def test_a_partition_that_is_not_led_as_before_is_named_at_the_end() -> None:
    done = act(BEFORE, states={"a-0": (1, (1, 2))}, steps=RESTORED, memory=at(3))
    assert isinstance(done, Finish)
    assert done.message.endswith("in sync; 1 partition not led by the first replica yet: a-0")


def test_a_cancellation_while_the_broker_catches_up_waits_to_give_its_leaders_back() -> None:
    waits = act(states=BEHIND, steps=GONE, memory=at(RESTART), request=CANCEL)
    reason = "waiting to give broker 3 its leaders back: copying"
    assert waits == Wait(reason, reason)
    enough = {"a-0": (1, (1, 2, 3)), "a-1": (1, (1, 2))}
    assert act(states=enough, steps=GONE, memory=at(RESTART), request=CANCEL) == Advance(RESTORE)
    stalled = act(states=BEHIND, steps=GONE, memory=at(RESTART), request=CANCEL, now=STALLED_S)
    assert stalled == Advance(RESTORE)
    found = act(BEFORE, states=BEHIND, steps=RESTORED, memory=at(RESTORE), request=CANCEL)
    assert isinstance(found, Finish)
    assert "1 partition not led by the first replica yet: a-0" in found.message


def test_a_cancellation_before_the_round_changes_nothing_elects_nobody() -> None:
    led = {"a-0": (1, (1, 2, 3))}
    found = act(BEFORE, states=led, steps=(), memory=at(DEMOTE, UNSAFE), request=CANCEL)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED


def test_an_order_that_is_restored_is_not_said_to_stay_where_a_broker_died_since() -> None:
    found = act(
        BEFORE,
        brokers={1: None, 3: None},
        states={"a-0": (3, (1, 3))},
        steps=RESTORED,
        memory=at(RESTORE),
        request=CANCEL,
    )
    assert isinstance(found, Finish)
    assert "the order of replicas is as before" in found.message
