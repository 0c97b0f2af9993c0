"""Preferred leader elections.

Partitions with another leader, those that can be elected, obstacles of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.plan.model import ElectionPlan, PlanHeader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, TopicPartition


def scope_of(plan: ElectionPlan, state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the partitions that an election plan names, by topic and number.

    Names are known to exist.
    """
    named = set(state.topics) if plan.all_partitions else set(plan.topics)
    whole = {partition for name in named for partition in state.topics[name].partitions()}
    return tuple(sorted(whole | set(plan.partitions)))


def off_preferred(
    scope: Iterable[TopicPartition], state: ClusterState
) -> tuple[TopicPartition, ...]:
    """Return the partitions whose leader is not the first of their replicas, in the order given."""
    return tuple(partition for partition in scope if not _led_as_preferred(partition, state))


def electable(scope: Iterable[TopicPartition], state: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the partitions with another leader whose preferred replica is alive and in the ISR.

    Kafka: PreferredReplicaPartitionLeaderElectionStrategy elects nothing else, and a failure is not
    tried again.
    """
    return tuple(p for p in off_preferred(scope, state) if obstacle(p, state) is None)


def leaders_elected(
    scope: Iterable[TopicPartition], state: ClusterState
) -> tuple[tuple[int, int], ...]:
    """Return each partition's leader before and after an election, NO_LEADER for none."""
    partitions = tuple(scope)
    elected = set(electable(partitions, state))
    found = []
    for partition in partitions:
        partition_state, replicas = state.states.get(partition), state.replicas(partition)
        now = NO_LEADER if partition_state is None else partition_state.leader
        found.append((now, replicas[0] if replicas and partition in elected else now))
    return tuple(found)


def obstacle(partition: TopicPartition, state: ClusterState) -> str | None:
    """Return the reason that the preferred replica cannot lead, or None when it can."""
    replicas, found = state.replicas(partition), state.states.get(partition)
    if not replicas:
        return "no such partition"
    if found is None:
        return "it has no state yet"
    preferred = replicas[0]
    if preferred not in state.brokers:
        return f"preferred broker {preferred} is not alive"
    if preferred not in found.isr:
        in_sync = f"in the ISR {list(found.isr)}" if found.isr_known else "known to be in sync"
        return f"preferred broker {preferred} is not {in_sync}"
    if partition.topic in state.requests.deletions:
        return "its topic is being deleted"
    return None


def _led_as_preferred(partition: TopicPartition, state: ClusterState) -> bool:
    replicas, found = state.replicas(partition), state.states.get(partition)
    return found is not None and found.leader in (replicas or ())[:1]


@dataclass(frozen=True, slots=True)
class ElectionProposal:
    """An election of all partitions that can be elected.

    It also has the others with another leader, each with the reason.
    """

    plan: ElectionPlan
    impossible: tuple[tuple[TopicPartition, str], ...]


def propose_election(state: ClusterState) -> ElectionProposal:
    """Propose an election over the whole cluster.

    An empty one when every leader is the preferred one.
    """
    everything = [
        partition for name in sorted(state.topics) for partition in state.topics[name].partitions()
    ]
    off = off_preferred(everything, state)
    reasons = {partition: obstacle(partition, state) for partition in off}
    return ElectionProposal(
        ElectionPlan(
            PlanHeader(name="preferred-leaders", cluster_id=state.cluster_id),
            partitions=tuple(partition for partition, reason in reasons.items() if reason is None),
        ),
        tuple((partition, reason) for partition, reason in reasons.items() if reason is not None),
    )
