"""Rules of a recovery: one partition first, the chosen one elected, the list of before restored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import CLUSTER_ID, cluster, moving, tp

from kadmin.operations.decide import decide, recall
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_S,
    Finish,
    Observed,
    PublishElection,
    PublishWave,
    Wait,
)
from kadmin.operations.decide.kinds import record_of, spec_of
from kadmin.operations.decide.recovery import RecoveryWork
from kadmin.operations.decide.recovery_look import ORDER, RESTORE
from kadmin.operations.decide.recovery_plan import IMPATIENT_S, RECOVERY, awaited_lately
from kadmin.operations.decide.spec import PlanHistory
from kadmin.operations.record.codec import decode_record, encode_record
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationState
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.steps import UncleanElectionStep, WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import ForcedLeader, Losing, PartitionTarget, PlanHeader, RecoveryPlan
from kadmin.plan.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.decide.actions import Action, Memory
    from kadmin.operations.record.steps import Step

AT = "2026-01-01T00:00:00Z"
ALIVE = {2: None, 3: None, 4: None}
LISTS = {"y-0": (1, 2, 3), "y-1": (1, 3, 2)}
ORDERED = LISTS | {"y-0": (3, 1, 2)}
OFFLINE = {"y-0": (-1, (1,)), "y-1": (-1, (1,))}
LED = OFFLINE | {"y-0": (3, (3,))}
ALL_LED = LED | {"y-1": (3, (3,))}
PLAN = RecoveryPlan(
    PlanHeader(cluster_id=CLUSTER_ID),
    (
        ForcedLeader(tp("y-0"), 3, (1, 2, 3), losing=Losing(150)),
        ForcedLeader(tp("y-1"), 3, (1, 3, 2)),
    ),
    AT,
)
ORDER_SENT: tuple[Step, ...] = (WaveStep(1, AT, ORDER),)
ELECTED: tuple[Step, ...] = (*ORDER_SENT, UncleanElectionStep(2, AT, (tp("y-0"),)))
BOTH: tuple[Step, ...] = (*ELECTED, UncleanElectionStep(3, AT, (tp("y-1"),)))
CANCEL = StopRequest(Stop.CANCEL, "ann@host", AT, allow_foreign=False)
LATE = PICKUP_DEADLINE_S + 1


def act(
    assignment: Mapping[str, tuple[int, ...]] = LISTS,
    states: Mapping[str, tuple[int, tuple[int, ...]]] = OFFLINE,
    steps: tuple[Step, ...] = (),
    *,
    brokers: Mapping[int, str | None] = ALIVE,
    plan: RecoveryPlan = PLAN,
    request: StopRequest | None = None,
    memory: Memory | None = None,
    now: float = 0.0,
) -> Action:
    state = cluster(assignment, brokers=brokers, states=states)
    observed = Observed(state, steps, NODES, request)
    return decide(RecoveryWork(plan), observed, memory or recall(steps), now)


def test_one_partition_goes_first_ordered_elected_and_seen() -> None:
    ordered = PartitionTarget(tp("y-0"), (3, 1, 2), (1, 2, 3))
    assert act() == PublishWave(ORDER, (ordered,), by_api=True)
    assert isinstance(act(steps=ORDER_SENT), Wait)
    assert act(ORDERED, steps=ORDER_SENT) == PublishElection((tp("y-0"),), unclean=True)
    assert act(ORDERED, steps=ELECTED) == Wait("electing y-0")
    # The second is in order: 3 is its first living replica.
    assert act(ORDERED, LED, ELECTED) == PublishElection((tp("y-1"),), unclean=True)


def test_the_lists_of_before_are_restored_and_the_loss_is_told() -> None:
    back = PartitionTarget(tp("y-0"), (1, 2, 3), (3, 1, 2))
    assert act(ORDERED, ALL_LED, BOTH) == PublishWave(RESTORE, (back,), by_api=True)
    assert act(LISTS, ALL_LED, BOTH) == Finish(
        OperationState.COMPLETED,
        "2 partitions led by the chosen replica, at least 150 records lost, the loss of 1 "
        "partition is unknown",
    )


def test_a_leader_that_comes_back_is_left_alone() -> None:
    back = {"y-0": (2, (2,)), "y-1": (-1, (1,))}
    assert act(states=back) == PublishElection((tp("y-1"),), unclean=True)
    done = act(states=back | {"y-1": (3, (3,))}, steps=(UncleanElectionStep(1, AT, (tp("y-1"),)),))
    assert isinstance(done, Finish)
    assert "1 partition had a leader again, nothing was elected there" in done.message
    every = act(states={"y-0": (2, (2,)), "y-1": (2, (2,))})
    assert isinstance(every, Finish)
    assert every.message == "0 partitions led by the chosen replica"
    state = cluster(LISTS, brokers=ALIVE, states={"y-0": (1, (1,)), "y-1": (3, (3,))})
    assert not state.has_leader(tp("y-0")), "the state of a partition may name a dead leader"


def test_a_replica_without_a_loss_that_is_alive_is_waited_for() -> None:
    found = act(brokers=ALIVE | {1: None})
    assert isinstance(found, Wait)
    assert "may lead without a loss: y-0, y-1" in (found.warning or "")


def test_a_cancellation_elects_nothing_more_and_restores_the_lists() -> None:
    back = PartitionTarget(tp("y-0"), (1, 2, 3), (3, 1, 2))
    ordered = act(ORDERED, steps=ORDER_SENT, request=CANCEL, now=LATE)
    assert ordered == PublishWave(RESTORE, (back,), by_api=True)
    found = act(LISTS, steps=ORDER_SENT, request=CANCEL)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED


def test_what_cannot_be_elected_is_named_and_the_rest_goes_on() -> None:
    refused = (UncleanElectionStep(1, AT, (tp("y-0"),), {tp("y-0"): "83"}),)
    assert isinstance(act(LISTS, steps=refused), PublishElection)
    dead = act(states=OFFLINE | {"y-1": (2, (2,))}, brokers={2: None})
    assert isinstance(dead, Finish)
    assert dead.state is OperationState.FAILED
    assert "broker 3 is not alive any more" in str(dead.error and dead.error.cause)
    memory = replace(recall(ELECTED), step_seen_at=0.0)
    alone = replace(PLAN, partitions=PLAN.partitions[:1])
    late = act(ORDERED, steps=ELECTED, plan=alone, memory=memory, now=LATE)
    assert late == PublishWave(
        RESTORE, (PartitionTarget(tp("y-0"), (1, 2, 3), (3, 1, 2)),), by_api=True
    )


def test_an_order_that_never_shows_is_given_up() -> None:
    alone = replace(PLAN, partitions=PLAN.partitions[:1])
    steps = tuple(WaveStep(number, AT, ORDER) for number in (1, 2, 3))
    memory = replace(recall(steps), step_seen_at=0.0)
    again = act(steps=steps[:2], plan=alone, memory=memory, now=LATE)
    assert isinstance(again, PublishWave)
    found = act(steps=steps, plan=alone, memory=memory, now=LATE)
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED


def test_another_leader_than_the_chosen_one_is_a_failure() -> None:
    found = act(LISTS, {"y-0": (2, (2,)), "y-1": (3, (3,))}, BOTH)
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED
    assert "broker 2 leads, not 3" in str(found.error and found.error.cause)


def test_a_restore_that_is_refused_is_told_and_not_repeated() -> None:
    steps = (*BOTH, replace(WaveStep(4, AT, RESTORE), refused={tp("y-0"): "no broker 1 (39)"}))
    found = act(ORDERED, ALL_LED, steps)
    assert isinstance(found, Finish)
    assert "the list of before was refused for y-0: no broker 1 (39)" in found.message


EMPTY = RecoveryPlan(PlanHeader(), (ForcedLeader(tp("z-0"), 4, (1,), (4,)),), AT, empty=True)


def test_an_empty_partition_is_moved_elected_and_moved_again_until_kafka_ends_it() -> None:
    lists, states = {"z-0": (1,)}, {"z-0": (-1, (1,))}
    target = PartitionTarget(tp("z-0"), (4,), (1,))
    assert act(lists, states, plan=EMPTY) == PublishWave(ORDER, (target,), by_api=True)
    state = moving(
        cluster({"z-0": (4, 1)}, brokers=ALIVE, states=states), "z-0", adding=(4,), removing=(1,)
    )
    work, sent = RecoveryWork(EMPTY), (WaveStep(1, AT, ORDER),)
    found = decide(work, Observed(state, sent, NODES), recall(sent), 0.0)
    assert found == PublishElection((tp("z-0"),), unclean=True)
    led = replace(state, states={tp("z-0"): replace(state.states[tp("z-0")], leader=4, isr=(4,))})
    steps = (*sent, UncleanElectionStep(2, AT, (tp("z-0"),)))
    again = decide(work, Observed(led, steps, NODES), recall(steps), 0.0)
    assert again == PublishWave(RESTORE, (target,), by_api=True)
    done = act({"z-0": (4,)}, {"z-0": (4, (4,))}, steps, plan=EMPTY)
    assert isinstance(done, Finish)
    assert done.state is OperationState.COMPLETED


@pytest.mark.parametrize("step", [*BOTH])
def test_the_record_alone_rebuilds_the_work(step: Step) -> None:
    assert decode_step(encode_step(step)) == step
    state = cluster(LISTS, brokers=ALIVE, states=OFFLINE)
    holder = Holder(Author("ann", "host", 1), "op", AT, 6.0)
    record = record_of(RECOVERY, PLAN, RecoveryWork(PLAN), state, holder)
    assert spec_of(decode_record(encode_record(record), "op")) == RecoveryWork(PLAN)


def test_dead_brokers_count_as_seen_lately_until_the_plan_is_ten_minutes_old() -> None:
    state = cluster(LISTS, brokers=ALIVE, states=OFFLINE)
    made = datetime(2026, 1, 1, tzinfo=UTC)
    later = datetime.fromtimestamp(made.timestamp() + IMPATIENT_S, UTC)
    assert awaited_lately(PLAN, state, made) == {1}
    assert awaited_lately(PLAN, state, later) == frozenset()
    assert awaited_lately(replace(PLAN, looked_at=None), state, later) == {1}
    assert awaited_lately(replace(PLAN, allow_impatient=True), state, made) == frozenset()


def test_verify_waits_for_every_replica() -> None:
    def judged(states: Mapping[str, tuple[int, tuple[int, ...]]]) -> list[tuple[Progress, str]]:
        state = cluster(LISTS, brokers=ALIVE | {1: None}, states=states)
        verdicts = RECOVERY.verdicts(PLAN, state, PlanHistory())
        return [(each.progress, each.detail) for each in verdicts]

    assert judged({"y-0": (-1, (1,)), "y-1": (3, (3, 2))}) == [
        (Progress.WAITING, "no leader"),
        (Progress.SETTLED, "led by 3, not in sync yet: broker 1"),
    ]
    assert judged({}) == [(Progress.DONE, "")] * 2
