from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import API, NODES
from support.cluster.states import cluster, moving, tp, with_node

from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.next_step import command
from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.actions import (
    Advance,
    AskHealth,
    AskListening,
    Finish,
    HealthSeen,
    Memory,
    Observed,
    PublishElection,
    PublishWave,
    Wait,
)
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Channel, ElectionStep, ProbeStep, Step, WaveStep
from kadmin.plan.model import Elect, PartitionTarget

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

A = PartitionTarget(tp("a-0"), (1, 4), (1, 2))
B = PartitionTarget(tp("b-0"), (2, 3), (2, 1))
WORK = ReassignmentWork(((A,), (B,)), (A, B), Elect.NONE)
START = {"a-0": (1, 2), "b-0": (2, 1)}
WAVE_1 = WaveStep(1, "now", 0)
HEARD = Memory(epoch=1, listening=frozenset(Channel))

UNDER_REPLICATED = "under-replicated at the target, waiting for the in-sync replicas"


def act(
    state: ClusterState,
    *steps: Step,
    memory: Memory = HEARD,
    now: float = 0.0,
    work: ReassignmentWork = WORK,
) -> Action:
    return decide(work, Observed(state, steps, NODES), memory, now)


def failure(action: Action, kind: type[KadminError], state: OperationState) -> KadminError:
    assert isinstance(action, Finish)
    assert isinstance(action.error, kind)
    assert action.state is state
    return action.error


def test_it_asks_before_the_first_wave_and_publishes_when_heard() -> None:
    assert act(cluster(START), memory=Memory(epoch=1)) == AskListening(Channel.REASSIGNMENT)
    assert act(cluster(START)) == PublishWave(0, (A,))


def test_it_waits_while_there_is_no_controller() -> None:
    assert isinstance(act(replace(cluster(START), controller=None)), Wait)


def test_it_waits_for_our_node_and_for_what_runs_without_it() -> None:
    named = with_node(cluster(START), {"a-0": (1, 4)})
    assert isinstance(act(named, WAVE_1), Wait)
    running = moving(cluster({**START, "a-0": (1, 4, 2)}), "a-0", adding=(4,), removing=(2,))
    assert act(running, WAVE_1) == Wait("copying")


def test_a_done_wave_leads_to_the_next() -> None:
    assert act(cluster({**START, "a-0": (1, 4)}), WAVE_1) == Advance(1)


def test_a_settled_partition_is_waited_for_and_never_published_again() -> None:
    state = cluster({**START, "a-0": (1, 4)}, states={"a-0": (1, (1,))})
    assert act(state, WAVE_1) == Wait(UNDER_REPLICATED)


def test_the_next_wave_waits_for_the_node_to_be_gone() -> None:
    state = with_node(cluster({**START, "a-0": (1, 4)}), {"a-0": (1, 4)}, version=1)
    assert isinstance(act(state, WAVE_1), Wait)


@pytest.mark.parametrize("entries", [{"x-0": (1, 2)}, {"a-0": (3, 4)}, None])
def test_a_foreign_node_stops_and_is_not_touched(
    entries: dict[str, tuple[int, ...]] | None,
) -> None:
    error = failure(act(with_node(cluster(START), entries)), BusyError, OperationState.RUNNING)
    assert "/admin/reassign_partitions" in error.message


def test_f24_a_node_that_nobody_picks_up_is_told_after_the_deadline() -> None:
    named = with_node(cluster(START), {"a-0": (1, 4)})
    memory = replace(HEARD, last_step=1, step_seen_at=100.0)
    assert isinstance(act(named, WAVE_1, memory=memory, now=109.0), Wait)
    error = failure(
        act(named, WAVE_1, memory=memory, now=111.0), NotCompletedError, OperationState.RUNNING
    )
    assert "did not pick up" in error.message


def test_a_controller_that_just_changed_gets_longer() -> None:
    named = with_node(cluster(START), {"a-0": (1, 4)})
    memory = replace(HEARD, last_step=1, step_seen_at=100.0, epoch_changed_at=105.0)
    assert isinstance(act(named, WAVE_1, memory=memory, now=134.0), Wait)
    assert isinstance(act(named, WAVE_1, memory=memory, now=136.0), Finish)


