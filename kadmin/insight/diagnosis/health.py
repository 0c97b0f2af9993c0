"""Compares the health of brokers and partitions with the health when an operation began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.insight.quorum import has_majority, lagging
from kadmin.next_step import command
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.recovery import has_clean_leader, to_start
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep

LAG_S = 60.0
"""Seconds since a controller was last caught up, above which no wave starts."""


@dataclass(frozen=True, slots=True)
class Health:
    """Live brokers, partitions without a leader, and those with an ISR below `min.insync.replicas`.

    In KRaft mode also the controllers that are more than LAG_S behind the active one, and whether
    fewer than a majority follow it.
    """

    brokers: frozenset[int]
    offline: frozenset[TopicPartition]
    under_min_isr: frozenset[TopicPartition]
    lagging_controllers: frozenset[int] = frozenset()
    without_majority: bool = False


def health_of(state: ClusterState) -> Health:
    """Return the health of a state that was read with its configs."""
    limits = {name: min_insync_replicas(name, state) for name in state.topics}
    offline, short = set(), set()
    for partition, found in state.states.items():
        if not state.has_leader(partition):
            offline.add(partition)
        elif len(found.isr) < limits[partition.topic]:
            short.add(partition)
    controller = state.controller
    return Health(
        frozenset(state.brokers),
        frozenset(offline),
        frozenset(short),
        frozenset()
        if controller is None
        else frozenset(each.server_id for each in lagging(controller, LAG_S)),
        controller is not None and not has_majority(controller),
    )


def return_or_decommission(ids: Collection[int]) -> NextStep:
    """Return the next step for dead brokers: start them, or decommission those that stay dead."""
    return (
        f"start {brokers_in_words(ids)}, or move the replicas of one that stays dead to others: "
        + command("propose decommission", "--broker", min(ids), "--out", "PLAN")
    )


def new_trouble(
    before: Health, state: ClusterState, repaired: Collection[TopicPartition]
) -> tuple[str, ...]:
    """Return a state's troubles that `before` lacks, but for partitions that the plan repairs."""
    now = health_of(state)
    missing = sorted(before.brokers - now.brokers)
    offline = sorted(now.offline - before.offline - set(repaired))
    short = sorted(now.under_min_isr - before.under_min_isr - before.offline - set(repaired))
    late = sorted(now.lagging_controllers - before.lagging_controllers)
    found = []
    if now.without_majority:
        found.append("no majority of the controllers follows the active one")
    elif late:
        found.append(f"controllers more than {LAG_S:g} s behind the active one: {name_some(late)}")
    if missing:
        found.append(f"brokers missing: {name_some(missing)}")
    if offline:
        found.append(f"partitions offline: {name_some(offline)}{_awaited(state, offline)}")
    if short:
        found.append(f"partitions under min ISR: {name_some(short)}")
    return tuple(found)


def _awaited(state: ClusterState, offline: Collection[TopicPartition]) -> str:
    awaited = {broker for each in offline for broker in to_start(each, state).clean}
    lost = [each for each in offline if not has_clean_leader(each, state)]
    waits = f", waiting for {brokers_in_words(awaited)}" if awaited else ""
    return waits + (f", no replica may lead without a loss: {name_some(lost)}" if lost else "")
