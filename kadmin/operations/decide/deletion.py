"""Rules of a topic deletion: one pending request for each topic.

Done is topic, config and request all gone. A request is never taken back: when it is stuck, the live copies are
already destroyed, and removing it brings the topic back empty.

========================================================  =============================================
seen, per topic                                           meaning
========================================================  =============================================
topic and request gone                                    done
request pending                                           running
request gone, topic still there, step on record           refused (deletion is disabled)
no request, no step on record                             to be published
========================================================  =============================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, count, name_some
from kadmin.operations.decide.actions import PUBLISH_ATTEMPTS, Finish, PlanKind, PublishDeletion, Tally, Verdict, Wait
from kadmin.operations.decide.common import changing, overdue
from kadmin.operations.record.record import OperationKind, OperationState, StepKind
from kadmin.plan.model import DeletionLayout, DeletionPlan, TopicRecipe
from kadmin.plan.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action, Memory, Observed, Published
    from kadmin.operations.record.record import Channel


@dataclass(frozen=True, slots=True)
class DeletionWork:
    """A deletion as recorded."""

    plan: DeletionPlan

    @property
    def channel(self) -> Channel | None:
        """Return None: a child that is not taken away within the deadline is the only evidence."""
        return None

    def topics(self, wave: int | None = None) -> set[str]:  # noqa: ARG002 - a deletion has no waves
        """Return the plan's topics."""
        return set(self.plan.topics)

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action."""
        return _decide(self, observed, memory, now)

    def in_flight(self, observed: Observed, memory: Memory) -> bool:  # noqa: ARG002 - a deletion has no waves
        """Whether anything was asked for: a deletion cannot be taken back."""
        return bool(observed.steps)

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count topics that are gone."""
        return Tally(len(self.plan.topics) - len(self.left_to_do(observed, memory)), len(self.plan.topics))

    def left_to_do(self, observed: Observed, memory: Memory) -> tuple[str, ...]:  # noqa: ARG002 - no waves
        """Name the topics that exist or are queued for deletion."""
        state = observed.state
        return tuple(each for each in self.plan.topics if each in state.topics or each in state.requests.deletions)


def _decide(work: DeletionWork, observed: Observed, memory: Memory, now: float) -> Action:
    state = observed.state
    asked = {topic for step in observed.steps if step.kind is StepKind.DELETION for topic in step.topics}
    present = [topic for topic in work.plan.topics if topic in state.topics]
    queued = [topic for topic in work.plan.topics if topic in state.requests.deletions]
    unpublished = tuple(topic for topic in present if topic not in asked and topic not in queued)
    if unpublished:
        if state.controller is None:
            return Wait("the cluster has no controller right now", len(unpublished))
        return changing() if memory.attempts >= PUBLISH_ATTEMPTS else PublishDeletion(unpublished, work.plan.layout)
    if not present and not queued:
        return Finish(OperationState.COMPLETED, f"{count(len(work.plan.topics), 'topic')} deleted")
    if not overdue(memory, now):
        return Wait("deleting", len(set(present) | set(queued)))
    return _overdue(work, present, queued, state)


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
    holding = set() if found is None else {broker for replicas in found.replicas.values() for broker in replicas}
    return tuple(sorted(holding - set(state.brokers)))


def _refused(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"refused by the controller: {name_some(topics)}",
        NotCompletedError(
            f"The controller dropped the request and kept {count(len(topics), 'topic')}: {name_some(topics)}.",
            cause="deletion is disabled on the brokers (delete.topic.enable=false)",
            next_command="enable deletion on every broker, then apply again",
        ),
    )


def _not_consumed(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.RUNNING,
        f"the controller did not begin with {name_some(topics)}",
        NotCompletedError(
            f"The controller did not begin to delete {name_some(topics)} within the deadline.",
            cause="the request stays pending; removing it could bring the topic back empty",
            next_command="kadmin resume, to follow it on",
        ),
    )


def _not_read(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"no controller reads the document: {name_some(topics)}",
        NotCompletedError(
            f"Nothing happened to {name_some(topics)}.",
            cause="no Kafka controller reads a deletion in the document layout",
            next_command="use layout: children",
        ),
    )


def _held_up(held_up: dict[str, tuple[int, ...]]) -> Finish:
    waits = "; ".join(f"{topic} waits for {name_some(brokers)}" for topic, brokers in list(held_up.items())[:5])
    return Finish(
        OperationState.RUNNING,
        f"waiting for dead brokers: {name_some(held_up)}",
        NotCompletedError(
            f"Deletions wait for brokers that are not alive: {waits}.",
            cause="live copies are destroyed already; the rest goes when those brokers are back",
            next_command="start the brokers, then kadmin resume",
        ),
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
