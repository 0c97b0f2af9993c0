"""Reads the tables of `inspect` through the brokers; missing answers are left out and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotAuthorizedError, UnreachableError
from kadmin.insight.tables.configs import config_table
from kadmin.insight.tables.inspection import Inspection
from kadmin.insight.tables.kafka import GroupRow, QuorumRow, ReassignmentRow
from kadmin.insight.tables.partitions import (
    broker_table,
    cluster_table,
    partition_table,
    topic_table,
)
from kadmin.insight.tables.table import Table, moment
from kadmin.operations.reading.brokers import held_by
from kadmin.operations.reading.open_operations import askers_on_record
from kadmin.wording import name_some
from kadmin.worlds.kafka.reader import read_quorum
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.groups import describe_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kadmin.cluster.groups import ConsumerGroup
    from kadmin.cluster.model import ClusterState
    from kadmin.insight.tables.kafka import Role
    from kadmin.worlds.kafka.context import KafkaContext
    from kadmin.worlds.kafka.wire.model import Quorum, QuorumReplica


def inspect(context: KafkaContext, name: str) -> Inspection:
    """Read the table of this name, one of TABLES."""
    return TABLES[name](context)


def _read(context: KafkaContext) -> ClusterState:
    return context.backend.read(with_configs=True, settle=True)


def _held(context: KafkaContext, state: ClusterState) -> tuple[Mapping[int, int], tuple[str, ...]]:
    held = held_by(state, context.backend.brokers(state))
    return held.by_broker, (*held.unavailable, *held.hidden_topics)


def _brokers(context: KafkaContext) -> Inspection:
    state = _read(context)
    held, unavailable = _held(context, state)
    return Inspection(broker_table(state, held, with_fenced=True), unavailable=unavailable)


def _topics(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(topic_table(state), unavailable=_held(context, state)[1])


def _partitions(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(
        partition_table(state, with_eligible=True), unavailable=_held(context, state)[1]
    )


def _cluster(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(
        cluster_table(state, context.connection.broker_version),
        unavailable=_held(context, state)[1],
    )


def _controller(context: KafkaContext) -> Inspection:
    quorum = read_quorum(context.connection)
    return Inspection(
        _controller_of(context.backend.read(())) if quorum is None else _quorum_table(quorum)
    )


def _admin(context: KafkaContext) -> Inspection:
    state = context.backend.read()
    found = askers_on_record(context, state)
    return Inspection(
        _reassignment_table(state, {each: listing.operation_id for each, listing in found.items()})
    )


def _configs(context: KafkaContext) -> Inspection:
    """Read the dynamic configs of topics.

    Read those of live brokers, each at that broker, and of all brokers together.
    """
    state, connection = _read(context), context.connection
    configs = {ConfigEntity.of_topic(name): own for name, own in state.topic_configs.items()}
    configs |= read_own_configs(connection, [DEFAULT_ENTITY])
    unavailable = []
    for broker_id in state.brokers:
        try:
            configs |= read_own_configs(
                connection, [ConfigEntity.of_broker(broker_id)], broker_id=broker_id
            )
        except NotAuthorizedError:
            raise
        except UnreachableError as error:
            unavailable.append(f"configs of broker {broker_id} are not known: {error.message}")
    if away := sorted(state.fenced_brokers or ()):
        unavailable.append(
            f"configs of brokers that are not alive are not known: {name_some(away)}"
        )
    return Inspection(config_table(configs, state), unavailable=tuple(unavailable))


def _consumers(context: KafkaContext) -> Inspection:
    groups = describe_groups(context.connection.servers, context.backend.read(()).brokers)
    return Inspection(
        _group_table(groups.listed),
        unavailable=tuple(f"{unseen}: {reason}" for unseen, reason in groups.unseen),
    )


TABLES: Mapping[str, Callable[[KafkaContext], Inspection]] = {
    "brokers": _brokers,
    "topics": _topics,
    "partitions": _partitions,
    "controller": _controller,
    "admin": _admin,
    "cluster": _cluster,
    "configs": _configs,
    "consumers": _consumers,
}
"""The tables of a cluster, by their names on the command line."""


def _quorum_table(quorum: Quorum) -> Table:
    """Return the metadata log's replicas: active controller, other voters, then observers."""
    end = max(
        (
            each.log_end_offset
            for each in quorum.voter_states
            if each.replica_id == quorum.leader_id
        ),
        default=-1,
    )

    def row(each: QuorumReplica, role: Role) -> QuorumRow:
        both_known = min(each.log_end_offset, end) >= 0
        return QuorumRow(
            each.replica_id,
            role,
            quorum.leader_epoch if role == "leader" else None,
            each.log_end_offset if each.log_end_offset >= 0 else None,
            max(end - each.log_end_offset, 0) if both_known else None,
            moment(max(each.last_fetch_ms, 0)),
            moment(max(each.last_caught_up_ms, 0)),
        )

    voters = sorted(
        quorum.voter_states, key=lambda each: (each.replica_id != quorum.leader_id, each.replica_id)
    )
    rows = [
        row(each, "leader" if each.replica_id == quorum.leader_id else "voter") for each in voters
    ]
    return Table.of(
        "quorum", QuorumRow, [*rows, *(row(each, "observer") for each in quorum.observers)]
    )


def _controller_of(state: ClusterState) -> Table:
    """Return the controller of a cluster in ZooKeeper mode as a table of the quorum.

    Brokers give its id alone.
    """
    rows = [] if state.controller is None else [QuorumRow(state.controller.broker_id, "leader")]
    return Table.of("quorum", QuorumRow, rows)


def _reassignment_table(state: ClusterState, operations: Mapping[TopicPartition, str]) -> Table:
    """Return every reassignment in flight, with the operation on record that asked for it."""

    def rows() -> Iterator[ReassignmentRow]:
        for name in sorted(state.topics):
            topic = state.topics[name]
            for number in sorted({*topic.adding_replicas, *topic.removing_replicas}):
                partition = TopicPartition(name, number)
                found = state.states.get(partition)
                yield ReassignmentRow(
                    name,
                    number,
                    topic.target(number),
                    topic.adding_replicas.get(number, ()),
                    topic.removing_replicas.get(number, ()),
                    None if found is None else found.leader,
                    None if found is None else found.isr,
                    operations.get(partition),
                )

    return Table.of("reassignments", ReassignmentRow, rows())


def _group_table(groups: Iterable[ConsumerGroup]) -> Table:
    """Return every group that keeps its offsets in Kafka.

    Fields that brokers do not report are None.
    """
    rows = (
        GroupRow(
            each.name,
            each.listed.kind,
            each.listed.protocol or None,
            each.listed.state or None,
            each.members,
            tuple(sorted(each.topics)),
        )
        for each in groups
    )
    return Table.of("groups", GroupRow, rows)
