"""Rules of a recovery by configs of topics: they stay until all are in sync, and are set back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import CLUSTER_ID, cluster, tp, with_node

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.operations.decide import decide, recall
from kadmin.operations.decide.actions import (
    PICKUP_DEADLINE_S,
    AskListening,
    Finish,
    ForceLeaders,
    Observed,
    PublishWave,
    RestoreConfigs,
    Wait,
    step_of,
)
from kadmin.operations.decide.examination import Examination
from kadmin.operations.decide.kinds import record_of, spec_of
from kadmin.operations.decide.leaving import LeftError, leave
from kadmin.operations.decide.recovery_by_config import TOPICS_AT_ONCE, ConfigRecoveryWork
from kadmin.operations.decide.recovery_plan import RECOVERY, examine_recovery
from kadmin.operations.record.codec import decode_record, encode_record
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationState
from kadmin.operations.record.step_codec import decode_step, encode_step
from kadmin.operations.record.steps import Channel, ConfigStep, UncleanElectionStep, WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import ForcedLeader, PartitionTarget, PlanHeader, RecoveryPlan
from kadmin.plan.rules import ClusterView
from kadmin.plan.throttle import ConfigChange
from kadmin.plan.unclean import UNCLEAN_ELECTION
from kadmin.report.operations.questions import question_to_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step
    from kadmin.plan.throttle import ConfigChanges

AT = "2026-01-01T00:00:00Z"
DEAD = {2: None, 3: None, 4: None}
ALL = DEAD | {1: None}
LISTS = {"x-0": (1, 2, 3), "x-1": (1, 3), "y-0": (1, 3, 2)}
FORCED = LISTS | {"x-0": (3, 1, 2), "x-1": (3, 1), "y-0": (3, 1, 2)}
OFFLINE = dict.fromkeys(LISTS, (-1, (1,)))
FIRST = OFFLINE | {"x-0": (3, (3, 2)), "x-1": (3, (3,))}
LED = FIRST | {"y-0": (3, (3,))}
IN_SYNC: dict[str, tuple[int, Replicas]] = {name: (3, replicas) for name, replicas in LISTS.items()}
PLAN = RecoveryPlan(
    PlanHeader(cluster_id=CLUSTER_ID),
    tuple(ForcedLeader(tp(name), 3, replicas) for name, replicas in LISTS.items()),
    AT,
)
WORK = ConfigRecoveryWork(PLAN, {"x": None, "y": "false"})
BEFORE = {"x": None, "y": "false"}
ASKED: tuple[Step, ...] = (UncleanElectionStep(1, AT, (tp("x-0"), tp("x-1"))),)
BOTH: tuple[Step, ...] = (*ASKED, UncleanElectionStep(2, AT, (tp("y-0"),)))
DONE: tuple[Step, ...] = (*BOTH, ConfigStep(3, AT, ("x", "y")))
CANCEL = StopRequest(Stop.CANCEL, "ann@host", AT, allow_foreign=False)
PAUSE = StopRequest(Stop.PAUSE, "ann@host", AT, allow_foreign=False)
LATE = PICKUP_DEADLINE_S + 1


def changes(*topics: str) -> ConfigChanges:
    return {
        ConfigEntity.of_topic(each): {UNCLEAN_ELECTION: ConfigChange(BEFORE[each], "true")}
        for each in topics
    }


def target(name: str) -> PartitionTarget:
    return PartitionTarget(tp(name), FORCED[name], LISTS[name])


def act(
    lists: Mapping[str, Replicas] = LISTS,
    states: Mapping[str, tuple[int, Replicas]] = OFFLINE,
    steps: tuple[Step, ...] = (),
    *,
    brokers: Mapping[int, str | None] = DEAD,
    request: StopRequest | None = None,
    now: float = 0.0,
    work: ConfigRecoveryWork = WORK,
    listening: bool = True,
) -> Action:
    state = cluster(lists, brokers=brokers, states=states)
    return on(state, steps, request=request, now=now, work=work, listening=listening)


def on(
    state: ClusterState,
    steps: tuple[Step, ...],
    *,
    request: StopRequest | None = None,
    now: float = 0.0,
    work: ConfigRecoveryWork = WORK,
    listening: bool = True,
) -> Action:
    memory = recall(steps)
    if listening:
        memory = replace(memory, listening=frozenset({Channel.REASSIGNMENT}))
    return decide(work, Observed(state, steps, NODES, request), memory, now)


def test_one_topic_goes_first_then_the_others_each_with_list_config_and_controller() -> None:
    first = ForceLeaders((target("x-0"), target("x-1")), changes("x"))
    assert act() == first
    assert step_of(first, 1, AT) == (ASKED[0], 2)
    assert act(steps=ASKED) == Wait("electing x-0, x-1")
    assert act(FORCED | {"y-0": LISTS["y-0"]}, FIRST, ASKED) == ForceLeaders(
        (target("y-0"),), changes("y")
    )


def test_many_topics_take_several_writes() -> None:
    lists: dict[str, Replicas] = {f"t{number}-0": (1, 3) for number in range(TOPICS_AT_ONCE + 2)}
    entries = tuple(ForcedLeader(tp(name), 3, replicas) for name, replicas in lists.items())
    work = ConfigRecoveryWork(
        replace(PLAN, partitions=entries), {tp(name).topic: None for name in lists}
    )
    steps = (UncleanElectionStep(1, AT, (tp("t0-0"),)),)
    states = dict.fromkeys(lists, (-1, (1,))) | {"t0-0": (3, (3,))}
    found = act(lists, states, steps, work=work)
    assert isinstance(found, ForceLeaders)
    assert len(found.targets) == len(found.configs) == TOPICS_AT_ONCE


def test_the_config_stays_until_every_replica_of_the_topic_is_in_sync() -> None:
    waits = act(FORCED, LED, BOTH)
    assert isinstance(waits, Wait)
    assert waits.for_person
    assert waits.reason.startswith("start broker 1, or cancel if it stays dead: ")
    assert "stays on x, y until every replica is in sync" in waits.reason
    left = leave(waits, WORK, Observed(cluster(FORCED), BOTH, NODES), recall(BOTH), None)
    assert isinstance(left, Finish)
    assert isinstance(left.error, LeftError)
    back = act(FORCED, LED, BOTH, brokers=ALL)
    assert isinstance(back, Wait)
    assert not back.for_person
    assert back.reason.startswith("waiting for brokers 1, 2 to be in sync with x-0, x-1, y-0: ")
    one = LED | {"y-0": IN_SYNC["y-0"]}
    assert act(FORCED, one, BOTH, brokers=ALL) == RestoreConfigs(changes("y"))


def test_the_config_stays_also_while_the_elected_leader_is_dead() -> None:
    lost = {**LED, "y-0": (-1, (3,))} | dict.fromkeys(("x-0", "x-1"), (-1, (3,)))
    found = act(FORCED, lost, BOTH, brokers={2: None, 4: None}, now=LATE)
    assert isinstance(found, Wait)
    assert found.reason.startswith("start brokers 1, 3, or cancel")


def test_then_it_is_set_back_and_the_lists_of_before_are_restored() -> None:
    assert act(FORCED, IN_SYNC, BOTH, brokers=ALL) == RestoreConfigs(changes("x", "y"))
    assert act(FORCED, IN_SYNC, DONE, brokers=ALL, listening=False) == AskListening(
        Channel.REASSIGNMENT
    )
    restoring = act(FORCED, IN_SYNC, DONE, brokers=ALL)
    lists = tuple(PartitionTarget(tp(each), LISTS[each], FORCED[each]) for each in LISTS)
    assert restoring == PublishWave(0, lists)
    published = (*DONE, WaveStep(4, AT, 0))
    pending = with_node(cluster(FORCED, states=IN_SYNC), dict(LISTS))
    assert isinstance(on(pending, published), Wait)
    done = act(LISTS, IN_SYNC, published, brokers=ALL)
    assert done == Finish(
        OperationState.COMPLETED,
        "3 partitions led by the chosen replica, the loss of 3 partitions is unknown",
    )


def test_a_refused_list_stays_and_is_named() -> None:
    found = act(FORCED, IN_SYNC, (*DONE, WaveStep(4, AT, 0)), brokers=ALL, now=LATE)
    assert isinstance(found, Finish)
    assert "the chosen leader stays first in the list of x-0, x-1, y-0" in found.message


def test_a_cancellation_sets_the_config_back_at_once_and_says_what_may_happen() -> None:
    assert isinstance(act(request=CANCEL), Finish)
    assert act(steps=ASKED, request=CANCEL) == Wait("electing x-0, x-1")
    assert act(FORCED, LED, BOTH, request=CANCEL) == RestoreConfigs(changes("x", "y"))
    found = act(FORCED, LED, DONE, request=CANCEL)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED
    assert "not in sync are x-0, x-1, y-0 on brokers 1, 2" in found.message
    assert "ends itself until the config is true again" in found.message
    assert "the chosen leader stays first in the list of x-0, x-1, y-0" in found.message
    restored = act(FORCED, LED | {"y-0": IN_SYNC["y-0"]}, DONE, request=CANCEL, brokers=ALL)
    assert restored == PublishWave(0, (PartitionTarget(tp("y-0"), (1, 3, 2), (3, 1, 2)),))


def test_it_pauses_while_it_waits_for_a_person() -> None:
    found = act(FORCED, LED, BOTH, request=PAUSE)
    assert isinstance(found, Finish)
    assert found.state is OperationState.PAUSED
    assert act(steps=ASKED, request=PAUSE) == Wait("electing x-0, x-1")


def test_an_election_that_never_shows_is_asked_for_again_and_given_up() -> None:
    again = tuple(replace(ASKED[0], number=number) for number in (1, 2, 3))
    assert isinstance(act(steps=again[:2], now=LATE), ForceLeaders)
    given_up = act(FORCED, steps=again, now=LATE)
    # The topic that is left goes first now.
    assert given_up == ForceLeaders((target("y-0"),), changes("y"))
    steps = (*again, *(UncleanElectionStep(number, AT, (tp("y-0"),)) for number in (4, 5, 6)))
    assert act(FORCED, steps=steps, now=LATE) == RestoreConfigs(changes("x", "y"))
    found = act(FORCED, steps=(*steps, ConfigStep(7, AT, ("x", "y"))), now=LATE)
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED


@pytest.mark.parametrize(
    ("lists", "states", "why"),
    [
        (LISTS | {"x-2": (1, 2)}, OFFLINE | {"x-2": (-1, (1,))}, "x-2"),
        (LISTS | {"x-0": (2, 3, 1)}, OFFLINE, "its replicas are [2, 3, 1] by now"),
    ],
)
def test_a_topic_is_left_alone_where_another_partition_would_be_elected_too(
    lists: dict[str, Replicas], states: dict[str, tuple[int, Replicas]], why: str
) -> None:
    assert act(lists, states) == ForceLeaders((target("y-0"),), changes("y"))
    led = states | {"y-0": IN_SYNC["y-0"]}
    steps = (BOTH[1], ConfigStep(3, AT, ("y",)))
    found = act(lists, led, steps)
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED
    assert why in str(found.error and found.error.cause)


def test_an_election_that_may_still_come_is_awaited_whatever_changed_meanwhile() -> None:
    lists, states = FORCED | {"x-2": (1, 2)}, OFFLINE | {"x-2": (-1, (1,))}
    assert act(lists, states, ASKED) == Wait("electing x-0, x-1")
    given_up = act(lists, states, ASKED, now=LATE)
    assert given_up == ForceLeaders((target("y-0"),), changes("y"))


def test_partitions_whose_only_replicas_are_in_sync_need_not_be_listed() -> None:
    lists = LISTS | {"x-2": (1,)}
    assert act(lists, OFFLINE | {"x-2": (-1, (1,))}) == act()


def test_a_replica_without_a_loss_that_is_alive_is_waited_for() -> None:
    assert isinstance(act(brokers=ALL), Wait)


def test_what_is_left_to_do_names_replicas_that_are_not_in_sync() -> None:
    observed = Observed(cluster(FORCED, brokers=DEAD, states=LED), BOTH, NODES)
    assert WORK.left_to_do(observed, recall(BOTH)) == ("x-0 in sync", "x-1 in sync", "y-0 in sync")


def test_an_empty_partition_gets_its_new_replicas_in_the_same_write() -> None:
    plan = RecoveryPlan(PlanHeader(), (ForcedLeader(tp("z-0"), 4, (1,), (4,)),), AT, empty=True)
    work = ConfigRecoveryWork(plan, {"z": None})
    lists: dict[str, Replicas] = {"z-0": (1,)}
    found = act(lists, {"z-0": (-1, (1,))}, work=work)
    assert isinstance(found, ForceLeaders)
    assert found.targets == (PartitionTarget(tp("z-0"), (4,), (1,)),)
    steps = (UncleanElectionStep(1, AT, (tp("z-0"),)), ConfigStep(2, AT, ("z",)))
    done = act({"z-0": (4,)}, {"z-0": (4, (4,))}, steps, work=work)
    assert isinstance(done, Finish)
    assert done.state is OperationState.COMPLETED


@pytest.mark.parametrize("step", DONE)
def test_the_record_alone_rebuilds_the_work(step: Step) -> None:
    assert decode_step(encode_step(step)) == step
    state = cluster(LISTS, brokers=DEAD, states=OFFLINE)
    holder = Holder(Author("ann", "host", 1), "op", AT, 6.0)
    record = record_of(RECOVERY, PLAN, WORK, state, holder)
    assert spec_of(decode_record(encode_record(record), "op")) == WORK


def test_the_examination_finds_the_configs_of_before_and_says_what_is_done() -> None:
    state = replace(
        cluster(LISTS, brokers=DEAD, states=OFFLINE),
        topic_configs={"y": {UNCLEAN_ELECTION: "false"}},
    )
    found = examine_recovery(
        Examination((), None), PLAN, ClusterView(state, ClusterFacts(elects_by_config=True))
    )
    assert found.work == WORK
    assert "moves of the whole cluster's controller" in found.warnings[0]
    question = question_to_type(PLAN, found, "the cluster", "3")
    assert question.endswith(
        "3 partitions to elect a leader that lacks records, by unclean.leader.election.enable of 2 "
        "topics and moves of the whole cluster's controller. Type the number of partitions to "
        "elect their leaders (3)"
    )