@pytest.mark.parametrize("changed", [{"a-0": (1, 4, 2)}, {"a-0": (4, 1, 2)}])
def test_a_node_that_was_touched_is_followed_without_a_deadline(
    changed: dict[str, tuple[int, ...]],
) -> None:
    """The node is unchanged for about 10 ms per entry: topics count as a pickup too."""
    named = with_node(cluster({**START, **changed}), {"a-0": (1, 4)})
    assert isinstance(act(named, WAVE_1, memory=replace(HEARD, last_step=1), now=10_000.0), Wait)
    rewritten = with_node(cluster(START), {"a-0": (1, 4)}, version=1)
    assert isinstance(
        act(rewritten, WAVE_1, memory=replace(HEARD, last_step=1), now=10_000.0), Wait
    )


def test_f25_an_unchanged_partition_after_the_node_is_gone_was_rejected_for_good() -> None:
    error = failure(act(cluster(START), WAVE_1), NotCompletedError, OperationState.FAILED)
    assert "rejected by the controller" in (error.cause or "")


def test_a_union_without_a_node_is_repaired_by_the_same_target() -> None:
    """Up to 2.3 a hand-deleted node and a failover leave the union for good; the target, published
    again, ends it.
    """
    assert act(cluster({**START, "a-0": (4, 1, 2)}), WAVE_1) == PublishWave(0, (A,))


def test_a_stale_partition_stops_the_waves_after_what_runs_has_ended() -> None:
    both = ReassignmentWork(((A, B),), (A, B), Elect.NONE)
    stale = {"a-0": (3, 2), "b-0": (2, 3, 1)}
    running = moving(cluster(stale), "b-0", adding=(3,), removing=(1,))
    assert isinstance(act(running, WAVE_1, work=both), Wait)
    error = failure(
        act(cluster({**stale, "b-0": (2, 3)}), WAVE_1, work=both),
        StalePlanError,
        OperationState.FAILED,
    )
    assert "a-0" in error.message


def test_a_deleted_topic_is_named() -> None:
    error = failure(act(cluster({"b-0": (2, 1)}), WAVE_1), StalePlanError, OperationState.FAILED)
    assert "deleted: a-0" in (error.cause or "")


def test_a_topic_that_may_be_deleted_is_skipped_and_named_at_the_end() -> None:
    skipping = replace(WORK, skips_deleted=True)
    without_a = cluster({"b-0": (2, 1)})
    assert act(without_a, WAVE_1, work=skipping) == Advance(1), "its wave was published"
    assert act(without_a, work=skipping) == Advance(1), "and before"
    last = replace(HEARD, wave=2)
    end = act(cluster({"b-0": (2, 3)}), WAVE_1, memory=last, work=skipping)
    assert end == Finish(
        OperationState.COMPLETED, "1 partition at the target, 1 skipped: deleted were a"
    )
    assert act(cluster({}), WAVE_1, memory=last, work=skipping) == Finish(
        OperationState.COMPLETED, "0 partitions at the target, 2 skipped: deleted were a, b"
    )
    both = replace(skipping, waves=((A, B),))
    heard = act(without_a, work=both)
    assert heard == PublishWave(0, (B,)), "what is there is published"
    running = moving(cluster({"b-0": (2, 3, 1)}), "b-0", adding=(3,), removing=(1,))
    copying = act(running, WAVE_1, work=both)
    assert isinstance(copying, Wait)
    assert (copying.reason, copying.warning) == ("copying", None)
    lost = act(cluster({"b-0": (4, 3)}), WAVE_1, work=both)
    assert "b-0" in failure(lost, StalePlanError, OperationState.FAILED).message, (
        "others are judged as ever"
    )


def test_every_deleted_partition_of_a_topic_is_named_and_what_moved_already_can_be_undone() -> None:
    """Also one of a later wave; nothing is to undo where only deleted partitions were published."""
    later = PartitionTarget(tp("a-1"), (1, 4), (1, 2))
    waves = ReassignmentWork(((B,), (A,), (later,)), (B, A, later), Elect.NONE, command("rollback"))
    steps = WAVE_1, WaveStep(2, "now", 1)
    action = act(cluster({"b-0": (2, 3)}), *steps, memory=replace(HEARD, wave=1), work=waves)
    error = failure(action, StalePlanError, OperationState.FAILED)
    assert error.message == "Changed by others since the plan was made: a-0, a-1."
    assert error.cause == "deleted: a-0, a-1"
    assert error.next_command == "kadmin diff FILE, to see what changed; kadmin rollback"
    alone = act(cluster({"b-0": (2, 1)}), WAVE_1, work=replace(WORK, rollback=command("rollback")))
    assert (
        failure(alone, StalePlanError, OperationState.FAILED).next_command
        == "kadmin diff FILE, to see what changed"
    )


