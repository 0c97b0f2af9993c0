from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster

from kadmin.errors import BusyError, NotCompletedError
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import Finish, Memory, Observed, PublishTopic, Wait
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import CreationStep, Sending
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import PlanHeader, RecreationPlan, TopicRecipe

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

FIRST, SECOND = (TopicRecipe(topic, {0: (1, 2)}, {"a": "b"}) for topic in ("first", "second"))
WORK = RecreationWork(RecreationPlan(PlanHeader(), (FIRST, SECOND)))
STEPS = tuple(
    CreationStep(number, "now", (recipe.topic,)) for number, recipe in enumerate((FIRST, SECOND), 1)
)
NONE = cluster({})
ONE = cluster({"first-0": (1, 2)})
BOTH = cluster({"first-0": (1, 2), "second-0": (1, 2)})
LEADERLESS = replace(BOTH, states={})


def action(
    state: ClusterState, *steps: Step, now: float = 0.0, memory: Memory | None = None
) -> Action:
    return decide(WORK, Observed(state, steps, NODES), memory or Memory(epoch=1), now)


def test_topics_are_made_one_by_one_until_each_has_its_leaders() -> None:
    assert action(NONE) == PublishTopic(FIRST)
    assert action(ONE, STEPS[0]) == PublishTopic(SECOND)
    assert action(LEADERLESS, *STEPS, now=9.0) == Wait("the controller chooses leaders")
    assert action(BOTH, *STEPS) == Finish(OperationState.COMPLETED, "2 topics created again, empty")


def test_a_topic_in_the_queue_and_a_missing_controller_are_waited_for() -> None:
    queued = replace(NONE, requests=replace(NONE.requests, deletions=("first",)))
    assert action(queued) == Wait("first is still being deleted")
    assert action(replace(NONE, controller=None)) == Wait("the cluster has no controller")


@pytest.mark.parametrize(
    ("state", "steps", "kind", "kept", "word"),
    [
        (ONE, (), BusyError, OperationState.FAILED, "first was created by another client"),
        (BOTH, STEPS[:1], BusyError, OperationState.FAILED, "second was created by another client"),
        (NONE, STEPS[:1], NotCompletedError, OperationState.FAILED, "deleted by another client"),
        (LEADERLESS, STEPS, NotCompletedError, OperationState.RUNNING, "has not chosen leaders"),
    ],
)
def test_what_goes_wrong_is_told_apart(
    state: ClusterState,
    steps: tuple[Step, ...],
    kind: type[KadminError],
    kept: OperationState,
    word: str,
) -> None:
    found = action(state, *steps, now=11.0)
    assert isinstance(found, Finish)
    assert found.state is kept
    assert isinstance(found.error, kind)
    assert word in found.error.message


def test_a_cluster_that_keeps_changing_ends_it() -> None:
    found = action(NONE, memory=Memory(epoch=1, attempts=3))
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED


def test_a_pause_lets_what_was_made_get_its_leaders() -> None:
    request = StopRequest(Stop.PAUSE, "somebody", "now")
    made = decide(WORK, Observed(LEADERLESS, STEPS, NODES, request), Memory(epoch=1), 0.0)
    assert isinstance(made, Wait)
    before = decide(WORK, Observed(NONE, (), NODES, request), Memory(epoch=1), 0.0)
    assert isinstance(before, Finish)
    assert before.state is OperationState.PAUSED


def test_progress_counts_whole_topics() -> None:
    observed = Observed(replace(BOTH, states=ONE.states), STEPS, NODES)
    found = WORK.tally(observed, Memory())
    assert (found.done, found.total) == (1, 2)
    assert WORK.left_to_do(observed, Memory()) == ("second",)
    assert WORK.topics() == {"first", "second"}


def test_a_creation_without_an_answer_is_ours_if_it_shows_and_is_sent_again_if_it_does_not() -> (
    None
):
    sent = replace(STEPS[0], sending=Sending.UNANSWERED)
    refused = replace(
        STEPS[0],
        number=2,
        sending=Sending.ANSWERED,
        refused_topics={"first": "TOPIC_ALREADY_EXISTS: no message"},
    )
    assert action(ONE, sent) == PublishTopic(SECOND)
    assert action(ONE, sent, refused) == PublishTopic(SECOND)
    assert action(NONE, sent, now=9.0) == Wait("whether first was created is not known yet")
    assert action(NONE, sent, now=11.0) == PublishTopic(FIRST)


@pytest.mark.parametrize(
    ("state", "word"), [(ONE, "created by another client"), (NONE, "refused to create first")]
)
def test_a_creation_that_is_refused_fails(state: ClusterState, word: str) -> None:
    refused = replace(
        STEPS[0], sending=Sending.ANSWERED, refused_topics={"first": "POLICY_VIOLATION: no"}
    )
    result = action(state, refused)
    assert isinstance(result, Finish)
    assert result.state is OperationState.FAILED
    assert word in result.message
