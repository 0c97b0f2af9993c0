"""Rules of a decommission: the errands around a reassignment, further rounds, cancel and leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import API
from support.cluster.states import CLUSTER_ID, cluster, tp

from kadmin.operations.decide import decide, recall
from kadmin.operations.decide.actions import (
    Advance,
    AskEmpty,
    AskStop,
    EmptySeen,
    Finish,
    HealthSeen,
    Memory,
    Observed,
    PlanRound,
    PublishWave,
    RunErrand,
    StopSeen,
    Wait,
)
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.decommission import DECOMMISSION, MOST_ROUNDS, decommission_work
from kadmin.operations.decide.kinds import record_of, spec_of
from kadmin.operations.decide.leaving import LeftError, leave
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.record.codec import decode_record, encode_record
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationState
from kadmin.operations.record.steps import Channel, DrainStep, Errand, ErrandStep, WaveStep
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError, StopRequest
from kadmin.plan.model import DecommissionPlan, PartitionTarget, PlanHeader

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

AT = "2026-01-01T00:00:00Z"
TARGET = PartitionTarget(tp("a-0"), (1, 2), (1, 3))
LANDED = PartitionTarget(tp("b-0"), (2, 1), (3, 1))
PLAN = DecommissionPlan(PlanHeader(cluster_id=CLUSTER_ID), (TARGET,), brokers=(3,))
WORK = decommission_work(PLAN, ReassignmentWork(((TARGET,),), (TARGET,), PLAN.elect))
LEAVING = frozenset({3})
BEFORE: Mapping[str, tuple[int, ...]] = {"a-0": (1, 3)}
DRAINED: Mapping[str, tuple[int, ...]] = {"a-0": (1, 2)}
EVERY = {1: None, 2: None, 3: None}
AWAY = {1: None, 2: None}
CORDON = ErrandStep(1, AT, Errand.CORDON, (3,))
SENT: tuple[Step, ...] = (CORDON, WaveStep(2, AT, 0))
CONFIRMED = frozenset({Errand.CORDON})
EMPTY = EmptySeen(5.0, (), ())
SAFE, UNSAFE = (
    StopSeen(LEAVING, frozenset(EVERY), 5.0, why) for why in ("", "no majority of controllers")
)


def asked(stop: Stop) -> StopRequest:
    return StopRequest(stop, "ann@host", AT, allow_foreign=False)


def act(
    memory: Memory,
    assignment: Mapping[str, tuple[int, ...]] = DRAINED,
    brokers: Mapping[int, str | None] = EVERY,
    steps: tuple[Step, ...] = SENT,
    *,
    request: StopRequest | None = None,
    now: float = 0.0,
) -> Action:
    state = cluster(assignment, brokers=brokers)
    observed = Observed(state, steps, API, request)
    return decide(WORK.with_rounds(steps), observed, memory, now)


def at(wave: int, empty: EmptySeen | None = None, stop: StopSeen | None = None) -> Memory:
    return Memory(
        wave=wave,
        errands=CONFIRMED,
        empty=empty,
        stop=stop,
        listening=frozenset(Channel),
        health=HealthSeen(wave, 0.0, ()),
    )


def test_each_run_confirms_the_cordon_before_it_moves_anything() -> None:
    assert act(Memory(), BEFORE, steps=()) == RunErrand(Errand.CORDON, LEAVING)
    assert isinstance(act(at(0), BEFORE, steps=(CORDON,)), PublishWave)
    assert act(at(0)) == Advance(1)


def test_after_the_drain_the_whole_cluster_is_looked_at_again_and_again() -> None:
    assert act(at(1)) == AskEmpty(PLAN)
    assert act(at(1, EMPTY), now=5.0) == AskEmpty(PLAN)


def test_what_landed_meanwhile_is_moved_in_a_round_of_its_own() -> None:
    landed = EmptySeen(5.0, ((LANDED,),), ())
    assert act(at(1, landed)) == PlanRound(((LANDED,),))
    round_ = (*SENT, DrainStep(3, AT, ((LANDED,),)))
    work = WORK.with_rounds(round_)
    assert (work.waves, work.targets) == (((TARGET,), (LANDED,)), (TARGET, LANDED))
    both = {**DRAINED, "b-0": (3, 1)}
    published = act(at(1), both, steps=round_)
    assert published == PublishWave(1, (LANDED,))


def test_after_the_last_round_it_ends_and_names_what_keeps_landing() -> None:
    rounds = tuple(DrainStep(3 + each, AT, ()) for each in range(MOST_ROUNDS))
    ended = act(at(1, EmptySeen(5.0, ((LANDED,),), ())), steps=(*SENT, *rounds))
    assert isinstance(ended, Finish)
    assert ended.state is OperationState.RUNNING
    assert ended.error is not None
    assert "Partitions keep landing on broker 3: b-0" in ended.error.message


def test_nobody_is_told_to_stop_a_broker_that_is_not_empty_or_that_a_quorum_needs() -> None:
    held = EmptySeen(5.0, (), ("broker 3 has 1 replica on disk, 4 kB: c-0",))
    assert act(at(1, held)) == Wait("not empty yet: broker 3 has 1 replica on disk, 4 kB: c-0")
    assert act(at(1, EMPTY)) == AskStop(LEAVING, 0, frozenset(EVERY))
    reason = "do not stop broker 3 now: no majority of controllers"
    assert act(at(1, EMPTY, UNSAFE)) == Wait(reason, reason)
    waits = act(at(1, EMPTY, SAFE))
    assert waits == Wait(
        "stop broker 3 now, proved empty; kadmin waits until that is seen", for_person=True
    )


def test_a_broker_that_is_gone_is_unregistered_and_that_ends_it() -> None:
    gone = act(at(1, EMPTY), brokers=AWAY)
    assert gone == RunErrand(Errand.UNREGISTER, LEAVING)
    done = replace(at(1, EMPTY), errands=frozenset(Errand))
    assert act(done, brokers=AWAY) == Finish(OperationState.COMPLETED, "broker 3 drained and gone")


def test_a_partition_that_another_tool_moved_off_the_brokers_is_no_obstacle() -> None:
    elsewhere = {"a-0": (2, 1)}
    assert act(at(0), elsewhere) == Advance(1)
    back = act(at(0), {"a-0": (3, 1)})
    assert isinstance(back, Finish), "back on the broker, in another order: the plan is stale"


def test_a_cancellation_uncordons_first_and_then_completes_the_wave() -> None:
    cancel = asked(Stop.CANCEL)
    assert act(at(0), BEFORE, request=cancel) == RunErrand(Errand.UNCORDON, LEAVING)
    free = (*SENT, ErrandStep(3, AT, Errand.UNCORDON, (3,)))
    assert act(at(0), DRAINED, steps=free, request=cancel) == Advance(1)
    ended = act(at(1), DRAINED, steps=free, request=cancel)
    assert isinstance(ended, Finish)
    assert (ended.state, type(ended.error)) == (OperationState.CANCELLED, StoppedByRequestError)


def test_nothing_is_taken_back_before_the_brokers_are_uncordoned() -> None:
    state = cluster(BEFORE, brokers=EVERY)
    observed = Observed(state, SENT, API, asked(Stop.CANCEL_NOW))
    first = decide_cancel(WORK, observed, at(0), 0.0, allow_foreign=False)
    assert first == RunErrand(Errand.UNCORDON, LEAVING)


@pytest.mark.parametrize("memory", [Memory(), at(1, EMPTY, SAFE)], ids=["cordon", "stop"])
def test_a_pause_comes_before_an_errand_and_while_a_person_is_awaited(memory: Memory) -> None:
    paused = act(memory, request=asked(Stop.PAUSE))
    assert isinstance(paused, Finish)
    assert paused.state is OperationState.PAUSED


def test_a_run_that_leaves_ends_where_the_stop_is_awaited() -> None:
    observed = Observed(cluster(DRAINED, brokers=EVERY), SENT, API)
    action = act(at(1, EMPTY, SAFE))
    left = leave(action, WORK, observed, at(1), None)
    assert isinstance(left, Finish)
    assert isinstance(left.error, LeftError)
    assert "the stop of broker 3" in left.message


def test_the_record_rebuilds_the_work_with_the_rounds_of_its_steps() -> None:
    holder = Holder(Author("ann", "host", 1), "op", AT, 6.0)
    record = record_of(DECOMMISSION, PLAN, WORK, cluster(BEFORE, brokers=EVERY), holder)
    again = decode_record(encode_record(record), "op")
    round_ = DrainStep(3, AT, ((LANDED,),))
    work = spec_of(again, (*SENT, round_))
    assert isinstance(work, type(WORK))
    assert work.waves == ((TARGET,), (LANDED,))
    assert (work.brokers, work.rounds) == (LEAVING, 1)
    assert recall((*SENT, round_)).wave == 0
