"""Rules on a TopicRecipe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.rules.names import alike, name_collisions, other_cluster, repeated_topics
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.model import Policy, RecreationPlan
    from kadmin.plan.rules.world import ClusterView


def check_recreation(
    plan: RecreationPlan, world: ClusterView | None, _policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the problems of a recipe: topics that exist, colliding names, dead brokers."""
    if world is not None:
        yield from other_cluster(plan, world.state.cluster_id)
        yield from _existing(plan, world)
    yield from repeated_topics(plan.topics)
    yield from name_collisions(plan.topics)
    if world is not None:
        yield from _collisions(plan, world)
        yield from _dead(plan, world)


def _existing(plan: RecreationPlan, world: ClusterView) -> Iterator[Diagnostic]:
    for index, topic in enumerate(plan.topics):
        if topic in world.state.topics:
            message, next_step = f"{topic} exists; it was not changed", "take it out of the recipe"
        elif topic in world.state.requests.deletions:
            message, next_step = (
                f"{topic} is still being deleted",
                "wait until the deletion is done",
            )
        else:
            continue
        yield Diagnostic(
            codes.TOPIC_EXISTS,
            message,
            next_step,
            topic=topic,
            field=("spec", "topics", index, "topic"),
        )


def _collisions(plan: RecreationPlan, world: ClusterView) -> Iterator[Diagnostic]:
    """Refuse topics that Kafka's own tools refuse to create (Topic.hasCollision).

    Two would share their metrics.
    """
    existing = alike(world.state.topics)
    for index, topic in enumerate(plan.topics):
        others = [name for name in existing.get(topic.replace(".", "_"), ()) if name != topic]
        if others:
            message = (
                f"{topic} differs only in . and _ from {name_some(others)}: their metrics would "
                "have one name"
            )
            yield Diagnostic(
                codes.NAME_COLLISION, message, topic=topic, field=("spec", "topics", index, "topic")
            )


def _dead(plan: RecreationPlan, world: ClusterView) -> Iterator[Diagnostic]:
    alive = world.state.brokers
    for index, recipe in enumerate(plan.recipes):
        brokers = {broker for replicas in recipe.replicas.values() for broker in replicas}
        if dead := sorted(brokers - set(alive)):
            message = (
                f"{recipe.topic} has replicas on brokers that are not alive: {name_some(dead)}"
            )
            next_step = (
                "start them, or name others in the recipe; alive are "
                f"{name_some(sorted(alive), most=10)}"
            )
            field = ("spec", "topics", index, "partitions")
            yield Diagnostic(codes.DEAD_BROKER, message, next_step, topic=recipe.topic, field=field)
