"""Rules of a recreation: config and topic in one step, one topic per step.

=====================================================  ==========================================
seen, per topic                                        meaning
=====================================================  ==========================================
exists, every partition with a leader, step on record  done
exists, no step on record, or refused                  created by others: Finish, busy
exists, step on record                                 Wait for leaders; past the deadline Finish
absent, refused with a reason                          Finish: failed
absent, step without an answer                         past the deadline to be published again
absent, step on record                                 deleted again: Finish
absent, being deleted                                  Wait
absent                                                 to be published, in the plan's order
=====================================================  ==========================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    PUBLISH_ATTEMPTS,
    Finish,
    PublishTopic,
    Wait,
    failed,
    unfinished,
)
from kadmin.operations.decide.common import AskedTopics, changing, overdue, refused_topics
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind, Verdict
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import CreationStep
from kadmin.plan.model import RecreationPlan
from kadmin.plan.progress import Progress
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.model import TopicRecipe


@dataclass(frozen=True, slots=True)
class RecreationWork(ListedOperationSpec):
    """A recreation as recorded. Topics are created directly, without a channel."""

    plan: RecreationPlan

    def listed(self) -> tuple[str, ...]:
        """Return the recipes' topics."""
        return self.plan.topics

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the recreation."""
        state, recipes = observed.state, self.plan.recipes
        absent = [recipe for recipe in recipes if recipe.topic not in state.topics]
        if failure := _failure(recipes, observed):
            return failure
        if absent:
            return _make(absent, observed, memory, now)
        without = [recipe.topic for recipe in recipes if not is_whole(recipe, state)]
        if not without:
            return Finish(
                OperationState.COMPLETED, f"{count(len(recipes), 'topic')} created again, empty"
            )
        return (
            _leaderless(without) if overdue(memory, now) else Wait("the controller chooses leaders")
        )

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the topics with a partition that is absent or has no leader."""
        return tuple(recipe.topic for recipe in self.plan.recipes if not is_whole(recipe, state))


def _failure(recipes: Sequence[TopicRecipe], observed: Observed) -> Finish | None:
    """Finish where a topic was made by others, refused, or deleted again.

    None where all is well.
    """
    asked, there = AskedTopics(CreationStep, observed.steps), observed.state.topics
    # Where the first request was not answered, the second one is refused because the first was
    # carried out.
    refused = {
        topic: reason
        for topic, reason in asked.refused.items()
        if topic not in asked.unanswered or topic not in there
    }
    names = [recipe.topic for recipe in recipes]
    made = asked.topics - refused.keys()
    if foreign := [topic for topic in names if topic in there and topic not in made]:
        return _created_by_others(foreign)
    if refused:
        return refused_topics("create", refused, command("recreate", "ID"))
    gone = [topic for topic in names if topic in made - asked.unanswered and topic not in there]
    return _deleted_again(gone) if gone else None


def _make(wanted: Sequence[TopicRecipe], observed: Observed, memory: Memory, now: float) -> Action:
    topic, asked = wanted[0].topic, AskedTopics(CreationStep, observed.steps)
    if topic in observed.state.requests.deletions:
        return Wait(f"{topic} is still being deleted")
    if observed.state.controller is None:
        return Wait("the cluster has no controller")
    if topic in asked.unanswered and not overdue(memory, now):
        return Wait(f"whether {topic} was created is not known yet")
    return changing() if memory.attempts >= PUBLISH_ATTEMPTS else PublishTopic(wanted[0])


def _created_by_others(topics: Sequence[str]) -> Finish:
    return failed(
        BusyError(
            f"{name_some(topics)} was created by another client; it was left unchanged.",
            cause=(
                "brokers create topics automatically for producers and consumers, or another tool "
                "did"
            ),
            next_step=command("recreate", "ID")
            + ", after the topic was deleted; or kafka-topics.sh --alter",
        )
    )


def _deleted_again(topics: Sequence[str]) -> Finish:
    return failed(
        NotCompletedError(
            f"{name_some(topics)} was created by this operation, then deleted by another client.",
            next_step=command("history"),
        )
    )


def _leaderless(topics: Sequence[str]) -> Finish:
    return unfinished(
        NotCompletedError(
            f"The controller has not chosen leaders for {name_some(topics)} within the deadline.",
            cause="the topics exist; a working controller chooses their leaders",
            next_step=command("doctor") + ", then " + command("resume"),
        )
    )


def _verdicts(plan: RecreationPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    for recipe in plan.recipes:
        topic = state.topics.get(recipe.topic)
        if topic is None:
            yield Verdict(recipe.topic, None, Progress.WAITING, "no such topic")
        elif topic.replicas != recipe.replicas:
            yield Verdict(recipe.topic, None, Progress.STALE, "its assignment is not the recipe's")
        elif not is_whole(recipe, state):
            yield Verdict(recipe.topic, None, Progress.RUNNING, "not every partition has a leader")
        else:
            yield Verdict(recipe.topic, None, Progress.DONE)


RECREATION = PlanKind(
    OperationKind.RECREATION,
    RecreationPlan,
    scope=lambda plan: set(plan.topics),
    spec_of=lambda plan, _: RecreationWork(plan),
    fields=lambda work, _: {"recipes": work.plan.recipes},
    verdicts=_verdicts,
)


def is_whole(recipe: TopicRecipe, state: ClusterState) -> bool:
    """Whether the topic is there with the recipe's partitions, and each of them has a leader."""
    topic = state.topics.get(recipe.topic)
    if topic is None or set(topic.replicas) != set(recipe.replicas):
        return False
    states = [state.states.get(partition) for partition in topic.partitions()]
    return all(found is not None and found.leader >= 0 for found in states)
