"""Checks the progress of the topics that a recipe recreates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.plan.model import TopicRecipe


def is_whole(recipe: TopicRecipe, state: ClusterState) -> bool:
    """Whether the topic is there with the recipe's partitions, and each of them has a leader."""
    topic = state.topics.get(recipe.topic)
    if topic is None or set(topic.replicas) != set(recipe.replicas):
        return False
    states = [state.states.get(partition) for partition in topic.partitions()]
    return all(found is not None and found.leader >= 0 for found in states)
