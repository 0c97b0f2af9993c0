"""Rules of a topic deletion: one request for each topic.

A topic is done once topic, config and request are gone. A pending request is never removed: once it
is stuck, the live copies are deleted, and without the request the topic comes back empty. Where
topics have ids, a topic with another id than the one on record is another topic: it was made again,
and is left unchanged.

=======================================================  =======================================
seen, per topic                                          meaning
=======================================================  =======================================
topic and request gone                                   done
the name taken by another topic, ours deleted by us      done, with a note
the name taken by another topic, ours deleted by others  stale
request pending                                          running
no request, no step on record                            to be published
no request, topic exists, refused with a reason          refused
no request, topic exists, step without an answer         past the deadline to be published again
no request, topic exists, step on record                 past the deadline refused (deletion is
                                                         disabled)
=======================================================  =======================================
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.insight.diagnosis.health import health_of
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    PUBLISH_ATTEMPTS,
    Finish,
    PublishDeletion,
    Wait,
    failed,
    unfinished,
)
from kadmin.operations.decide.common import AskedTopics, changing, overdue, refused_topics
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind, Verdict
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import DeletionStep
from kadmin.plan.model import DeletionLayout, DeletionPlan, TopicRecipe
from kadmin.plan.progress import Progress
from kadmin.plan.tiers import tiered_bytes
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.rules import ClusterView


@dataclass(frozen=True, slots=True)
class DeletionWork(ListedOperationSpec):
    """A deletion as recorded: recipes of the topics, and their ids where the cluster has ids.

    A request that is not picked up proves that the controller does not watch, so there is no
    channel.
    """

    plan: DeletionPlan
    recipes: tuple[TopicRecipe, ...] = ()
    topic_ids: Mapping[str, str] = field(default_factory=dict)

    def listed(self) -> tuple[str, ...]:
        """Return the plan's topics."""
        return self.plan.topics

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the deletion."""
        state, asked = observed.state, AskedTopics(DeletionStep, observed.steps)
        others = [
            topic
            for topic in self.plan.topics
            if topic in state.topics and not self._is_here(topic, state)
        ]
        if spared := [topic for topic in others if topic not in asked.topics]:
            return _made_again(spared)
        present = [topic for topic in self.plan.topics if self._is_here(topic, state)]
        queued = [topic for topic in self.plan.topics if topic in state.requests.deletions]
        again = asked.unanswered if overdue(memory, now) else set[str]()
        unpublished = tuple(
            topic
            for topic in present
            if topic not in queued and (topic not in asked.topics or topic in again)
        )
        if unpublished:
            if state.controller is None:
                return Wait("the cluster has no controller")
            return (
                changing()
                if memory.attempts >= PUBLISH_ATTEMPTS
                else PublishDeletion(unpublished, self.plan.layout)
            )
        if not set(present) - asked.refused.keys() and not queued:
            return self._result(present, others, asked, state)
        if not overdue(memory, now):
            return Wait("deleting")
        return _overdue(self, present, queued, state)

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the topics that exist or are queued for deletion."""
        return tuple(
            each
            for each in self.plan.topics
            if self._is_here(each, state) or each in state.requests.deletions
        )

    def _is_here(self, topic: str, state: ClusterState) -> bool:
        """Whether the topic exists, and not another one of the same name."""
        found, planned_id = state.topics.get(topic), self.topic_ids.get(topic)
        return found is not None and (
            planned_id is None or found.topic_id is None or found.topic_id == planned_id
        )

    def _result(
        self, present: Sequence[str], others: Sequence[str], asked: AskedTopics, state: ClusterState
    ) -> Finish:
        if present:
            return refused_topics(
                "delete",
                {topic: asked.refused[topic] for topic in present},
                command("apply", "FILE"),
            )
        if spared := [
            topic for topic in others if topic in asked.refused and topic not in asked.unanswered
        ]:
            return _made_again(spared)
        notes = "".join(f"; {note}" for note in self._notes(others, state))
        return Finish(
            OperationState.COMPLETED, f"{count(len(self.plan.topics), 'topic')} deleted{notes}"
        )

    def _notes(self, others: Sequence[str], state: ClusterState) -> Iterator[str]:
        if others:
            yield f"other topics have these names since: {name_some(others)}"
        held = {
            broker
            for recipe in self.recipes
            for replicas in recipe.replicas.values()
            for broker in replicas
        }
        if dead := sorted(held - set(state.brokers)):
            yield f"brokers that are not alive may keep folders of them on disk: {name_some(dead)}"


