"""Counts the bytes that a deletion destroys."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.facts import ClusterFacts


def bytes_lost(topics: Iterable[str], state: ClusterState, facts: ClusterFacts) -> int | None:
    """Return the bytes that a deletion destroys, all copies counted; None where the size of a partition is unknown."""
    partitions = [p for topic in topics if topic in state.topics for p in state.topics[topic].partitions()]
    if any(partition not in facts.sizes for partition in partitions):
        return None
    return sum(facts.sizes[partition] * len(state.replicas(partition) or ()) for partition in partitions)
