"""Reads the tables of `inspect` through the brokers; missing answers are left out and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.errors import NotAuthorizedError, UnreachableError
from kadmin.insight.tables.configs import config_table
from kadmin.insight.tables.inspection import Inspection
from kadmin.insight.tables.partitions import broker_table, cluster_table, partition_table, topic_table
from kadmin.operations.reading.brokers import held_by
from kadmin.operations.reading.open_operations import askers_on_record
from kadmin.wording import name_some
from kadmin.worlds.kafka.reader import read_quorum
from kadmin.worlds.kafka.tables import controller_of, group_table, quorum_table, reassignment_table
from kadmin.worlds.kafka.wire.configs import read_own_configs
from kadmin.worlds.kafka.wire.groups import describe_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.cluster.model import ClusterState
    from kadmin.worlds.kafka.context import KafkaContext


def inspect(context: KafkaContext, name: str) -> Inspection:
    """Read the table of this name, one of TABLES."""
    return TABLES[name](context)


def _read(context: KafkaContext) -> ClusterState:
    return context.backend.read(with_configs=True, settle=True)


def _held(context: KafkaContext, state: ClusterState) -> tuple[Mapping[int, int], tuple[str, ...]]:
    return held_by(state, context.backend.brokers(state))


def _brokers(context: KafkaContext) -> Inspection:
    state = _read(context)
    held, unavailable = _held(context, state)
    return Inspection(broker_table(state, held, with_fenced=True), unavailable=unavailable)


def _topics(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(topic_table(state), unavailable=_held(context, state)[1])


def _partitions(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(partition_table(state, with_eligible=True), unavailable=_held(context, state)[1])


def _cluster(context: KafkaContext) -> Inspection:
    state = _read(context)
    return Inspection(
        cluster_table(state, context.connection.broker_version),
        unavailable=_held(context, state)[1],
    )


def _controller(context: KafkaContext) -> Inspection:
    quorum = read_quorum(context.connection)
    return Inspection(controller_of(context.backend.read(())) if quorum is None else quorum_table(quorum))


def _admin(context: KafkaContext) -> Inspection:
    state = context.backend.read()
    found = askers_on_record(context, state)
    return Inspection(reassignment_table(state, {each: listing.operation_id for each, listing in found.items()}))


def _configs(context: KafkaContext) -> Inspection:
    """Read the dynamic configs of topics, of live brokers, each at that broker, and of all brokers together."""
    state, connection = _read(context), context.connection
    configs = {ConfigEntity.of_topic(name): own for name, own in state.topic_configs.items()}
    configs |= read_own_configs(connection, [DEFAULT_ENTITY])
    unavailable = []
    for broker_id in state.brokers:
        try:
            configs |= read_own_configs(connection, [ConfigEntity.of_broker(broker_id)], broker_id=broker_id)
        except NotAuthorizedError:
            raise
        except UnreachableError as error:
            unavailable.append(f"configs of broker {broker_id} are not known: {error.message}")
    if away := sorted(state.fenced_brokers or ()):
        unavailable.append(f"configs of brokers that are not alive are not known: {name_some(away)}")
    return Inspection(config_table(configs, state), unavailable=tuple(unavailable))


def _consumers(context: KafkaContext) -> Inspection:
    groups = describe_groups(context.connection.servers, context.backend.read(()).brokers)
    return Inspection(
        group_table(groups.listed), unavailable=tuple(f"{unseen}: {reason}" for unseen, reason in groups.unseen)
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