def examine_deletion(found: Examination, plan: DeletionPlan, world: ClusterView) -> Examination:
    """Complete the examination of a deletion by its work.

    Add ids and recipes of the topics, and the bytes lost.
    """
    topics = [world.state.topics[topic] for topic in plan.topics]
    configs = world.state.topic_configs
    recipes = tuple(
        TopicRecipe(each.name, each.replicas, configs.get(each.name, {})) for each in topics
    )
    topic_ids = {each.name: each.topic_id for each in topics if each.topic_id is not None}
    partitions = [partition for each in topics for partition in each.partitions()]
    return replace(
        found,
        work=DeletionWork(plan, recipes, topic_ids),
        targets=plan.topics,
        lost_bytes=bytes_lost(plan.topics, world.state, world.facts),
        tiered=tiered_bytes(partitions, world.state, world.facts),
    )


def bytes_lost(topics: Iterable[str], state: ClusterState, facts: ClusterFacts) -> int | None:
    """Return the bytes that a deletion destroys on disks, all copies counted.

    None where the size of a partition is unknown.
    """
    partitions = [
        p for topic in topics if topic in state.topics for p in state.topics[topic].partitions()
    ]
    if any(partition not in facts.sizes for partition in partitions):
        return None
    return sum(
        facts.sizes[partition] * len(state.replicas(partition) or ()) for partition in partitions
    )


def _overdue(
    work: DeletionWork, present: Sequence[str], queued: Sequence[str], state: ClusterState
) -> Action:
    refused = [topic for topic in present if topic not in queued]
    if refused and work.plan.layout is DeletionLayout.DOCUMENT:
        return _not_read(refused)
    untouched = [topic for topic in queued if topic in state.topics and not _begun(topic, state)]
    held_up = {
        topic: _dead_replicas(topic, state) for topic in queued if _dead_replicas(topic, state)
    }
    if untouched:
        return _not_consumed(untouched)
    if refused and len(refused) == len(present):
        return _refused(refused)
    if held_up and len(held_up) + len(refused) == len(set(present) | set(queued)):
        return _held_up(held_up)
    return Wait("deleting")


def _begun(topic: str, state: ClusterState) -> bool:
    # Every controller first takes the leader away (-1, or -2 while deletion runs) and then removes
    # the state znodes.
    partitions = state.topics[topic].partitions()
    return any(p not in state.states or state.states[p].leader < 0 for p in partitions)


def _dead_replicas(topic: str, state: ClusterState) -> tuple[int, ...]:
    found = state.topics.get(topic)
    return () if found is None else tuple(sorted(found.brokers - set(state.brokers)))


def _made_again(topics: Sequence[str]) -> Finish:
    return failed(
        StalePlanError(
            f"Other topics have these names by now: {name_some(topics)}; they were left unchanged.",
            cause="another client deleted the topics on record and made them again",
            next_step=command("apply", "FILE") + ", to delete the new ones",
        )
    )


def _refused(topics: Sequence[str]) -> Finish:
    return failed(
        NotCompletedError(
            f"The controller dropped the request and kept {count(len(topics), 'topic')}: "
            f"{name_some(topics)}.",
            cause="deletion is disabled on the brokers (delete.topic.enable=false)",
            next_step="enable deletion on every broker, then apply again",
        )
    )


def _not_consumed(topics: Sequence[str]) -> Finish:
    return unfinished(
        NotCompletedError(
            f"The controller did not start to delete {name_some(topics)} within the deadline.",
            cause="the request stays pending; without it the topic could come back empty",
            next_step=command("resume"),
        )
    )


def _not_read(topics: Sequence[str]) -> Finish:
    return failed(
        NotCompletedError(
            f"These topics were not deleted: {name_some(topics)}.",
            cause="no Kafka controller reads a deletion in the document layout",
            next_step="use layout: children",
        )
    )


def _held_up(held_up: dict[str, tuple[int, ...]]) -> Finish:
    waits = "; ".join(
        f"{topic} waits for {name_some(brokers)}" for topic, brokers in list(held_up.items())[:5]
    )
    return unfinished(
        NotCompletedError(
            f"Deletions wait for brokers that are not alive: {waits}.",
            cause=(
                "copies on live brokers are deleted; the others are deleted when those brokers "
                "return"
            ),
            next_step="start the brokers, then " + command("resume"),
        )
    )


def _verdicts(plan: DeletionPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    for topic in plan.topics:
        if topic in state.requests.deletions:
            yield Verdict(topic, None, Progress.RUNNING, "queued for deletion")
        elif topic in state.topics:
            yield Verdict(topic, None, Progress.WAITING, "the topic exists")
        else:
            yield Verdict(topic, None, Progress.DONE)


DELETION = PlanKind(
    OperationKind.DELETION,
    DeletionPlan,
    scope=lambda plan: set(plan.topics),
    spec_of=lambda plan, record: DeletionWork(plan, record.recipes, record.topic_ids),
    fields=lambda work, state: {
        "recipes": work.recipes,
        "topic_ids": work.topic_ids,
        "health": health_of(state),
    },
    verdicts=_verdicts,
)
