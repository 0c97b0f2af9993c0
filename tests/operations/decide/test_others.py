from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import API, NODES
from support.cluster.states import cluster, tp, with_node

from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import (
    AskListening,
    Finish,
    Memory,
    Observed,
    PublishDeletion,
    PublishElection,
    Wait,
)
from kadmin.operations.decide.deletion import DeletionWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Channel, DeletionStep, ElectionStep, Sending
from kadmin.plan.model import DeletionLayout, DeletionPlan, PlanHeader, TopicRecipe

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

HEARD = Memory(epoch=1, listening=frozenset({Channel.ELECTION}))
TARGETS = tuple(tp(f"a-{n}") for n in range(3))
ASKED = ElectionStep(1, "now", TARGETS[:1])


def elect(state: ClusterState, *steps: Step, memory: Memory = HEARD, now: float = 0.0) -> Action:
    return decide(ElectionWork(TARGETS), Observed(state, steps, NODES), memory, now)


def off(**states: tuple[int, tuple[int, ...]]) -> ClusterState:
    return cluster(
        {str(t): (1, 2) for t in TARGETS},
        states={k.replace("_", "-"): v for k, v in states.items()},
    )


def test_an_election_asks_only_for_what_can_be_elected() -> None:
    state = off(a_0=(2, (2, 1)), a_1=(2, (2,)))
    assert elect(state, memory=Memory(epoch=1)) == AskListening(Channel.ELECTION)
    assert elect(state) == PublishElection((tp("a-0"),))


def test_elections_go_in_batches_of_500() -> None:
    targets = tuple(tp(f"t-{n}") for n in range(1_200))
    state = cluster(
        {str(t): (1, 2) for t in targets}, states={str(t): (2, (1, 2)) for t in targets}
    )
    first = decide(ElectionWork(targets), Observed(state, (), NODES), HEARD, 0.0)
    assert first == PublishElection(targets[:500])
    asked = ElectionStep(1, "now", targets[:500])
    assert decide(
        ElectionWork(targets), Observed(state, (asked,), NODES), HEARD, 0.0
    ) == PublishElection(targets[500:1_000])


def test_our_election_is_waited_for_and_a_foreign_one_stops() -> None:
    state = off(a_0=(2, (2, 1)))
    ours = with_node(state, {"a-0": ()}, election=True)
    assert isinstance(elect(ours, ASKED), Wait)
    assert isinstance(elect(ours, ASKED, memory=replace(HEARD, last_step=1), now=11.0), Finish)
    foreign = elect(with_node(state, {"z-9": ()}, election=True), ASKED)
    assert isinstance(foreign, Finish)
    assert isinstance(foreign.error, BusyError)


def test_an_election_never_claims_what_the_states_do_not_show() -> None:
    """The node is deleted whatever came of it."""
    again = (ASKED, replace(ASKED, number=2), replace(ASKED, number=3))
    assert isinstance(elect(off(a_0=(2, (2, 1))), ASKED), AskListening | PublishElection)
    failed = elect(off(a_0=(2, (2, 1))), *again)
    assert isinstance(failed, Finish)
    assert isinstance(failed.error, NotCompletedError)
    assert failed.state is OperationState.FAILED
    assert elect(off()) == Finish(OperationState.COMPLETED, "3 partitions led as preferred")


def test_f34_a_dead_preferred_replica_is_told_per_partition() -> None:
    state = cluster({str(t): (9, 1) for t in TARGETS}, states={str(t): (1, (1,)) for t in TARGETS})
    result = elect(state)
    assert isinstance(result, Finish)
    assert result.error is not None
    assert "a-2: preferred broker 9 is not alive" in (result.error.cause or "")


PLAN = DeletionPlan(PlanHeader(), ("old",))
DELETED = DeletionStep(1, "now", ("old",))


def delete(
    state: ClusterState, *steps: Step, now: float = 0.0, plan: DeletionPlan = PLAN
) -> Action:
    return decide(
        DeletionWork(plan),
        Observed(state, steps, NODES),
        Memory(epoch=1, last_step=len(steps)),
        now,
    )


def queued(state: ClusterState) -> ClusterState:
    return replace(state, requests=replace(state.requests, deletions=("old",)))


def test_a_deletion_is_published_followed_and_done_when_all_is_gone() -> None:
    there = cluster({"old-0": (1, 2)})
    assert delete(there) == PublishDeletion(("old",), DeletionLayout.CHILDREN)
    assert isinstance(delete(queued(there), DELETED), Wait)
    assert isinstance(delete(queued(cluster({})), DELETED), Wait)
    assert delete(cluster({}), DELETED) == Finish(OperationState.COMPLETED, "1 topic deleted")


