"""Partitions that nothing can be copied from: no replica is alive and in sync.

Goals: whether a reassignment can make progress at all, before it is published and while it is in flight.
Constraints: a controller accepts such a reassignment and waits for a broker without end. Unknown never counts: a
partition whose state was not read is not among them.
Example: the ISR is [3], and broker 3 is dead: nothing is copied until it returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition


def lacks_source(partition: TopicPartition, state: ClusterState) -> bool:
    """Whether no replica of a partition is alive and in sync."""
    found = state.states.get(partition)
    return found is not None and not (set(found.isr) & set(state.brokers)) - set(found.offline_replicas)