def test_f17_a_dead_target_is_named_with_a_substitute() -> None:
    state = cluster(START, brokers={1: "r1", 2: "r2", 3: "r3"})
    error = failure(act(state), StalePlanError, OperationState.FAILED)
    assert "4" in error.message
    assert "broker 2" in (error.next_command or "")


def test_three_refused_publishes_end_it() -> None:
    assert isinstance(act(cluster(START), memory=replace(HEARD, attempts=2)), PublishWave)
    failure(
        act(cluster(START), memory=replace(HEARD, attempts=3)),
        StalePlanError,
        OperationState.FAILED,
    )


def test_our_unanswered_probe_is_not_foreign_and_ends_in_deafness() -> None:
    probe = ProbeStep(1, "now", Channel.REASSIGNMENT)
    state = with_node(cluster(START), {"!probe-0": (1,)})
    memory = Memory(epoch=1, last_step=1, step_seen_at=0.0, probe=probe)
    assert isinstance(act(state, probe, memory=memory, now=9.0), Wait)
    failure(act(state, probe, memory=memory, now=11.0), NotCompletedError, OperationState.RUNNING)


def test_an_answered_probe_proves_listening_until_the_epoch_changes() -> None:
    probe = ProbeStep(1, "now", Channel.REASSIGNMENT)
    asked = Memory(epoch=1, last_step=1, probe=probe)
    heard = remember(asked, Observed(cluster(START), (probe,), NODES), 1.0)
    assert heard.listening == {Channel.REASSIGNMENT}
    assert heard.probe is None
    later = remember(
        heard, Observed(replace(cluster(START), controller_epoch=2), (probe,), NODES), 2.0
    )
    assert later.listening == frozenset()
    assert later.epoch_changed_at == 2.0


def test_an_unanswered_probe_proves_nothing() -> None:
    probe = ProbeStep(1, "now", Channel.REASSIGNMENT)
    state = with_node(cluster(START), {"!probe-0": (1,)})
    memory = remember(Memory(epoch=1, probe=probe), Observed(state, (probe,), NODES), 1.0)
    assert memory.probe is probe
    assert memory.listening == frozenset()


def test_the_end_looks_at_every_partition_again() -> None:
    end = replace(HEARD, wave=2)
    done = {"a-0": (1, 4), "b-0": (2, 3)}
    assert act(cluster(done), WAVE_1, memory=end) == Finish(
        OperationState.COMPLETED, "2 partitions at the target"
    )
    failure(
        act(cluster({**done, "a-0": (1, 3)}), WAVE_1, memory=end),
        StalePlanError,
        OperationState.FAILED,
    )
    short = cluster(done, states={"b-0": (2, (2,))})
    assert act(short, WAVE_1, memory=end) == Wait(UNDER_REPLICATED)


def test_elect_at_end_elects_only_what_is_off() -> None:
    work = replace(WORK, elect=Elect.AT_END)
    off = cluster({"a-0": (1, 4), "b-0": (2, 3)}, states={"a-0": (4, (4, 1))})
    end = replace(HEARD, wave=2)
    assert act(off, WAVE_1, memory=end, work=work) == PublishElection((tp("a-0"),))
    asked = ElectionStep(2, "now", (tp("a-0"),))
    led = cluster({"a-0": (1, 4), "b-0": (2, 3)})
    assert act(led, WAVE_1, asked, memory=end, work=work) == Finish(
        OperationState.COMPLETED, "2 partitions at the target"
    )
    steps: tuple[Step, ...] = (WAVE_1, *(replace(asked, number=number) for number in (2, 3, 4)))
    assert act(off, *steps[:3], memory=end, work=work) == PublishElection((tp("a-0"),))
    failure(act(off, *steps, memory=end, work=work), NotCompletedError, OperationState.FAILED)


