"""Brokers, topics and partitions of a state as tables, with the conditions of each partition."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER, Broker, Topic
from kadmin.insight.tables.table import Table, moment
from kadmin.plan.election import off_preferred
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import Broker, ClusterState, Topic, TopicPartition
    from kadmin.insight.tables.table import Cell


class PartitionCondition(StrEnum):
    """A condition of a partition that is not normal, by the names of Kafka's tools and metrics."""

    NO_STATE = "no-state"
    """The state znode is absent (the controller has not created it yet) or cannot be read."""
    OFFLINE = "offline"
    UNDER_REPLICATED = "under-replicated"
    """A replica is out of sync; those that are being added do not count."""
    UNDER_MIN_ISR = "under-min-isr"
    AT_MIN_ISR = "at-min-isr"
    """After one more loss, writes with acks=all are refused."""
    NOT_PREFERRED = "not-preferred"
    """The leader is not the first replica."""
    MOVING = "moving"


CONDITIONS = tuple(each.value.replace("-", "_") for each in PartitionCondition)
BROKERS = (
    "broker_id",
    "alive",
    "controller",
    "rack",
    "endpoints",
    "replicas",
    "leaders",
    "out_of_sync",
    "size_bytes",
    "registration",
    "since",
)
TOPICS = (
    "topic",
    "partitions",
    "replication_factor",
    "min_isr",
    *CONDITIONS,
    "being_deleted",
    "topic_id",
    "format_version",
)
CLUSTER = (
    "cluster_id",
    "kafka_versions",
    "controller",
    "controller_epoch",
    "brokers",
    "topics",
    "partitions",
    *CONDITIONS,
)
FENCED = "fenced"
"""The last column of brokers through their API: whether a broker is registered and not alive (None: unknown)."""
ELIGIBLE = ("elr", "last_known_elr", "offline_replicas")
"""The last columns of partitions through the brokers' API."""
PARTITIONS = ("topic", "partition", "leader", "replicas", "isr", "min_isr", "condition", "leader_epoch")


def conditions_of(state: ClusterState) -> dict[TopicPartition, tuple[PartitionCondition, ...]]:
    """Return the conditions of every partition of a state that was read with its configs; empty for a normal one."""
    moving = set(in_flight(state))
    off = set(off_preferred(state.assignment, state))
    limits = {name: min_insync_replicas(name, state) for name in state.topics}
    found = {}
    for topic in state.topics.values():
        for partition in topic.partitions():
            conditions = list(_in_sync(partition, topic, state, limits[topic.name]))
            if partition in off and partition in state.states:
                conditions.append(PartitionCondition.NOT_PREFERRED)
            if partition in moving:
                conditions.append(PartitionCondition.MOVING)
            found[partition] = tuple(conditions)
    return found


def broker_table(state: ClusterState, size_bytes: Mapping[int, int], *, with_fenced: bool = False) -> Table:
    """Return every broker that is registered or holds a replica; `size_bytes` are the known sizes on disk by broker."""
    fenced = state.fenced_brokers
    held = Counter(chain.from_iterable(state.assignment.values()))
    leaders = Counter(found.leader for found in state.states.values() if found.leader != NO_LEADER)
    out = Counter(
        broker
        for partition, found in state.states.items()
        for broker in set(state.replicas(partition) or ()) - set(found.isr)
    )
    controller = None if state.controller is None else state.controller.broker_id

    def row(broker_id: int) -> tuple[Cell, ...]:
        alive = broker_id in state.brokers
        broker = state.brokers.get(broker_id) or (fenced or {}).get(broker_id)
        return (
            broker_id,
            alive,
            broker_id == controller,
            None if broker is None else broker.rack,
            tuple(_endpoints(broker)) if alive and broker is not None else (),
            held[broker_id],
            leaders[broker_id],
            out[broker_id],
            size_bytes.get(broker_id),
            None if broker is None else broker.registration_version,
            None if broker is None else moment(broker.since_ms),
            *((None if fenced is None and not alive else broker_id in (fenced or ()),) if with_fenced else ()),
        )

    ids = sorted({*state.brokers, *(fenced or ()), *held})
    return Table.of("brokers", (*BROKERS, FENCED) if with_fenced else BROKERS, (row(broker_id) for broker_id in ids))


