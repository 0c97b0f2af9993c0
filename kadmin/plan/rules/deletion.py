"""Rules on a TopicDeletion.

Each guard is waived by its own name under `spec.allow`, never by a general force. A reassignment
that names a topic cannot be waived: deleting that topic leaves a request that blocks every other
reassignment until it is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import INTERNAL_TOPICS, RECORD_TOPIC, escaped
from kadmin.diagnostics import Diagnostic
from kadmin.globs import first_match
from kadmin.plan import codes
from kadmin.plan.model import STANDARD_DENY
from kadmin.plan.rules.names import Directory, name_collisions, other_cluster, repeated_topics
from kadmin.plan.tiers import is_tiered
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import DeletionPlan, Policy
    from kadmin.plan.rules.world import ClusterView

_TOPICS = ("spec", "topics")


def check_deletion(
    plan: DeletionPlan, world: ClusterView | None, policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a deletion.

    Names, its own guards, the policy's, and those that need the cluster.
    """
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_topics(plan.topics)
    yield from repeated_topics(plan.topics)
    yield from _too_many(plan, policy)
    yield from _record(plan)
    internal = INTERNAL_TOPICS if world is None else INTERNAL_TOPICS | world.facts.internal_topics
    yield from _internal(plan, internal)
    if policy is not None:
        yield from _protected(plan, policy, internal)
    if world is not None:
        present = [topic for topic in plan.topics if topic in world.state.topics]
        yield from _moving(plan, world)
        yield from _in_use(plan, present, world.facts)
        yield from _offline(plan, present, world.state)
        yield from _disabled(plan, world.facts)
        yield from _comes_back(present, world.facts)
        yield from _tiered(present, world.state)
        yield from _unchecked(plan, world.facts)
    yield from name_collisions(plan.topics)


def _too_many(plan: DeletionPlan, policy: Policy | None) -> Iterator[Diagnostic]:
    number, most = len(plan.topics), None if policy is None else policy.max_topics
    are = "1 topic is" if number == 1 else f"{number} topics are"
    if number > plan.allow_more_than:
        message = f"{are} to be deleted, more than {plan.allow_more_than}"
        next_step = f"set spec.allow.more_than: {number} if this is meant"
        yield Diagnostic(codes.TOO_MANY_TOPICS, message, next_step, field=_TOPICS)
    if most is not None and number > most:
        message = f"{are} to be deleted, more than the policy's max_topics {most}"
        yield Diagnostic(
            codes.TOO_MANY_TOPICS, message, "divide it into several plans", field=_TOPICS
        )


def _record(plan: DeletionPlan) -> Iterator[Diagnostic]:
    if RECORD_TOPIC in plan.topics:
        message = (
            f"{RECORD_TOPIC} keeps kadmin's lock and record, and its deletion would be on record "
            "there"
        )
        yield Diagnostic(codes.RECORD_TOPIC_DELETED, message, "leave it out", topic=RECORD_TOPIC)


def _internal(plan: DeletionPlan, internal: Collection[str]) -> Iterator[Diagnostic]:
    for topic in () if plan.allow_internal else plan.topics:
        if topic in internal and topic != RECORD_TOPIC:
            message = f"{topic} is an internal topic of Kafka"
            yield Diagnostic(codes.INTERNAL_TOPIC, message, _waiver("internal"), topic=topic)


def _protected(
    plan: DeletionPlan, policy: Policy, internal: Collection[str]
) -> Iterator[Diagnostic]:
    if plan.allow_protected:
        return
    for topic in plan.topics:
        # Internal topics have their own guard: the standard deny list does not guard them twice.
        beyond = STANDARD_DENY if topic in internal else ()
        denied = first_match(topic, (pattern for pattern in policy.deny if pattern not in beyond))
        if denied is None and first_match(topic, policy.allow) is not None:
            continue
        why = (
            "matches no pattern that may be deleted"
            if denied is None
            else f"matches the pattern {denied}"
        )
        message = f"{topic} is protected: it {why}"
        yield Diagnostic(codes.PROTECTED_TOPIC, message, _waiver("protected"), topic=topic)


def _moving(plan: DeletionPlan, world: ClusterView) -> Iterator[Diagnostic]:
    moving = {partition.topic for partition in world.in_flight}
    for topic in plan.topics:
        if topic in moving:
            message = f"partitions of {topic} are being reassigned; a deletion now would never end"
            next_step = "apply again when the reassignment is done; this guard cannot be waived"
            yield Diagnostic(codes.BEING_REASSIGNED, message, next_step, topic=topic)


def _in_use(
    plan: DeletionPlan, present: Iterable[str], facts: ClusterFacts
) -> Iterator[Diagnostic]:
    for topic in () if plan.allow_active_consumers else present:
        if used := facts.consumers.get(topic):
            message = f"consumer groups use {topic}: {name_some(map(escaped, used))}"
            yield Diagnostic(
                codes.ACTIVE_CONSUMERS, message, _waiver("active_consumers"), topic=topic
            )


def _offline(
    plan: DeletionPlan, present: Iterable[str], state: ClusterState
) -> Iterator[Diagnostic]:
    for topic in () if plan.allow_offline_replicas else present:
        holding = {
            broker for replicas in state.topics[topic].replicas.values() for broker in replicas
        }
        if dead := sorted(holding - set(state.brokers)):
            message = (
                f"{topic} has replicas on dead brokers ({name_some(dead)}): only its live copies "
                "are deleted now"
            )
            yield Diagnostic(
                codes.OFFLINE_REPLICAS, message, _waiver("offline_replicas"), topic=topic
            )


def _disabled(plan: DeletionPlan, facts: ClusterFacts) -> Iterator[Diagnostic]:
    if facts.deletion_enabled is False and not plan.allow_deletion_disabled:
        message = (
            "the brokers have delete.topic.enable=false: the controller would drop the request"
        )
        yield Diagnostic(
            codes.DELETION_DISABLED, message, _waiver("deletion_disabled"), field=_TOPICS
        )


def _comes_back(present: Iterable[str], facts: ClusterFacts) -> Iterator[Diagnostic]:
    for topic in present if facts.topics_create_themselves else ():
        if facts.consumers.get(topic):
            message = (
                f"the brokers have auto.create.topics.enable=true and {topic} is in use: it will "
                "come back empty"
            )
            yield Diagnostic(
                codes.COMES_BACK, message, "stop its clients first", "warning", topic=topic
            )


def _tiered(present: Iterable[str], state: ClusterState) -> Iterator[Diagnostic]:
    for topic in present:
        if is_tiered(topic, state):
            message = f"{topic} has remote storage: its records there are deleted as well"
            next_step = "read older records first where they are still needed"
            yield Diagnostic(codes.DELETES_REMOTE, message, next_step, "warning", topic=topic)


def _unchecked(plan: DeletionPlan, facts: ClusterFacts) -> Iterator[Diagnostic]:
    """Refuse guards that live brokers did not answer; warn of those that an inventory lacks."""
    for unknown in (escaped(each, 1_000) for each in facts.unavailable):
        if facts.from_brokers and not plan.allow_unchecked_guards:
            yield Diagnostic(
                codes.GUARD_UNKNOWN, unknown, _waiver("unchecked_guards"), field=_TOPICS
            )
        else:
            next_step = "check it before the deletion"
            yield Diagnostic(codes.GUARD_UNCHECKED, unknown, next_step, "warning", field=_TOPICS)


def _waiver(name: str) -> str:
    return f"set spec.allow.{name}: true if this is meant"