def test_elect_after_each_wave_elects_before_the_next() -> None:
    work = replace(WORK, elect=Elect.AFTER_EACH_WAVE)
    off = cluster({**START, "a-0": (1, 4)}, states={"a-0": (4, (4, 1))})
    assert act(off, WAVE_1, work=work) == PublishElection((tp("a-0"),))
    asked = ElectionStep(2, "now", (tp("a-0"),))
    led = cluster({**START, "a-0": (1, 4)})
    assert act(led, WAVE_1, asked, work=work) == Advance(1)


def test_a_wave_that_stands_still_is_told_with_its_partitions() -> None:
    running = moving(cluster({**START, "a-0": (1, 4, 2)}), "a-0", adding=(4,), removing=(2,))
    still = replace(HEARD, changed_at=100.0)
    assert act(running, WAVE_1, memory=still, now=159.0) == Wait("copying")
    assert act(running, WAVE_1, memory=still, now=221.0) == Wait(
        "stalled: no ISR has grown for 2 min: a-0"
    )


def test_where_bytes_are_known_a_stall_is_copies_that_do_not_grow() -> None:
    copying = cluster({**START, "a-0": (1, 4, 2)}, states={"a-0": (1, (1, 2))})
    running = moving(copying, "a-0", adding=(4,), removing=(2,))

    def at(now: float, memory: Memory, leader: int, copy: int) -> Memory:
        return remember(
            memory,
            Observed(running, (), NODES, on_disk={1: {tp("a-0"): leader}, 4: {tp("a-0"): copy}}),
            now,
        )

    memory = at(100.0, HEARD, 500, 10)
    assert at(200.0, memory, 500, 20).changed_at == 200.0
    memory = at(200.0, memory, 900, 10)
    assert memory.changed_at == 100.0, "producers write to the leader, and nothing is copied"
    seen = Observed(running, (WAVE_1,), NODES, on_disk={1: {tp("a-0"): 900}, 4: {tp("a-0"): 10}})
    assert decide(WORK, seen, memory, 221.0) == Wait("stalled: no copy has grown for 2 min: a-0")
    silent = replace(seen, on_disk={1: {tp("a-0"): 900}})
    assert decide(WORK, silent, memory, 221.0) == Wait("stalled: no ISR has grown for 2 min: a-0")


def test_a_target_that_dies_in_mid_wave_is_named_as_what_is_waited_for() -> None:
    running = moving(cluster({**START, "a-0": (1, 4, 2)}), "a-0", adding=(4,), removing=(2,))
    brokers = {broker: found for broker, found in running.brokers.items() if broker != 4}
    waiting = act(replace(running, brokers=brokers), WAVE_1)
    said = (
        "a-0: the controller waits for brokers that are not alive: 4; "
        "start them, or take the wave back: kadmin cancel --now"
    )
    assert waiting == Wait("target brokers that are not alive: 4", said)


def test_a_copy_without_a_source_is_no_copying_and_names_the_broker_that_it_waits_for() -> None:
    running = moving(
        cluster({**START, "a-0": (1, 4, 2)}, states={"a-0": (-1, (2,))}),
        "a-0",
        adding=(4,),
        removing=(2,),
    )
    brokers = {broker: found for broker, found in running.brokers.items() if broker != 2}
    said = (
        "a-0: no replica is alive and in sync; copies wait for brokers: 2; "
        "start them, or end the operation: kadmin cancel --now"
    )
    expected = Wait("no replica is alive and in sync: a-0", said)
    assert act(replace(running, brokers=brokers), WAVE_1, now=300.0) == expected


def test_the_health_gate_stands_before_every_wave_but_the_first() -> None:
    second = replace(HEARD, wave=1)
    state = cluster({**START, "a-0": (1, 4)})
    assert act(state, WAVE_1, memory=second) == AskHealth(WORK.waves[1:])
    trouble = replace(second, health=HealthSeen(1, 50.0, ("partitions offline: z-0",)))
    assert act(state, WAVE_1, memory=trouble, now=54.0) == Wait(
        "health gate: partitions offline: z-0"
    )
    assert act(state, WAVE_1, memory=trouble, now=55.0) == AskHealth(WORK.waves[1:])
    clear = replace(second, health=HealthSeen(1, 50.0, ()))
    assert isinstance(act(state, WAVE_1, memory=clear, now=900.0), PublishWave)
    of_another_wave = replace(second, health=HealthSeen(0, 50.0, ()))
    assert act(state, WAVE_1, memory=of_another_wave) == AskHealth(WORK.waves[1:])


