"""Rules on a TopicDeletion. Each guard is waived by its own name under `spec.allow`, never by a general force.

A reassignment that names a topic cannot be waived: deleting that topic leaves a request that blocks every other
reassignment until it is removed.
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.diagnostics import Diagnostic
from kadmin.errors import name_some
from kadmin.plan import codes
from kadmin.plan.model import STANDARD_DENY
from kadmin.plan.rules.kind import Touched
from kadmin.plan.rules.names import Directory, name_collisions, other_cluster, repeated_topics

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import DeletionPlan, Policy
    from kadmin.plan.rules.world import World

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})
"""Kafka `Topic.INTERNAL_TOPICS`: its tools refuse to delete them, its controller does not."""


def check_deletion(plan: DeletionPlan, world: World | None, policy: Policy | None) -> Iterator[Diagnostic]:
    """Yield what is wrong with the deletion: names, its own guards, the policy's, and those that ask the cluster."""
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from Directory(world.state.assignment).missing_topics(plan.topics)
    yield from repeated_topics(plan.topics)
    yield from _too_many(plan)
    yield from _internal(plan)
    if policy is not None:
        yield from _too_many_for_policy(plan, policy)
        yield from _protected(plan, policy)
    if world is not None:
        present = [topic for topic in plan.topics if topic in world.state.topics]
        yield from _moving(plan, world)
        yield from _in_use(plan, present, world.facts)
        yield from _offline(plan, present, world.state)
        yield from _disabled(plan, world.facts)
        yield from _comes_back(present, world.facts)
        yield from _unchecked(world.facts)
    yield from name_collisions(plan.topics)


def touched_by_deletion(plan: DeletionPlan) -> Touched:
    """Return what the plan touches."""
    return Touched(deleted=plan.topics)


def _too_many(plan: DeletionPlan) -> Iterator[Diagnostic]:
    if len(plan.topics) > plan.allow_more_than:
        message = f"{len(plan.topics)} topics are to be deleted, more than {plan.allow_more_than}"
        hint = f"set spec.allow.more_than: {len(plan.topics)} if this is meant"
        yield Diagnostic(codes.TOO_MANY_TOPICS, message, hint, field=("spec", "topics"))


def _internal(plan: DeletionPlan) -> Iterator[Diagnostic]:
    for topic in plan.topics:
        if topic in INTERNAL_TOPICS and not plan.allow_internal:
            hint = "set spec.allow.internal: true if this is meant"
            yield Diagnostic(codes.INTERNAL_TOPIC, f"{topic} is an internal topic of Kafka", hint, topic=topic)


def _too_many_for_policy(plan: DeletionPlan, policy: Policy) -> Iterator[Diagnostic]:
    if policy.max_topics is not None and len(plan.topics) > policy.max_topics:
        message = f"{len(plan.topics)} topics are to be deleted, more than the policy's max_topics {policy.max_topics}"
        yield Diagnostic(codes.TOO_MANY_TOPICS, message, "divide it into several plans", field=("spec", "topics"))


def _protected(plan: DeletionPlan, policy: Policy) -> Iterator[Diagnostic]:
    if plan.allow_protected:
        return
    for topic in plan.topics:
        # Kafka's internal topics have their own guard: the standard deny list does not guard them twice.
        denied = _match(topic, _beyond_standard(policy.deny) if topic in INTERNAL_TOPICS else policy.deny)
        if denied is None and _match(topic, policy.allow) is not None:
            continue
        why = "matches no pattern that may be deleted" if denied is None else f"matches the pattern {denied}"
        message = f"{topic} is protected: it {why}"
        yield Diagnostic(codes.PROTECTED_TOPIC, message, _waiver("protected"), topic=topic)


def _beyond_standard(patterns: Iterable[str]) -> Iterator[str]:
    return (pattern for pattern in patterns if pattern not in STANDARD_DENY)


def _match(topic: str, patterns: Iterable[str]) -> str | None:
    return next((pattern for pattern in patterns if fnmatch.fnmatchcase(topic, pattern)), None)


def _moving(plan: DeletionPlan, world: World) -> Iterator[Diagnostic]:
    moving = {partition.topic for partition in world.in_flight}
    for topic in plan.topics:
        if topic in moving:
            message = f"partitions of {topic} are being reassigned; a deletion now would never end"
            hint = "apply again when the reassignment is done; this guard cannot be waived"
            yield Diagnostic(codes.BEING_REASSIGNED, message, hint, topic=topic)


def _in_use(plan: DeletionPlan, present: Iterable[str], facts: ClusterFacts) -> Iterator[Diagnostic]:
    if plan.allow_active_consumers:
        return
    for topic in present:
        if groups := facts.consumers.get(topic):
            message = f"consumer groups use {topic}: {name_some(map(escaped, groups))}"
            yield Diagnostic(codes.ACTIVE_CONSUMERS, message, _waiver("active_consumers"), topic=topic)


def _offline(plan: DeletionPlan, present: Iterable[str], state: ClusterState) -> Iterator[Diagnostic]:
    if plan.allow_offline_replicas:
        return
    for topic in present:
        holding = {broker for replicas in state.topics[topic].replicas.values() for broker in replicas}
        if dead := sorted(holding - set(state.brokers)):
            message = (
                f"{topic} has replicas on brokers that are not alive ({name_some(dead)}): its live copies go at once"
            )
            yield Diagnostic(codes.OFFLINE_REPLICAS, message, _waiver("offline_replicas"), topic=topic)


def _disabled(plan: DeletionPlan, facts: ClusterFacts) -> Iterator[Diagnostic]:
    if facts.deletion_enabled is False and not plan.allow_deletion_disabled:
        message = "the brokers have delete.topic.enable=false: the controller would drop the request"
        yield Diagnostic(codes.DELETION_DISABLED, message, _waiver("deletion_disabled"), field=("spec", "topics"))


def _comes_back(present: Iterable[str], facts: ClusterFacts) -> Iterator[Diagnostic]:
    used = [topic for topic in present if facts.consumers.get(topic)] if facts.topics_create_themselves else ()
    for topic in used:
        message = f"the brokers have auto.create.topics.enable=true and {topic} is in use: it will come back empty"
        hint = "stop its clients first"
        yield Diagnostic(codes.COMES_BACK, message, hint, topic=topic, severity="warning")


def _unchecked(facts: ClusterFacts) -> Iterator[Diagnostic]:
    for what in facts.unavailable:
        hint = "check it before the deletion"
        message, field = escaped(what, 1_000), ("spec", "topics")
        yield Diagnostic(codes.GUARD_UNCHECKED, message, hint, field=field, severity="warning")


def _waiver(name: str) -> str:
    return f"set spec.allow.{name}: true if this is meant"