@pytest.mark.parametrize(
    ("state", "word", "kept"),
    [
        (cluster({"old-0": (1, 2)}), "delete.topic.enable", OperationState.FAILED),
        (queued(cluster({"old-0": (1, 2)})), "did not start", OperationState.RUNNING),
        (
            queued(cluster({"old-0": (1, 9)}, states={"old-0": (-1, (1,))})),
            "waits for 9",
            OperationState.RUNNING,
        ),
    ],
)
def test_a_deletion_that_does_not_end_is_told_apart(
    state: ClusterState, word: str, kept: OperationState
) -> None:
    assert isinstance(delete(state, DELETED, now=9.0), Wait)
    action = delete(state, DELETED, now=11.0)
    assert isinstance(action, Finish)
    assert isinstance(action.error, NotCompletedError)
    assert word in f"{action.error.message} {action.error.cause}"
    assert action.state is kept


def test_a_deletion_under_way_has_no_deadline() -> None:
    begun = queued(cluster({"old-0": (1, 2)}, states={"old-0": (-1, (1, 2))}))
    assert isinstance(delete(begun, DELETED, now=10_000.0), Wait)


def test_the_document_layout_says_that_nobody_reads_it() -> None:
    plan = replace(PLAN, layout=DeletionLayout.DOCUMENT)
    there = cluster({"old-0": (1, 2)})
    assert delete(there, plan=plan) == PublishDeletion(("old",), DeletionLayout.DOCUMENT)
    action = delete(there, DELETED, plan=plan, now=11.0)
    assert isinstance(action, Finish)
    assert action.error is not None
    assert "no Kafka controller reads" in (action.error.cause or "")


IDENTIFIED = DeletionWork(PLAN, topic_ids={"old": "first"})
SENT = replace(DELETED, sending=Sending.UNANSWERED)
ANSWERED = replace(DELETED, sending=Sending.ANSWERED)


def by_id(state: ClusterState, *steps: Step, now: float = 0.0) -> Action:
    return decide(
        IDENTIFIED,
        Observed(state, steps, capabilities=API),
        Memory(epoch=1, last_step=len(steps)),
        now,
    )


def identified(topic_id: str) -> ClusterState:
    there = cluster({"old-0": (1, 2)})
    return replace(there, topics={"old": replace(there.topics["old"], topic_id=topic_id)})


def test_a_request_without_an_answer_is_sent_again_while_the_same_topic_is_there() -> None:
    assert by_id(identified("first")) == PublishDeletion(("old",), DeletionLayout.CHILDREN)
    assert isinstance(by_id(identified("first"), SENT, now=9.0), Wait)
    assert by_id(identified("first"), SENT, now=11.0) == PublishDeletion(
        ("old",), DeletionLayout.CHILDREN
    )
    assert by_id(cluster({}), SENT) == Finish(OperationState.COMPLETED, "1 topic deleted")


def test_a_topic_that_was_made_again_is_spared() -> None:
    """It is stale where others deleted the first one, and only told where we did."""
    refused = replace(ANSWERED, refused_topics={"old": "UNKNOWN_TOPIC_ID: no message"})
    for spared in (by_id(identified("second")), by_id(identified("second"), refused)):
        assert isinstance(spared, Finish)
        assert isinstance(spared.error, StalePlanError)
    for steps in ([ANSWERED], [SENT], [SENT, replace(refused, number=2)]):
        done = by_id(identified("second"), *steps)
        assert done == Finish(
            OperationState.COMPLETED, "1 topic deleted; other topics have these names since: old"
        )


def test_a_refused_deletion_fails_with_the_reason() -> None:
    refused = replace(
        ANSWERED, refused_topics={"old": "TOPIC_DELETION_DISABLED: Topic deletion is disabled."}
    )
    result = by_id(identified("first"), refused)
    assert isinstance(result, Finish)
    assert result.error is not None
    assert result.error.cause == "TOPIC_DELETION_DISABLED: Topic deletion is disabled."


def test_brokers_that_are_away_may_keep_folders_of_a_deleted_topic() -> None:
    work = replace(IDENTIFIED, recipes=(TopicRecipe("old", {0: (1, 9)}, {}),))
    done = decide(
        work, Observed(cluster({}), (ANSWERED,), NODES), Memory(epoch=1, last_step=1), 0.0
    )
    told = "1 topic deleted; brokers that are not alive may keep folders of them on disk: 9"
    assert done == Finish(OperationState.COMPLETED, told)


def test_an_election_tells_the_reason_of_each_partition_that_was_refused() -> None:
    refused = replace(ASKED, refused={TARGETS[0]: "PREFERRED_LEADER_NOT_AVAILABLE: no message"})
    steps = (refused, replace(refused, number=2), replace(refused, number=3))
    failed = elect(off(a_0=(2, (2, 1))), *steps)
    assert isinstance(failed, Finish)
    assert failed.error is not None
    assert failed.error.cause == "a-0: PREFERRED_LEADER_NOT_AVAILABLE: no message"
