"""Brokers, topics and partitions of a state as tables, with the conditions of each partition."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.model import NO_LEADER, Broker, Topic
from kadmin.insight.tables.table import Table, moment
from kadmin.plan.election import off_preferred
from kadmin.plan.min_isr import min_insync_replicas
from kadmin.plan.progress import in_flight
from kadmin.plan.recovery import way_out
from kadmin.schema.shapes import ABSENT, Absent, Count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import Broker, ClusterState, Topic, TopicPartition


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


FENCED = ("fenced",)
"""The column of brokers that only their API has."""
ELIGIBLE = ("elr", "last_known_elr", "offline_replicas")
"""The columns of partitions that only the brokers' API has."""


@dataclass(frozen=True)
class InspectedBroker:
    """A broker that is registered or holds a replica."""

    broker_id: Annotated[Count, "Broker."]
    alive: Annotated[bool, "Whether the broker is registered, through the brokers: and not fenced."]
    controller: Annotated[bool, "Whether the broker is the controller."]
    rack: Annotated[str | None, "Rack; null where it is unknown."]
    endpoints: Annotated[
        tuple[str, ...],
        "Listeners, LISTENER://host:port, with the security protocol in brackets where its name "
        "differs.",
    ]
    replicas: Annotated[Count, "Replicas assigned to the broker."]
    leaders: Annotated[Count, "Partitions that the broker leads."]
    out_of_sync: Annotated[Count, "Replicas on the broker that are not in the ISR."]
    size_bytes: Annotated[
        Count | None,
        "Bytes of all replicas on the disks that it can read; null where the brokers gave no "
        "answer (Kafka before 1.1, or unreachable).",
    ]
    registration: Annotated[
        int | None,
        "Version of the registration, 1 to 5; null when the broker is not registered, and through "
        "the brokers.",
    ]
    since: Annotated[
        str | None,
        "When the broker registered, by ZooKeeper's clock (UTC); null when it is not alive.",
    ]
    fenced: Annotated[
        bool | Absent | None,
        "Through the brokers only: whether it is registered and not alive; "
        "null where brokers do not report it (before 4.0).",
    ] = ABSENT


@dataclass(frozen=True)
class ConditionCounts:
    """Numbers of partitions by condition, in the order of PartitionCondition."""

    no_state: Annotated[Count, "Partitions without a readable state."]
    offline: Annotated[Count, "Partitions without a leader."]
    under_replicated: Annotated[Count, "Partitions with an out-of-sync replica."]
    under_min_isr: Annotated[
        Count,
        "Partitions with fewer in-sync replicas than min.insync.replicas: they refuse acks=all.",
    ]
    at_min_isr: Annotated[Count, "Partitions with exactly min.insync.replicas in sync."]
    not_preferred: Annotated[Count, "Partitions whose leader is not the first replica."]
    moving: Annotated[Count, "Partitions that are being reassigned."]


@dataclass(frozen=True)
class _PartitionTotal:
    partitions: Annotated[Count, "Partitions."]


@dataclass(frozen=True)
class PartitionCounts(ConditionCounts, _PartitionTotal):
    """The number of all partitions, then of those in each condition."""


@dataclass(frozen=True)
class _TopicHead:
    topic: Annotated[str, "Topic."]
    partitions: Annotated[Count, "Partitions."]
    replication_factor: Annotated[tuple[Count, ...], "Every length of the topic's replica lists."]
    min_isr: Annotated[
        int | None,
        "min.insync.replicas: the topic's, else the cluster's dynamic default, else 1; null where "
        "it is not a number.",
    ]


@dataclass(frozen=True)
class TopicRow(ConditionCounts, _TopicHead):
    """A topic with the number of its partitions in each condition."""

    being_deleted: Annotated[bool, "Whether the deletion of the topic is queued."]
    topic_id: Annotated[str | None, "Topic id, 2.8 and later."]
    format_version: Annotated[
        int | None, "Format version of the topic znode, 1 to 3; null through the brokers."
    ]


