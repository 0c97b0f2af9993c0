"""Converts a cluster's state into an inventory (`kadmin snapshot`) and back (offline commands)."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from kadmin.cluster.capabilities import PUBLISH_LIMITS, MetadataMode
from kadmin.cluster.disks import by_broker, current_replicas
from kadmin.cluster.model import (
    NO_LEADER,
    Broker,
    ClusterState,
    PartitionState,
    PendingRequest,
    Requests,
    Topic,
    TopicPartition,
)
from kadmin.inventory.model import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    KafkaFacts,
    PartitionRow,
)
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.progress import in_flight
from kadmin.plan.rules import ClusterView
from kadmin.plan.tiers import ENABLED, REMOTE_STORAGE, is_tiered

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.disks import DiskReplica
    from kadmin.cluster.model import Replicas


def inventory_of(
    state: ClusterState,
    sizes: Mapping[TopicPartition, int] | None,
    taken_at: str,
    usage: ClusterFacts | None = None,
    mode: MetadataMode | None = None,
) -> Inventory:
    """Return the inventory of one cluster.

    `usage` has the consumer groups of topics, the deletion settings, and the disks; future replicas
    are left out. Fenced brokers get a row with `alive` false, and so do those that hold replicas
    and are not registered, without a rack. `sizes` is in bytes; a partition that it lacks gets
    null. `taken_at` is ISO 8601 in UTC.
    """
    held = {
        broker
        for topic in state.topics.values()
        for ids in topic.replicas.values()
        for broker in ids
    }
    usage, fenced = usage or ClusterFacts(), state.fenced_brokers or {}
    gone = held - set(state.brokers) - set(fenced)
    dead = [BrokerRow(broker, alive=False) for broker in gone]
    dead += [BrokerRow(broker.broker_id, broker.rack, alive=False) for broker in fenced.values()]
    alive = [
        BrokerRow(broker.broker_id, broker.rack, alive=True) for broker in state.brokers.values()
    ]
    partitions = [
        _partition_row(
            partition, topic.replicas[partition.partition], state, sizes or {}, usage.tiered_sizes
        )
        for topic in state.topics.values()
        for partition in topic.partitions()
    ]
    cluster = ClusterInventory(
        state.cluster_id,
        tuple(sorted([*alive, *dead], key=lambda row: row.broker_id)),
        tuple(sorted(partitions, key=lambda row: (row.topic, row.partition))),
        _facts(state, usage, mode),
        tuple(
            sorted(
                chain.from_iterable(usage.disks.values()), key=lambda row: (row.broker_id, row.path)
            )
        ),
        current_replicas(chain.from_iterable(usage.replicas.values())),
    )
    return Inventory(taken_at, {SINGLE_CLUSTER: cluster})


def state_of(cluster: ClusterInventory) -> ClusterState:
    """Return the state of a cluster as its inventory has it.

    An inventory has no epochs and no pending requests. Brokers marked dead count as fenced. A
    partition without a known leader has no state, as if its state znode were missing; the ISR of a
    partition without a known ISR is its leader alone.
    """
    replicas: dict[str, dict[int, Replicas]] = {}
    for row in cluster.partitions:
        replicas.setdefault(row.topic, {})[row.partition] = row.replicas
    return ClusterState(
        cluster_id=cluster.cluster_id,
        controller=None,
        controller_epoch=0,
        brokers={
            row.broker_id: Broker(row.broker_id, row.rack)
            for row in cluster.brokers
            if row.alive is not False
        },
        fenced_brokers={
            row.broker_id: Broker(row.broker_id, row.rack)
            for row in cluster.brokers
            if row.alive is False
        },
        topics={name: Topic(name, numbers) for name, numbers in replicas.items()},
        topic_configs=_topic_configs(cluster.facts),
        broker_defaults=_min_isr(cluster.facts.default_min_insync_replicas),
        states={
            TopicPartition(row.topic, row.partition): PartitionState(
                row.leader, _isr(row), isr_known=row.isr is not None or row.leader == NO_LEADER
            )
            for row in cluster.partitions
            if row.leader is not None
        },
        requests=Requests(reassignment=_reassignment(cluster)),
    )


_PLACE = "the list of partitions that were being reassigned"
_NO_FACTS = (
    "the inventory does not say which groups use a topic, nor whether the brokers delete topics",
)


def facts_of(
    cluster: ClusterInventory, sizes: Mapping[TopicPartition, int] | None = None
) -> ClusterFacts:
    """Return the facts that checks need beside the state; `sizes`, in bytes, take precedence."""
    return ClusterFacts(
        consumers=cluster.facts.consumers,
        sizes={**_known(cluster, "size_bytes"), **(sizes or {})},
        tiered_sizes=_known(cluster, "tiered_bytes"),
        inbound=_known(cluster, "bytes_in_per_s"),
        disks=by_broker(cluster.disks),
        replicas=replicas_of(cluster),
        capacities={
            row.broker_id: row.capacity_bytes
            for row in cluster.brokers
            if row.capacity_bytes is not None
        },
        links={row.broker_id: link for row in cluster.brokers if (link := _link(row)) is not None},
        deletion_enabled=cluster.facts.delete_topic_enable,
        topics_create_themselves=cluster.facts.auto_create_topics_enable,
        unavailable=_NO_FACTS if cluster.facts == KafkaFacts() else cluster.facts.unavailable,
        cluster_id=cluster.cluster_id,
    )


def replicas_of(cluster: ClusterInventory) -> dict[int, tuple[DiskReplica, ...]]:
    """Return the replicas of each broker whose disks are known, none where there is no table."""
    if not cluster.replicas:
        return {}
    return {**{disk.broker_id: () for disk in cluster.disks}, **by_broker(cluster.replicas)}


def publish_limits_of(cluster: ClusterInventory) -> PublishLimits:
    """Return the limits of one publish on a cluster.

    An inventory without a mode is of ZooKeeper mode.
    """
    return PUBLISH_LIMITS[cluster.facts.mode or MetadataMode.ZOOKEEPER]


def world_of(
    cluster: ClusterInventory, sizes: Mapping[TopicPartition, int] | None = None
) -> ClusterView:
    """Return the view of a cluster that rules compare documents with.

    `sizes`, in bytes, take precedence.
    """
    return ClusterView(state_of(cluster), facts_of(cluster, sizes))


def _reassignment(cluster: ClusterInventory) -> PendingRequest | None:
    moving = cluster.facts.reassigning
    return PendingRequest(_PLACE, dict.fromkeys(moving, ()), touched=True) if moving else None


def _min_isr(wanted: int | None) -> dict[str, str]:
    return {} if wanted is None else {MIN_INSYNC_REPLICAS: str(wanted)}


def _topic_configs(facts: KafkaFacts) -> dict[str, dict[str, str]]:
    found = {name: _min_isr(wanted) for name, wanted in facts.min_insync_replicas.items()}
    for name in facts.tiered_topics:
        found[name] = {**found.get(name, {}), REMOTE_STORAGE: ENABLED}
    return found


def _link(row: BrokerRow) -> float | None:
    ways = [each for each in (row.net_in_bytes_per_s, row.net_out_bytes_per_s) if each is not None]
    return min(ways, default=None)


def _known(cluster: ClusterInventory, column: str) -> dict[TopicPartition, Any]:
    values = ((row, getattr(row, column)) for row in cluster.partitions)
    return {
        TopicPartition(row.topic, row.partition): value
        for row, value in values
        if value is not None
    }


def _facts(state: ClusterState, usage: ClusterFacts, mode: MetadataMode | None) -> KafkaFacts:
    limits = {name: _limit(configs) for name, configs in sorted(state.topic_configs.items())}
    return KafkaFacts(
        min_insync_replicas={name: limit for name, limit in limits.items() if limit is not None},
        default_min_insync_replicas=_limit(state.broker_defaults),
        consumers={
            topic: tuple(groups) for topic, groups in sorted(usage.consumers.items()) if groups
        },
        reassigning=in_flight(state),
        delete_topic_enable=usage.deletion_enabled,
        auto_create_topics_enable=usage.topics_create_themselves,
        unavailable=usage.unavailable,
        tiered_topics=tuple(sorted(name for name in state.topics if is_tiered(name, state))),
        mode=mode,
    )


def _limit(configs: Mapping[str, str]) -> int | None:
    limit = configs.get(MIN_INSYNC_REPLICAS, "")
    return int(limit) if limit.isascii() and limit.isdigit() else None


def _isr(row: PartitionRow) -> Replicas:
    if row.isr is not None:
        return row.isr
    return () if row.leader in (None, NO_LEADER) else (row.leader,)


def _partition_row(
    partition: TopicPartition,
    replicas: Replicas,
    state: ClusterState,
    sizes: Mapping[TopicPartition, int],
    tiered_sizes: Mapping[TopicPartition, int],
) -> PartitionRow:
    found = state.states.get(partition)
    return PartitionRow(
        topic=partition.topic,
        partition=partition.partition,
        replicas=replicas,
        leader=None if found is None else found.leader,
        isr=None if found is None else found.isr,
        size_bytes=sizes.get(partition),
        tiered_bytes=tiered_sizes.get(partition),
    )
