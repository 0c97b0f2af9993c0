"""What stands against making topics again from their recipes, and how far that is: pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.errors import name_some
from kadmin.plan import codes
from kadmin.plan.checks import Violation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.model import RecreationPlan, TopicRecipe


def check_recreation(plan: RecreationPlan, state: ClusterState) -> tuple[Violation, ...]:
    """Return what stops a recreation on this cluster, in the order to be heard."""
    return (*_present(plan, state), *_collisions(plan, state), *_dead(plan, state))


def is_whole(recipe: TopicRecipe, state: ClusterState) -> bool:
    """Whether the topic is there with the recipe's partitions, and each of them has a leader."""
    topic = state.topics.get(recipe.topic)
    if topic is None or set(topic.replicas) != set(recipe.replicas):
        return False
    states = [state.states.get(partition) for partition in topic.partitions()]
    return all(found is not None and found.leader >= 0 for found in states)


def _present(plan: RecreationPlan, state: ClusterState) -> Iterator[Violation]:
    for index, topic in enumerate(plan.topics):
        field = ("spec", "topics", index, "topic")
        if topic in state.topics:
            message, hint = f"{topic} is there; nothing of it was touched", "take it out of the recipe"
            yield Violation(codes.TOPIC_EXISTS, message, hint, topic=topic, field=field)
        elif topic in state.requests.deletions:
            message, hint = f"{topic} is still being deleted", "wait until the deletion is done"
            yield Violation(codes.TOPIC_EXISTS, message, hint, topic=topic, field=field)


def _collisions(plan: RecreationPlan, state: ClusterState) -> Iterator[Violation]:
    # Kafka's own tools refuse to create such a topic (Topic.hasCollision): two topics would share their metrics.
    there: defaultdict[str, list[str]] = defaultdict(list)
    for name in state.topics:
        there[name.replace(".", "_")].append(name)
    for index, topic in enumerate(plan.topics):
        alike = [name for name in there[topic.replace(".", "_")] if name != topic]
        if alike:
            message = f"{topic} differs only in . and _ from {name_some(alike)}: their metrics would have one name"
            yield Violation(codes.NAME_COLLISION, message, topic=topic, field=("spec", "topics", index, "topic"))


def _dead(plan: RecreationPlan, state: ClusterState) -> Iterator[Violation]:
    for index, recipe in enumerate(plan.recipes):
        brokers = {broker for replicas in recipe.replicas.values() for broker in replicas}
        if dead := sorted(brokers - set(state.brokers)):
            message = f"{recipe.topic} has replicas on brokers that are not alive: {name_some(dead)}"
            hint = f"start them, or put others into the recipe; alive are {name_some(sorted(state.brokers), most=10)}"
            field = ("spec", "topics", index, "partitions")
            yield Violation(codes.DEAD_BROKER, message, hint, topic=recipe.topic, field=field)
