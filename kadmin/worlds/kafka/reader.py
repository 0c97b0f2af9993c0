"""Reads a cluster through its brokers as a `ClusterState`.

It does so in KRaft mode or in ZooKeeper mode (2.4 and later). Reassignments in flight come from the
controller; the rest comes from a broker whose copy of the metadata has caught up with the
controller. A reading is therefore no older than the call.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import (
    Broker,
    ClusterState,
    Controller,
    Endpoint,
    PartitionState,
    Topic,
    TopicPartition,
)
from kadmin.errors import UnreachableError
from kadmin.next_step import command
from kadmin.worlds.kafka.wire.catch_up import caught_up_broker
from kadmin.worlds.kafka.wire.configs import read_own_configs, read_settings
from kadmin.worlds.kafka.wire.eligible_leaders import read_eligible_leaders
from kadmin.worlds.kafka.wire.errors import NotServedError
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.quorum import describe_quorum
from kadmin.worlds.kafka.wire.reassignments import list_reassignments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import BrokerMetadata, ClusterMetadata, TopicMetadata
    from kadmin.worlds.kafka.wire.model import Quorum
    from kadmin.worlds.kafka.wire.reassignments import Reassignment

_READINGS = 3
_BATCH = 200
"""Number of topics in one request for configs: the broker looks up some thirty settings of each."""
_FROM_FILE = "min.insync.replicas"
"""The setting of a broker's properties file that counts as the default of all."""
_UNKNOWN_EPOCH = -1


def read_quorum(connection: KafkaConnection) -> Quorum | None:
    """Return the quorum of controllers; None for a cluster in ZooKeeper mode, which has none.

    Raises as `KafkaConnection.ask` does, with an error of its own where brokers answer and
    controllers do not.
    """
    try:
        with _asking_controllers(connection):
            return describe_quorum(connection)
    except NotServedError:
        return None


def read_cluster(
    connection: KafkaConnection,
    topics: Iterable[str] | None = None,
    *,
    with_configs: bool = False,
    settle: bool = False,
) -> ClusterState:
    """Read all topics, or those named; raises as `KafkaConnection.ask` does.

    With `with_configs`, the dynamic configs and, of partitions that are not in sync, the eligible
    leaders. With `settle`, everything is read again while reassignments begin and end meanwhile,
    three times at most. A reassignment that ends while it is read counts as in flight, so that its
    partition is not taken for changed.
    """
    names = None if topics is None else sorted(topics)
    with _asking_controllers(connection):
        after = list_reassignments(connection)
    quorum = read_quorum(connection)
    broker_id = None if quorum is None else caught_up_broker(connection, quorum.high_watermark)
    for _ in range(_READINGS if settle else 1):
        moving = after
        found = read_metadata(connection, names, broker_id=broker_id)
        after = list_reassignments(connection)
        if moving == after:
            break
    state = _state(connection, found, quorum, {**moving, **after})
    changed = (
        {partition.topic for partition, _ in moving.items() ^ after.items()} if settle else set()
    )
    state = replace(
        state, unsettled=frozenset(changed & state.topics.keys()), may_hide_topics=topics is None
    )
    return _with_configs(connection, state) if with_configs else state


@contextmanager
def _asking_controllers(connection: KafkaConnection) -> Iterator[None]:
    """Raise an error of its own where brokers answer and controllers do not."""
    try:
        yield
    except UnreachableError as error:
        if type(error) is not UnreachableError:
            raise
        read_metadata(connection, ())
        raise UnreachableError(
            "The brokers answer, and no controller does: the controllers have no majority, or "
            "elect one of them.",
            cause=error.cause,
            next_step=command("doctor"),
        ) from error


def read_without_controllers(connection: KafkaConnection) -> ClusterState:
    """Read the cluster from brokers alone, where no controller answers.

    No move is seen in flight.
    """
    state = _state(connection, read_metadata(connection), None, {})
    return _with_configs(connection, replace(state, controller=None))