def topic_table(state: ClusterState) -> Table:
    """Return every topic with the number of its partitions in each condition."""
    by_topic: dict[str, Counter[PartitionCondition]] = {name: Counter() for name in state.topics}
    for partition, conditions in conditions_of(state).items():
        by_topic[partition.topic].update(conditions)

    def row(topic: Topic) -> tuple[Cell, ...]:
        counts = by_topic[topic.name]
        return (
            topic.name,
            len(topic.replicas),
            tuple(sorted({len(replicas) for replicas in topic.replicas.values()})),
            min_insync_replicas(topic.name, state),
            *(counts[each] for each in PartitionCondition),
            topic.name in state.requests.deletions,
            topic.topic_id,
            topic.format_version,
        )

    return Table.of("topics", TOPICS, (row(state.topics[name]) for name in sorted(state.topics)))


def partition_table(state: ClusterState, *, with_eligible: bool = False) -> Table:
    """Return every partition, by topic and number."""
    limits = {name: min_insync_replicas(name, state) for name in state.topics}
    conditions: Mapping[TopicPartition, tuple[PartitionCondition, ...]] = conditions_of(state)

    def row(partition: TopicPartition) -> tuple[Cell, ...]:
        found = state.states.get(partition)
        return (
            partition.topic,
            partition.partition,
            None if found is None else found.leader,
            state.replicas(partition),
            None if found is None else found.isr,
            limits[partition.topic],
            tuple(each.value for each in conditions[partition]),
            None if found is None else found.leader_epoch,
            *((None if found is None else getattr(found, name) for name in ELIGIBLE) if with_eligible else ()),
        )

    columns = (*PARTITIONS, *ELIGIBLE) if with_eligible else PARTITIONS
    return Table.of("partitions", columns, (row(partition) for partition in sorted(conditions)))


def condition_counts(state: ClusterState) -> dict[str, int]:
    """Return how many partitions there are, and how many in each condition."""
    found = Counter(condition for each in conditions_of(state).values() for condition in each)
    total = sum(len(topic.replicas) for topic in state.topics.values())
    by_name = zip(CONDITIONS, (found[condition] for condition in PartitionCondition), strict=True)
    return {"partitions": total, **dict(by_name)}


def cluster_table(state: ClusterState, kafka_versions: str) -> Table:
    """Return the cluster in one row; `kafka_versions` are those that it may run, `2.4 to 2.6`."""
    row = (
        state.cluster_id,
        kafka_versions,
        None if state.controller is None else state.controller.broker_id,
        state.controller_epoch if state.controller_epoch >= 0 else None,
        len(state.brokers),
        len(state.topics),
        *condition_counts(state).values(),
    )
    return Table.of("cluster", CLUSTER, [row], upright=True)


def _in_sync(
    partition: TopicPartition, topic: Topic, state: ClusterState, min_isr: int | None
) -> Iterator[PartitionCondition]:
    found = state.states.get(partition)
    if found is None:
        yield PartitionCondition.NO_STATE
        return
    if found.leader <= NO_LEADER:
        yield PartitionCondition.OFFLINE
    number = partition.partition
    if set(topic.replicas[number]).difference(found.isr, topic.adding_replicas.get(number, ())):
        yield PartitionCondition.UNDER_REPLICATED
    if found.leader > NO_LEADER and min_isr is not None and len(found.isr) <= min_isr:
        yield PartitionCondition.UNDER_MIN_ISR if len(found.isr) < min_isr else PartitionCondition.AT_MIN_ISR


def _endpoints(broker: Broker) -> Iterator[str]:
    for endpoint in broker.endpoints:
        protocol = "" if endpoint.listener == endpoint.security_protocol else f" ({endpoint.security_protocol})"
        yield f"{endpoint.listener}://{endpoint.host}:{endpoint.port}{protocol}"
