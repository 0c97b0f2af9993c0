"""Rules of a topic deletion: one child of `/admin/delete_topics` per topic.

Done is topic, config and child all gone. A child that is never taken back: when it is stuck, the live copies are
already destroyed, and removing it brings the topic back empty.

========================================================  =============================================
seen, per topic                                           meaning
========================================================  =============================================
topic and child gone                                      done
child there                                               running
child gone, topic still there, step on record             refused (deletion is disabled)
no child, no step on record                               to be published
========================================================  =============================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, name_some
from kadmin.operations.decide.actions import PUBLISH_ATTEMPTS, Finish, PublishDeletion, Wait
from kadmin.operations.decide.common import changing, overdue
from kadmin.operations.record.record import OperationState, StepKind
from kadmin.plan.model import DeletionLayout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action, DeletionWork, Memory, Observed


def decide_deletion(work: DeletionWork, observed: Observed, memory: Memory, now: float) -> Action:
    """Decide the next action of a deletion operation; `observed` holds the plan's topics."""
    state = observed.state
    asked = {topic for step in observed.steps if step.kind is StepKind.DELETION for topic in step.topics}
    present = [topic for topic in work.plan.topics if topic in state.topics]
    queued = [topic for topic in work.plan.topics if topic in state.admin.deletions]
    unpublished = tuple(topic for topic in present if topic not in asked and topic not in queued)
    if unpublished:
        if state.controller is None:
            return Wait("the cluster has no controller right now", len(unpublished))
        return changing() if memory.attempts >= PUBLISH_ATTEMPTS else PublishDeletion(unpublished, work.plan.layout)
    if not present and not queued:
        return Finish(OperationState.COMPLETED, f"{len(work.plan.topics)} topics deleted")
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
            f"The controller took the request away and kept {len(topics)} topics: {name_some(topics)}.",
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
            cause="the request stays in /admin/delete_topics; removing it could bring the topic back empty",
            next_command="kadmin resume, to follow it on",
        ),
    )


def _not_read(topics: Sequence[str]) -> Finish:
    return Finish(
        OperationState.FAILED,
        f"no controller reads the document: {name_some(topics)}",
        NotCompletedError(
            f"Nothing happened to {name_some(topics)}.",
            cause="no Kafka controller reads a document in /admin/delete_topics",
            next_command="use layout: children",
        ),
    )


def _held_up(held_up: dict[str, tuple[int, ...]]) -> Finish:
    waits = "; ".join(f"{topic} waits for {name_some(brokers)}" for topic, brokers in list(held_up.items())[:5])
    return Finish(
        OperationState.RUNNING,
        f"waiting for dead brokers: {name_some(held_up)}",
        NotCompletedError(
            f"{len(held_up)} topics wait for brokers that are not alive: {waits}.",
            cause="live copies are destroyed already; the rest goes when those brokers are back",
            next_command="start the brokers, then kadmin resume",
        ),
    )