@dataclass(frozen=True)
class _ClusterHead:
    cluster_id: Annotated[str | None, "Cluster id."]
    kafka_versions: Annotated[
        str,
        "Versions of Kafka that the cluster may run, inferred from its znodes, "
        "or from the requests that a broker serves.",
    ]
    controller: Annotated[
        int | None,
        "Broker id of the controller, in KRaft mode the node id of the active one; null for none.",
    ]
    controller_epoch: Annotated[
        Count | None,
        "Controller epoch: the number of controllers elected so far, in KRaft mode the leader "
        "epoch of the quorum; null where brokers do not report it.",
    ]
    brokers: Annotated[Count, "Registered brokers."]
    topics: Annotated[Count, "Topics."]


@dataclass(frozen=True)
class ClusterRow(PartitionCounts, _ClusterHead):
    """The cluster, then the numbers of its partitions."""


@dataclass(frozen=True)
class InspectedPartition:
    """A partition."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[Count, "Partition."]
    leader: Annotated[int | None, "Leader, -1 for none; null when the state cannot be read."]
    replicas: Annotated[tuple[int, ...], "Assigned brokers in order."]
    isr: Annotated[tuple[int, ...] | None, "In-sync replicas; null when the state cannot be read."]
    min_isr: Annotated[int | None, "min.insync.replicas as in the table of topics."]
    condition: Annotated[tuple[PartitionCondition, ...], "Conditions that are not normal."]
    leader_epoch: Annotated[int | None, "Leader epoch."]
    way_out: Annotated[
        str | None, "The best way out of a partition without a leader; null for others."
    ]
    elr: Annotated[
        tuple[int, ...] | Absent,
        "Through the brokers only: eligible leader replicas, which may lead without a loss while "
        "the ISR is empty.",
    ] = ABSENT
    last_known_elr: Annotated[
        tuple[int, ...] | Absent,
        "Through the brokers only: the last known leader of a partition without one.",
    ] = ABSENT
    offline_replicas: Annotated[
        tuple[int, ...] | Absent,
        "Through the brokers only: replicas on dead brokers or failed disks.",
    ] = ABSENT


def conditions_of(state: ClusterState) -> dict[TopicPartition, tuple[PartitionCondition, ...]]:
    """Return the conditions of every partition of a state that was read with its configs.

    Empty for a normal one.
    """
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


def broker_table(
    state: ClusterState, size_bytes: Mapping[int, int], *, with_fenced: bool = False
) -> Table:
    """Return every broker that is registered or holds a replica.

    `size_bytes` are the known sizes on disk by broker.
    """
    rows = inspected_brokers(state, size_bytes)
    return Table.of("brokers", InspectedBroker, rows, without=() if with_fenced else FENCED)


def inspected_brokers(
    state: ClusterState, size_bytes: Mapping[int, int]
) -> tuple[InspectedBroker, ...]:
    """Return the rows of the table of brokers, by id."""
    fenced = state.fenced_brokers
    held = Counter(chain.from_iterable(state.assignment.values()))
    leaders = Counter(found.leader for found in state.states.values() if found.leader != NO_LEADER)
    out = Counter(
        broker
        for partition, found in state.states.items()
        for broker in set(state.replicas(partition) or ()) - set(found.isr)
    )
    controller = None if state.controller is None else state.controller.broker_id

    def row(broker_id: int) -> InspectedBroker:
        alive = broker_id in state.brokers
        broker = state.brokers.get(broker_id) or (fenced or {}).get(broker_id)
        return InspectedBroker(
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
            None if fenced is None and not alive else broker_id in (fenced or ()),
        )

    return tuple(map(row, sorted({*state.brokers, *(fenced or ()), *held})))


def topic_table(state: ClusterState) -> Table:
    """Return every topic with the number of its partitions in each condition."""
    by_topic: dict[str, Counter[PartitionCondition]] = {name: Counter() for name in state.topics}
    for partition, conditions in conditions_of(state).items():
        by_topic[partition.topic].update(conditions)

    def row(topic: Topic) -> TopicRow:
        return TopicRow(
            topic.name,
            len(topic.replicas),
            tuple(sorted({len(replicas) for replicas in topic.replicas.values()})),
            min_insync_replicas(topic.name, state),
            being_deleted=topic.name in state.requests.deletions,
            topic_id=topic.topic_id,
            format_version=topic.format_version,
            **_by_condition(by_topic[topic.name]),
        )

    return Table.of("topics", TopicRow, (row(state.topics[name]) for name in sorted(state.topics)))


def partition_table(state: ClusterState, *, with_eligible: bool = False) -> Table:
    """Return every partition, by topic and number."""
    limits = {name: min_insync_replicas(name, state) for name in state.topics}
    conditions: Mapping[TopicPartition, tuple[PartitionCondition, ...]] = conditions_of(state)

    def row(partition: TopicPartition) -> InspectedPartition:
        found = state.states.get(partition)
        return InspectedPartition(
            partition.topic,
            partition.partition,
            None if found is None else found.leader,
            state.replicas(partition) or (),
            None if found is None else found.isr,
            limits[partition.topic],
            conditions[partition],
            None if found is None else found.leader_epoch,
            way_out(partition, state)
            if found is not None and not state.has_leader(partition)
            else None,
            () if found is None else found.elr,
            () if found is None else found.last_known_elr,
            () if found is None else found.offline_replicas,
        )

    without = () if with_eligible else ELIGIBLE
    return Table.of("partitions", InspectedPartition, map(row, sorted(conditions)), without=without)


def condition_counts(state: ClusterState) -> PartitionCounts:
    """Count the partitions, and those in each condition."""
    found = Counter(condition for each in conditions_of(state).values() for condition in each)
    total = sum(len(topic.replicas) for topic in state.topics.values())
    return PartitionCounts(total, **_by_condition(found))


def _by_condition(found: Mapping[PartitionCondition, int]) -> dict[str, int]:
    """Return the fields of ConditionCounts."""
    return {each.value.replace("-", "_"): found[each] for each in PartitionCondition}


def cluster_table(state: ClusterState, kafka_versions: str) -> Table:
    """Return the cluster in one row; `kafka_versions` are those that it may run, `2.4 to 2.6`."""
    row = ClusterRow(
        state.cluster_id,
        kafka_versions,
        None if state.controller is None else state.controller.broker_id,
        state.controller_epoch if state.controller_epoch >= 0 else None,
        len(state.brokers),
        len(state.topics),
        **asdict(condition_counts(state)),
    )
    return Table.of("cluster", ClusterRow, [row], upright=True)


def _in_sync(
    partition: TopicPartition, topic: Topic, state: ClusterState, min_isr: int | None
) -> Iterator[PartitionCondition]:
    found = state.states.get(partition)
    if found is None:
        yield PartitionCondition.NO_STATE
        return
    has_leader = state.has_leader(partition)
    if not has_leader:
        yield PartitionCondition.OFFLINE
    number = partition.partition
    if set(topic.replicas[number]).difference(found.isr, topic.adding_replicas.get(number, ())):
        yield PartitionCondition.UNDER_REPLICATED
    if has_leader and min_isr is not None and len(found.isr) <= min_isr:
        yield (
            PartitionCondition.UNDER_MIN_ISR
            if len(found.isr) < min_isr
            else PartitionCondition.AT_MIN_ISR
        )


def _endpoints(broker: Broker) -> Iterator[str]:
    for endpoint in broker.endpoints:
        protocol = (
            ""
            if endpoint.listener == endpoint.security_protocol
            else f" ({endpoint.security_protocol})"
        )
        yield f"{endpoint.listener}://{endpoint.host}:{endpoint.port}{protocol}"
