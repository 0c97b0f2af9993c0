from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster

from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.operations.decide import decide
from kadmin.operations.decide.actions import Finish, Memory, Observed, PublishGrowth, Wait
from kadmin.operations.decide.examine import examine
from kadmin.operations.decide.growth import GrowthWork
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import GrowthStep, Sending
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.plan.model import GrowthPlan, PlanHeader, TopicGrowth
from kadmin.report.operations.questions import apply_question

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.steps import Step

A, B = TopicGrowth("a", 1, ((2, 3),)), TopicGrowth("b", 1, ((3, 4), (4, 1)))
PLAN = GrowthPlan(PlanHeader(), (A, B))
WORK = GrowthWork(PLAN)
STEPS = tuple(GrowthStep(number, "now", (growth.topic,)) for number, growth in enumerate((A, B), 1))
OLD = {"a-0": (1, 2), "b-0": (2, 1)}
NEW_A, NEW_B = {"a-1": (2, 3)}, {"b-1": (3, 4), "b-2": (4, 1)}
NONE, ONE, BOTH = cluster(OLD), cluster({**OLD, **NEW_A}), cluster({**OLD, **NEW_A, **NEW_B})
LEADERLESS = replace(BOTH, states=NONE.states)


def action(
    state: ClusterState,
    *steps: Step,
    now: float = 0.0,
    memory: Memory | None = None,
    work: GrowthWork = WORK,
) -> Action:
    return decide(work, Observed(state, steps, NODES), memory or Memory(epoch=1), now)


def test_topics_grow_one_by_one_until_each_new_partition_is_led() -> None:
    assert action(NONE) == PublishGrowth(A)
    assert action(ONE, STEPS[0]) == PublishGrowth(B)
    assert action(LEADERLESS, *STEPS, now=9.0) == Wait("the controller chooses leaders")
    assert action(BOTH, *STEPS) == Finish(OperationState.COMPLETED, "3 partitions added")


def test_a_missing_controller_is_waited_for_and_a_changing_cluster_ends_it() -> None:
    assert action(replace(NONE, controller=None)) == Wait("the cluster has no controller")
    found = action(NONE, memory=Memory(epoch=1, attempts=3))
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED


@pytest.mark.parametrize(
    ("state", "steps", "kind", "kept", "word"),
    [
        (cluster({"b-0": (2, 1)}), (), StalePlanError, OperationState.FAILED, "a: not the"),
        (
            cluster({**OLD, "a-1": (1, 2)}),
            (),
            StalePlanError,
            OperationState.FAILED,
            "nothing was added there",
        ),
        (LEADERLESS, STEPS, NotCompletedError, OperationState.RUNNING, "have no leader"),
        (NONE, STEPS[:1], NotCompletedError, OperationState.RUNNING, "a does not show"),
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


def test_another_topic_of_the_same_name_is_left_alone() -> None:
    work = GrowthWork(PLAN, topic_ids={"a": "first"})
    other = replace(NONE.topics["a"], topic_id="second")
    found = action(replace(NONE, topics={**NONE.topics, "a": other}), work=work)
    assert isinstance(found, Finish)
    assert found.state is OperationState.FAILED
    same = replace(other, topic_id="first")
    assert action(replace(NONE, topics={**NONE.topics, "a": same}), work=work) == PublishGrowth(A)


def test_a_request_without_an_answer_is_sent_again_and_refused_only_where_it_shows_nothing() -> (
    None
):
    sent = replace(STEPS[0], sending=Sending.UNANSWERED)
    refused = replace(
        STEPS[0], number=2, sending=Sending.ANSWERED, refused_topics={"a": "INVALID_PARTITIONS: no"}
    )
    waiting = Wait("whether a has its new partitions is not known yet")
    assert action(ONE, sent) == PublishGrowth(B)
    assert action(ONE, sent, refused) == PublishGrowth(B)
    assert action(NONE, sent, now=9.0) == waiting
    assert action(NONE, sent, now=11.0) == PublishGrowth(A)
    assert action(NONE, sent, refused, now=9.0) == waiting
    for found in (action(NONE, sent, refused, now=11.0), action(NONE, refused)):
        assert isinstance(found, Finish)
        assert found.state is OperationState.FAILED
        assert "refused to add partitions to a" in found.message


def test_an_answer_that_does_not_show_yet_is_waited_for() -> None:
    answered = replace(STEPS[0], sending=Sending.ANSWERED)
    assert action(NONE, answered, now=9.0) == Wait("a does not show them yet")


@pytest.mark.parametrize(
    ("stop", "state"),
    [(Stop.PAUSE, OperationState.PAUSED), (Stop.CANCEL, OperationState.CANCELLED)],
)
def test_a_request_to_stop_says_what_was_added_and_stays(stop: Stop, state: OperationState) -> None:
    request = StopRequest(stop, "somebody", "now")

    def stopped(seen: ClusterState, *steps: Step) -> Action:
        return decide(WORK, Observed(seen, steps, NODES, request), Memory(epoch=1), 0.0)

    found = stopped(ONE, STEPS[0])
    assert isinstance(found, Finish)
    assert found.state is state
    assert "1 of 3 partitions added" in found.message
    assert isinstance(stopped(LEADERLESS, *STEPS), Wait)


def test_a_cancellation_ends_what_never_gets_leaders() -> None:
    request = StopRequest(Stop.CANCEL, "somebody", "now")
    seen = Observed(LEADERLESS, STEPS, NODES, request)
    found = decide(WORK, seen, Memory(epoch=1), 61.0)
    assert isinstance(found, Finish)
    assert found.state is OperationState.CANCELLED
    assert "have no leader" in found.message


def test_progress_counts_new_partitions_that_are_led() -> None:
    observed = Observed(replace(BOTH, states=ONE.states), STEPS, NODES)
    found = WORK.tally(observed, Memory())
    assert (found.done, found.total) == (1, 3)
    assert WORK.left_to_do(observed, Memory()) == ("b-1", "b-2")
    assert WORK.topics() == {"a", "b"}


def test_an_examination_has_what_is_added_and_the_topics_of_before() -> None:
    found = examine(PLAN, ONE, NODES.publish)
    assert found.targets == ("b-1", "b-2")
    assert isinstance(found.work, GrowthWork)
    assert [each.topic for each in found.work.recipes] == ["a", "b"]
    assert found.new is not None
    assert found.new.after[4].replicas == 2
    asked = apply_question(PLAN, found, "the cluster at x")
    assert asked.split("\n") == [
        "This cannot be rolled back: Kafka removes no partition of a topic.",
        "Apply the plan to the cluster at x: 2 partitions to add?",
    ]
    assert examine(PLAN, BOTH, NODES.publish).work is None
    assert examine(PLAN, cluster({"a-0": (1, 2)}), NODES.publish).work is None