def _state(
    connection: KafkaConnection,
    found: ClusterMetadata,
    quorum: Quorum | None,
    moving: Mapping[TopicPartition, Reassignment],
) -> ClusterState:
    protocol = connection.servers.security.protocol.value
    fenced = {
        each.broker_id: _broker(each, protocol) for each in found.brokers.values() if not each.alive
    }
    return ClusterState(
        cluster_id=found.cluster_id,
        controller=_controller(found, quorum),
        controller_epoch=_UNKNOWN_EPOCH if quorum is None else quorum.leader_epoch,
        brokers={
            each.broker_id: _broker(each, protocol) for each in found.brokers.values() if each.alive
        },
        topics=_topics(found.topics, moving),
        states={
            TopicPartition(name, number): PartitionState(
                each.leader,
                each.isr,
                each.leader_epoch,
                hash((each.leader, each.isr, each.leader_epoch)),
                offline_replicas=each.offline,
            )
            for name, topic in found.topics.items()
            for number, each in topic.partitions.items()
        },
        fenced_brokers=fenced if found.fenced_known else None,
    )


def _controller(found: ClusterMetadata, quorum: Quorum | None) -> Controller | None:
    if quorum is not None:
        return quorum.controller
    return None if found.controller_id < 0 else Controller(found.controller_id)


def _with_configs(connection: KafkaConnection, state: ClusterState) -> ClusterState:
    """Add the configs, and the eligible leaders, that brokers are asked for by topic.

    Only a partition with fewer in-sync replicas than `min.insync.replicas` has eligible leaders
    outside its ISR.
    """
    names = sorted(state.topics)
    configs: dict[str, Mapping[str, str]] = {}
    for start in range(0, len(names), _BATCH):
        asked = map(ConfigEntity.of_topic, names[start : start + _BATCH])
        configs |= {
            entity.name: own for entity, own in read_own_configs(connection, asked).items() if own
        }
    short = {
        each.topic
        for each, now in state.states.items()
        if len(now.isr) < len(state.replicas(each) or ())
    }
    states = dict(state.states)
    for partition, leaders in read_eligible_leaders(connection, short).items():
        if partition in states:
            states[partition] = replace(
                states[partition], elr=leaders.elr, last_known_elr=leaders.last_known_elr
            )
    return replace(
        state, states=states, topic_configs=configs, broker_defaults=_defaults(connection, state)
    )


def _defaults(connection: KafkaConnection, state: ClusterState) -> dict[str, str]:
    """Return the brokers' dynamic default, and the first answering broker's effective setting."""
    found = read_own_configs(connection, [DEFAULT_ENTITY])[DEFAULT_ENTITY]
    for broker_id in state.brokers:
        with suppress(UnreachableError):
            return read_settings(connection, broker_id, [_FROM_FILE]) | found
    return found


def _broker(found: BrokerMetadata, protocol: str) -> Broker:
    # Brokers report the address of the listener that was asked, and not its name.
    return Broker(
        found.broker_id, found.rack, (Endpoint(protocol, found.host, found.port, protocol),)
    )


def _topics(
    found: Mapping[str, TopicMetadata], moving: Mapping[TopicPartition, Reassignment]
) -> dict[str, Topic]:
    in_flight: dict[str, dict[int, Reassignment]] = {}
    for partition, reassignment in moving.items():
        in_flight.setdefault(partition.topic, {})[partition.partition] = reassignment
    return {name: _topic(name, topic, in_flight.get(name, {})) for name, topic in found.items()}


def _topic(name: str, topic: TopicMetadata, in_flight: Mapping[int, Reassignment]) -> Topic:
    moves = {
        number: each for number, each in sorted(in_flight.items()) if number in topic.partitions
    }
    replicas = {number: each.replicas for number, each in topic.partitions.items()}
    replicas |= {number: each.replicas for number, each in moves.items()}
    adding = {
        number: each.adding_replicas for number, each in moves.items() if each.adding_replicas
    }
    removing = {
        number: each.removing_replicas for number, each in moves.items() if each.removing_replicas
    }
    fingerprint = hash(tuple(tuple(sorted(each.items())) for each in (replicas, adding, removing)))
    return Topic(name, replicas, adding, removing, topic.topic_id, fingerprint)
