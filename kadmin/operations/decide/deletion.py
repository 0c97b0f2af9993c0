"""Rules of a topic deletion: one pending request for each topic.

Done is topic, config and request all gone. A request is never removed: once it is stuck, the live copies are
deleted, and without the request the topic comes back empty.

========================================================  =============================================
seen, per topic                                           meaning
========================================================  =============================================
topic and request gone                                    done
request pending                                           running
request gone, topic exists, step on record                refused (deletion is disabled)
no request, no step on record                             to be published
========================================================  =============================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, count, name_some
from kadmin.operations.decide.actions import (
    PUBLISH_ATTEMPTS,
    Finish,
    ListedWork,
    PlanKind,
    PublishDeletion,
    Verdict,
    Wait,
    failed,
    unfinished,
)
from kadmin.operations.decide.common import changing, overdue
from kadmin.operations.record.record import OperationKind, OperationState, StepKind
from kadmin.plan.model import DeletionLayout, DeletionPlan, TopicRecipe
from kadmin.plan.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action, Memory, Observed, Published


@dataclass(frozen=True, slots=True)
class DeletionWork(ListedWork):
    """A deletion as recorded. A request that is not picked up shows a deaf controller, so there is no channel."""

    plan: DeletionPlan

    def listed(self) -> tuple[str, ...]:
        """Return the plan's topics."""
        return self.plan.topics

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action."""
        state = observed.state
        asked = {topic for step in observed.steps if step.kind is StepKind.DELETION for topic in step.topics}
        present = [topic for topic in self.plan.topics if topic in state.topics]
        queued = [topic for topic in self.plan.topics if topic in state.requests.deletions]
        unpublished = tuple(topic for topic in present if topic not in asked and topic not in queued)
        if unpublished:
            if state.controller is None:
                return Wait("the cluster has no controller", len(unpublished))
            return changing() if memory.attempts >= PUBLISH_ATTEMPTS else PublishDeletion(unpublished, self.plan.layout)
        if not present and not queued:
            return Finish(OperationState.COMPLETED, f"{count(len(self.plan.topics), 'topic')} deleted")
        if not overdue(memory, now):
            return Wait("deleting", len(set(present) | set(queued)))
        return _overdue(self, present, queued, state)

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the topics that exist or are queued for deletion."""
        return tuple(each for each in self.plan.topics if each in state.topics or each in state.requests.deletions)


def _overdue(work: DeletionWork, present: Sequence[str], queued: Sequence[str], state: ClusterState) -> Action:
    refused = [topic for topic in present if topic not in queued]
    if refused and work.plan.layout is DeletionLayout.DOCUMENT:
        return _not_read(refused)
    untouched = [topic for topic in queued if topic in state.topics and not _begun(topic, state)]
    held_up = {topic: _dead_replicas(topic, state) for topic in queued if _dead_replicas(topic, state)}
    if untouched:
        return _not_consumed(untouched)
    if refused and len(refused) == len(present):
        return _refused(refused)
    if held_up and len(held_up) + len(refused) == len(set(present) | set(queued)):
        return _held_up(held_up)
    return Wait("deleting", len(set(present) | set(queued)))


def _begun(topic: str, state: ClusterState) -> bool:
    # Every controller first takes the leader away (-1, or -2 while deletion runs) and then removes the state znodes.
    partitions = state.topics[topic].partitions()
    return any(p not in state.states or state.states[p].leader < 0 for p in partitions)


def _dead_replicas(topic: str, state: ClusterState) -> tuple[int, ...]:
    found = state.topics.get(topic)
    return () if found is None else tuple(sorted(found.brokers - set(state.brokers)))


def _refused(topics: Sequence[str]) -> Finish:
    return failed(
        NotCompletedError(
            f"The controller dropped the request and kept {count(len(topics), 'topic')}: {name_some(topics)}.",
            cause="deletion is disabled on the brokers (delete.topic.enable=false)",
            next_command="enable deletion on every broker, then apply again",
        )
    )


def _not_consumed(topics: Sequence[str]) -> Finish:
    return unfinished(
        NotCompletedError(
            f"The controller did not start to delete {name_some(topics)} within the deadline.",
            cause="the request stays pending; without it the topic could come back empty",
            next_command="kadmin resume",
        )
    )


def _not_read(topics: Sequence[str]) -> Finish:
    return failed(
        NotCompletedError(
            f"These topics were not deleted: {name_some(topics)}.",
            cause="no Kafka controller reads a deletion in the document layout",
            next_command="use layout: children",
        )
    )


def _held_up(held_up: dict[str, tuple[int, ...]]) -> Finish:
    waits = "; ".join(f"{topic} waits for {name_some(brokers)}" for topic, brokers in list(held_up.items())[:5])
    return unfinished(
        NotCompletedError(
            f"Deletions wait for brokers that are not alive: {waits}.",
            cause="copies on live brokers are deleted; the others are deleted when those brokers return",
            next_command="start the brokers, then kadmin resume",
        )
    )


def _verdicts(plan: DeletionPlan, state: ClusterState, _: Published) -> Iterator[Verdict]:
    for topic in plan.topics:
        if topic in state.requests.deletions:
            yield Verdict(topic, None, Progress.RUNNING, "queued for deletion")
        elif topic in state.topics:
            yield Verdict(topic, None, Progress.WAITING, "the topic exists")
        else:
            yield Verdict(topic, None, Progress.DONE)


def _recipe(topic: str, state: ClusterState) -> TopicRecipe:
    return TopicRecipe(topic, state.topics[topic].replicas, state.topic_configs.get(topic, {}))


DELETION = PlanKind(
    OperationKind.DELETION,
    DeletionPlan,
    scope=lambda plan: set(plan.topics),
    work_of=lambda plan, _: DeletionWork(plan),
    fields=lambda work, state: {"recipes": tuple(_recipe(topic, state) for topic in work.plan.topics)},
    verdicts=_verdicts,
)
