"""Compares the health of brokers and partitions with the health when an operation began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.errors import name_some
from kadmin.plan.min_isr import min_insync_replicas

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState, TopicPartition


@dataclass(frozen=True, slots=True)
class Health:
    """Live brokers, partitions without a leader, and partitions whose ISR is below `min.insync.replicas`."""

    brokers: frozenset[int]
    offline: frozenset[TopicPartition]
    under_min_isr: frozenset[TopicPartition]


def health_of(state: ClusterState) -> Health:
    """Return the health of a state that was read with its configs."""
    limits = {name: min_insync_replicas(name, state) for name in state.topics}
    offline, short = set(), set()
    for partition, found in state.states.items():
        if found.leader <= NO_LEADER:
            offline.add(partition)
        elif len(found.isr) < limits[partition.topic]:
            short.add(partition)
    return Health(frozenset(state.brokers), frozenset(offline), frozenset(short))


def new_trouble(before: Health, now: Health, repaired: Collection[TopicPartition]) -> tuple[str, ...]:
    """Return what is wrong now and was not before, without the partitions that the plan repairs."""
    missing = sorted(before.brokers - now.brokers)
    offline = sorted(now.offline - before.offline - set(repaired))
    short = sorted(now.under_min_isr - before.under_min_isr - before.offline - set(repaired))
    found = []
    if missing:
        found.append(f"brokers missing: {name_some(missing)}")
    if offline:
        found.append(f"partitions offline: {name_some(offline)}")
    if short:
        found.append(f"partitions under min ISR: {name_some(short)}")
    return tuple(found)
