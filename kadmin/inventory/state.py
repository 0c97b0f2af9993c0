"""Between an inventory and a cluster's state: `snapshot` makes one from the other, offline commands go back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER, AdminState, Broker, ClusterState, PartitionState, Topic, TopicPartition
from kadmin.inventory.model import SINGLE_CLUSTER, BrokerRow, ClusterInventory, Inventory, PartitionRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas


def inventory_of(state: ClusterState, sizes: Mapping[TopicPartition, int] | None, taken_at: str) -> Inventory:
    """Return the inventory of one cluster.

    Brokers that hold replicas without being registered get a row with `alive` false and no rack. `sizes` in bytes;
    None, or a partition that it lacks, gives null. `taken_at` is ISO 8601 in UTC.
    """
    held = {broker for topic in state.topics.values() for ids in topic.replicas.values() for broker in ids}
    dead = [BrokerRow(broker, alive=False) for broker in held - set(state.brokers)]
    alive = [BrokerRow(broker.broker_id, broker.rack, alive=True) for broker in state.brokers.values()]
    partitions = [
        _partition_row(partition, topic.replicas[partition.partition], state, sizes or {})
        for topic in state.topics.values()
        for partition in topic.partitions()
    ]
    cluster = ClusterInventory(
        state.cluster_id,
        tuple(sorted([*alive, *dead], key=lambda row: row.broker_id)),
        tuple(sorted(partitions, key=lambda row: (row.topic, row.partition))),
    )
    return Inventory(taken_at, {SINGLE_CLUSTER: cluster})


def state_of(cluster: ClusterInventory) -> ClusterState:
    """Return what an inventory knows of a cluster's state; epochs, versions and admin znodes are nobody's.

    Brokers marked dead are not registered. A partition without a known leader has no state, as on a cluster whose
    state znode is missing; one without a known ISR has its leader alone in it.
    """
    replicas: dict[str, dict[int, Replicas]] = {}
    for row in cluster.partitions:
        replicas.setdefault(row.topic, {})[row.partition] = row.replicas
    return ClusterState(
        cluster_id=cluster.cluster_id,
        controller=None,
        controller_epoch=0,
        controller_epoch_version=0,
        brokers={
            row.broker_id: Broker(row.broker_id, row.rack, (), registration_version=0)
            for row in cluster.brokers
            if row.alive is not False
        },
        topics={name: Topic(name, numbers) for name, numbers in replicas.items()},
        states={
            TopicPartition(row.topic, row.partition): PartitionState(row.leader, _isr(row), 0, 0)
            for row in cluster.partitions
            if row.leader is not None
        },
        admin=AdminState(),
    )


def sizes_of(cluster: ClusterInventory) -> dict[TopicPartition, int]:
    """Return bytes per partition, where they are known."""
    return {
        TopicPartition(row.topic, row.partition): row.size_bytes
        for row in cluster.partitions
        if row.size_bytes is not None
    }


def inbound_of(cluster: ClusterInventory) -> dict[TopicPartition, float]:
    """Return what producers write to each partition, in bytes per second, where that is known."""
    return {
        TopicPartition(row.topic, row.partition): row.bytes_in_per_s
        for row in cluster.partitions
        if row.bytes_in_per_s is not None
    }


def _isr(row: PartitionRow) -> Replicas:
    if row.isr is not None:
        return row.isr
    return () if row.leader in (None, NO_LEADER) else (row.leader,)


def _partition_row(
    partition: TopicPartition, replicas: Replicas, state: ClusterState, sizes: Mapping[TopicPartition, int]
) -> PartitionRow:
    found = state.states.get(partition)
    return PartitionRow(
        topic=partition.topic,
        partition=partition.partition,
        replicas=replicas,
        leader=None if found is None else found.leader,
        isr=None if found is None else found.isr,
        size_bytes=sizes.get(partition),
    )