def through_the_api(
    state: ClusterState, *steps: Step, memory: Memory = HEARD, now: float = 0.0
) -> Action:
    """Decide on a look at a broker's copy of the cluster, which may lag behind the controller."""
    return decide(WORK, Observed(state, steps, capabilities=API), memory, now)


def test_a_request_that_is_not_picked_up_for_5_s_has_a_warning() -> None:
    named = with_node(cluster(START), {"a-0": (1, 4)})
    memory = replace(HEARD, last_step=1, step_seen_at=100.0)
    assert act(named, WAVE_1, memory=memory, now=105.0) == Wait("waiting for the controller")
    late = act(named, WAVE_1, memory=memory, now=105.5)
    assert isinstance(late, Wait)
    assert late.warning == "the controller has not started the request within 5 s"


def test_what_a_brokers_copy_does_not_show_yet_is_published_again_after_the_deadline() -> None:
    memory = replace(HEARD, last_step=1, step_seen_at=100.0, health=HealthSeen(0, 110.0, ()))
    assert isinstance(through_the_api(cluster(START), WAVE_1, memory=memory, now=109.0), Wait)
    assert through_the_api(cluster(START), WAVE_1, memory=memory, now=111.0) == PublishWave(0, (A,))


def test_a_union_in_a_brokers_copy_is_a_move_that_runs() -> None:
    assert through_the_api(cluster({**START, "a-0": (4, 1, 2)}), WAVE_1) == Wait("copying")


def test_a_partition_that_the_cluster_refused_fails_with_its_reason() -> None:
    refused = replace(WAVE_1, refused={tp("a-0"): "INVALID_REPLICA_ASSIGNMENT: broker 4 is fenced"})
    error = failure(
        through_the_api(cluster(START), refused), NotCompletedError, OperationState.FAILED
    )
    assert "a-0" in error.message
    assert error.cause == "INVALID_REPLICA_ASSIGNMENT: broker 4 is fenced"


def test_what_will_end_the_run_is_named_while_the_rest_of_the_wave_is_followed() -> None:
    """A topic that was deleted or is being deleted, and a partition that another tool
    reassigned.
    """
    together = ReassignmentWork(((A, B),), (A, B), Elect.NONE)
    running = moving(cluster({"a-0": (1, 2), "b-0": (2, 3, 1)}), "b-0", adding=(3,), removing=(1,))
    elsewhere = moving(replace(running), "a-0", adding=(3,), removing=(2,))
    taken = act(elsewhere, WAVE_1, work=together)
    assert isinstance(taken, Wait)
    assert str(taken.warning).startswith("a-0: reassigned by another tool")
    gone = replace(running, topics={"b": running.topics["b"]})
    deleted = act(gone, WAVE_1, work=together)
    assert isinstance(deleted, Wait)
    assert str(deleted.warning).startswith("a-0: deleted")
    doomed = act(
        replace(running, requests=replace(running.requests, deletions=("b", "x"))),
        WAVE_1,
        work=together,
    )
    assert isinstance(doomed, Wait)
    assert doomed.warning == "topics are being deleted: b"


def test_a_request_that_names_deleted_topics_alone_is_not_waited_for() -> None:
    state = cluster({"b-0": (2, 3)})
    zombie = with_node(state, {"a-0": (1, 4)}, version=1)
    error = failure(act(zombie, WAVE_1), StalePlanError, OperationState.FAILED)
    assert "deleted: a-0" in str(error.cause)
    assert "kadmin heal" in str(error.next_command)


def test_a_foreign_request_is_named_by_its_partitions() -> None:
    action = act(with_node(cluster(START), {"a-0": (1, 4), "x-0": (1, 2)}), WAVE_1)
    assert "another tool: x-0;" in failure(action, BusyError, OperationState.RUNNING).message
