"""Guards of a deletion: each is waived by its own name under `spec.allow`, never by a general force.

A reassignment that names a topic cannot be waived: deleting that topic leaves a zombie node that blocks everybody.
"""

from __future__ import annotations

import fnmatch
from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.errors import name_some
from kadmin.plan import codes
from kadmin.plan.checks import INTERNAL_TOPICS, Violation, deletion_guards, unknown_names
from kadmin.plan.model import STANDARD_DENY
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import DeletionPlan, Policy


def check_deletion(
    plan: DeletionPlan, state: ClusterState, facts: ClusterFacts, policy: Policy
) -> tuple[Violation, ...]:
    """Return what stops a deletion on this cluster, and what is worth a warning, in the order to be heard."""
    present = [topic for topic in plan.topics if topic in state.topics]
    return (
        *unknown_names(plan, state.assignment, state.brokers),
        *deletion_guards(plan),
        *check_policy(plan, policy),
        *_moving(plan, state),
        *_in_use(plan, present, facts),
        *_offline(plan, present, state),
        *_disabled(plan, facts),
        *_comes_back(present, facts),
        *_unchecked(facts),
    )


def check_policy(plan: DeletionPlan, policy: Policy) -> tuple[Violation, ...]:
    """Find topics that the policy guards, and more topics than it lets any plan delete."""
    return (*_too_many(plan, policy), *_protected(plan, policy))


def bytes_lost(topics: Iterable[str], state: ClusterState, facts: ClusterFacts) -> int | None:
    """Return the bytes that a deletion destroys, all copies counted; None where the size of a partition is unknown."""
    partitions = [p for topic in topics if topic in state.topics for p in state.topics[topic].partitions()]
    if any(partition not in facts.sizes for partition in partitions):
        return None
    return sum(facts.sizes[partition] * len(state.replicas(partition) or ()) for partition in partitions)


def _too_many(plan: DeletionPlan, policy: Policy) -> Iterator[Violation]:
    if policy.max_topics is not None and len(plan.topics) > policy.max_topics:
        message = f"{len(plan.topics)} topics are to be deleted, and the policy lets a plan have {policy.max_topics}"
        yield Violation(codes.TOO_MANY_TOPICS, message, "cut it into several plans", field=("spec", "topics"))


def _protected(plan: DeletionPlan, policy: Policy) -> Iterator[Violation]:
    if plan.allow_protected:
        return
    for topic in plan.topics:
        # Kafka's own topics have a guard of their own: what is denied where nothing is said does not guard them twice.
        denied = _match(topic, _beyond_standard(policy.deny) if topic in INTERNAL_TOPICS else policy.deny)
        if denied is None and _match(topic, policy.allow) is not None:
            continue
        why = "matches no pattern that may be deleted" if denied is None else f"matches the pattern {denied}"
        message = f"{topic} is protected: it {why}"
        yield Violation(codes.PROTECTED_TOPIC, message, _waiver("protected"), topic=topic)


def _beyond_standard(patterns: Iterable[str]) -> Iterator[str]:
    return (pattern for pattern in patterns if pattern not in STANDARD_DENY)


def _match(topic: str, patterns: Iterable[str]) -> str | None:
    return next((pattern for pattern in patterns if fnmatch.fnmatchcase(topic, pattern)), None)


def _moving(plan: DeletionPlan, state: ClusterState) -> Iterator[Violation]:
    moving = {partition.topic for partition in in_flight(state)}
    for topic in plan.topics:
        if topic in moving:
            message = f"partitions of {topic} are being reassigned; deleting it now would leave a zombie node"
            hint = "apply again when the reassignment is done; this guard cannot be waived"
            yield Violation(codes.BEING_REASSIGNED, message, hint, topic=topic)


def _in_use(plan: DeletionPlan, present: Iterable[str], facts: ClusterFacts) -> Iterator[Violation]:
    if plan.allow_active_consumers:
        return
    for topic in present:
        if groups := facts.consumers.get(topic):
            message = f"consumer groups use {topic}: {name_some(map(escaped, groups))}"
            yield Violation(codes.ACTIVE_CONSUMERS, message, _waiver("active_consumers"), topic=topic)


def _offline(plan: DeletionPlan, present: Iterable[str], state: ClusterState) -> Iterator[Violation]:
    if plan.allow_offline_replicas:
        return
    for topic in present:
        holding = {broker for replicas in state.topics[topic].replicas.values() for broker in replicas}
        if dead := sorted(holding - set(state.brokers)):
            message = (
                f"{topic} has replicas on brokers that are not alive ({name_some(dead)}): its live copies go at once"
            )
            yield Violation(codes.OFFLINE_REPLICAS, message, _waiver("offline_replicas"), topic=topic)


def _disabled(plan: DeletionPlan, facts: ClusterFacts) -> Iterator[Violation]:
    if facts.deletion_enabled is False and not plan.allow_deletion_disabled:
        message = "the brokers have delete.topic.enable=false: the controller would drop the request"
        yield Violation(codes.DELETION_DISABLED, message, _waiver("deletion_disabled"), field=("spec", "topics"))


def _comes_back(present: Iterable[str], facts: ClusterFacts) -> Iterator[Violation]:
    used = [topic for topic in present if facts.consumers.get(topic)] if facts.topics_create_themselves else ()
    for topic in used:
        message = f"the brokers have auto.create.topics.enable=true, and {topic} is used: it will come back empty"
        hint = "stop who uses it first"
        yield Violation(codes.COMES_BACK, message, hint, topic=topic, severity="warning")


def _unchecked(facts: ClusterFacts) -> Iterator[Violation]:
    for what in facts.unavailable:
        hint = "make sure of it yourself"
        yield Violation(codes.GUARD_UNCHECKED, escaped(what, 1_000), hint, field=("spec", "topics"), severity="warning")


def _waiver(name: str) -> str:
    return f"to delete all the same, set spec.allow.{name}: true"
