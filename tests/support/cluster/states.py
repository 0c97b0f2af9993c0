"""Builds small cluster states, for tests of pure rooms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import (
    Broker,
    ClusterState,
    Controller,
    PartitionState,
    PendingRequest,
    Topic,
    TopicPartition,
)
from kadmin.worlds.zookeeper.reader import not_begun
from kadmin.worlds.zookeeper.znodes.admin import PROBE_PARTITION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas

CLUSTER_ID = "Z_jcEjghQECxVvc59mF5_Q"


def tp(name: str) -> TopicPartition:
    """`orders-0` -> TopicPartition("orders", 0)."""
    topic, number = name.rsplit("-", 1)
    return TopicPartition(topic, int(number))


def cluster(
    assignment: Mapping[str, Replicas],
    *,
    brokers: Mapping[int, str | None] | None = None,
    states: Mapping[str, tuple[int, Replicas]] | None = None,
) -> ClusterState:
    """Build a healthy cluster: every partition led by its first replica, all in sync, unless
    `states` says else.

    Keys are `topic-partition`; `states` gives (leader, isr); brokers default to 1 to 4 on racks r1,
    r2, r3, r1.
    """
    racks = {1: "r1", 2: "r2", 3: "r3", 4: "r1"} if brokers is None else brokers
    by_partition = {tp(name): replicas for name, replicas in assignment.items()}
    named = {partition.topic for partition in by_partition}
    given = {tp(name): state for name, state in (states or {}).items()}
    found = {partition: given.get(partition, (r[0], r)) for partition, r in by_partition.items()}
    return ClusterState(
        cluster_id=CLUSTER_ID,
        controller=Controller(broker_id=1),
        controller_epoch=1,
        brokers={broker: Broker(broker, rack) for broker, rack in racks.items()},
        topics={
            name: Topic(name, {p.partition: r for p, r in by_partition.items() if p.topic == name})
            for name in named
        },
        states={
            partition: PartitionState(leader, isr) for partition, (leader, isr) in found.items()
        },
    )


def with_node(
    state: ClusterState,
    entries: Mapping[str, Replicas] | None,
    *,
    election: bool = False,
    version: int = 0,
) -> ClusterState:
    """Put a pending request into a state; entries None is one that cannot be read."""
    decoded = (
        None if entries is None else {tp(name): replicas for name, replicas in entries.items()}
    )
    node = PendingRequest(
        "/admin/preferred_replica_election" if election else "/admin/reassign_partitions",
        decoded,
        touched=version > 0,
        probe=decoded is not None and set(decoded) <= {PROBE_PARTITION},
        not_begun=() if election or decoded is None else not_begun(decoded, state.topics),
        fingerprint=version,
    )
    changed = (
        replace(state.requests, election=node)
        if election
        else replace(state.requests, reassignment=node)
    )
    return replace(state, requests=changed)


def moving(
    state: ClusterState, name: str, *, adding: Replicas = (), removing: Replicas = ()
) -> ClusterState:
    """Mark one partition as being reassigned by a 2.4+ controller."""
    partition = tp(name)
    topic = state.topics[partition.topic]
    changed = replace(
        topic,
        adding_replicas={
            **topic.adding_replicas,
            **({partition.partition: adding} if adding else {}),
        },
        removing_replicas={
            **topic.removing_replicas,
            **({partition.partition: removing} if removing else {}),
        },
    )
    return replace(state, topics={**state.topics, partition.topic: changed})
