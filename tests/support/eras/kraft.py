"""Single requests to a live cluster in KRaft mode, with the codes of their answers, as the claims
look at them.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kafka.protocol.admin import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    ElectLeadersRequest,
)
from support.live.kraft import (
    THROTTLED_RATES,
    THROTTLED_REPLICAS,
    alive_brokers,
    make_topic,
)
from support.live.waiting import PATIENCE_S, wait_until

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import TopicPartition
from kadmin.errors import UnknownOutcomeError
from kadmin.worlds.kafka.wire.configs import (
    ConfigEdit,
    ConfigOperation,
    alter_configs,
    read_own_configs,
)
from kadmin.worlds.kafka.wire.deletions import delete_topics
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.reassignments import alter_reassignments, list_reassignments
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import Replicas
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata
    from kadmin.worlds.kafka.wire.reassignments import Reassignment
    from kadmin.worlds.kafka.wire.refusals import Refusal

ALL_BROKERS = (1, 2, 3, 4)
SET, DELETE, APPEND, SUBTRACT = ConfigOperation
PREFERRED, UNCLEAN = 0, 1
"""ElectionType."""
_TIMEOUT_MS = 30_000


def filled_topic(connection: KafkaConnection, replicas: Replicas) -> TopicPartition:
    """A partition with records of 5 MB, more than a throttled broker fetches before it is held
    back.
    """
    partition = TopicPartition(make_topic(connection, {0: replicas}), 0)
    produce(connection.servers, {partition: [b"x" * 900_000] * 6})
    return partition


@contextmanager
def slow_copies(connection: KafkaConnection) -> Iterator[None]:
    """Every broker copies throttled replicas at 1 B/s."""
    with _configs(connection, DEFAULT_ENTITY, THROTTLED_RATES, "1"):
        yield


@contextmanager
def held(connection: KafkaConnection, topic: str) -> Iterator[None]:
    """All replicas of a topic are throttled."""
    with _configs(connection, ConfigEntity.of_topic(topic), THROTTLED_REPLICAS, "*"):
        yield


@contextmanager
def _configs(
    connection: KafkaConnection, entity: ConfigEntity, keys: Sequence[str], value: str
) -> Iterator[None]:
    assert alter_configs(connection, {entity: dict.fromkeys(keys, ConfigEdit(SET, value))}) == {
        entity: None
    }
    alive = alive_brokers(connection)
    wait_until(
        lambda: all(
            read_own_configs(connection, [entity], broker_id=each)[entity].keys() >= set(keys)
            for each in alive
        ),
        PATIENCE_S,
    )
    try:
        yield
    finally:
        alter_configs(connection, {entity: dict.fromkeys(keys, ConfigEdit(DELETE))})


def move(connection: KafkaConnection, partition: TopicPartition, target: Replicas | None) -> None:
    assert alter_reassignments(connection, {partition: target}) == {partition: None}


def reassign(
    connection: KafkaConnection,
    partition: TopicPartition,
    *targets: Replicas | None,
    same_factor: bool = False,
    timeout_ms: int = _TIMEOUT_MS,
    broker_id: int | None = None,
) -> tuple[int, list[int], list[str | None]]:
    """Ask for several targets of one partition in one request; return the code of the whole, codes
    and messages.
    """
    topic = AlterPartitionReassignmentsRequest.ReassignableTopic
    entries = [
        topic.ReassignablePartition(
            partition_index=partition.partition,
            replicas=None if replicas is None else list(replicas),
        )
        for replicas in targets
    ]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=timeout_ms,
        allow_replication_factor_change=not same_factor,
        topics=[topic(name=partition.topic, partitions=entries)],
    )
    answer = connection.change(
        "alter reassignments", request, timeout_s=2 * PATIENCE_S, broker_id=broker_id
    )
    found = [each for of_topic in answer.responses for each in of_topic.partitions]
    return (
        answer.error_code,
        [each.error_code for each in found],
        [each.error_message for each in found],
    )


def in_flight(connection: KafkaConnection, partition: TopicPartition) -> Reassignment | None:
    return list_reassignments(connection).get(partition)


def shown(connection: KafkaConnection, partition: TopicPartition) -> PartitionMetadata:
    return read_metadata(connection, [partition.topic]).partitions[partition]


def wait_shown(connection: KafkaConnection, partition: TopicPartition, **wanted: object) -> None:
    """Wait until every live broker shows these values of a partition: their copies of the metadata
    lag behind.
    """

    def all_show() -> bool:
        copies = [
            read_metadata(connection, [partition.topic], broker_id=each).partitions
            for each in alive_brokers(connection)
        ]
        return all(
            partition in copy
            and all(getattr(copy[partition], name) == value for name, value in wanted.items())
            for copy in copies
        )

    wait_until(all_show)


def take_back(connection: KafkaConnection, partition: TopicPartition, original: Replicas) -> None:
    move(connection, partition, original)
    if in_flight(connection, partition):
        move(connection, partition, None)
    wait_until(lambda: in_flight(connection, partition) is None)


def elect(
    connection: KafkaConnection,
    partition: TopicPartition,
    kind: int = PREFERRED,
    timeout_ms: int = _TIMEOUT_MS,
    broker_id: int | None = None,
) -> int:
    """The error code of an election of one partition, asked for at one broker or at any."""
    (code,) = elect_all(connection, [partition], kind, timeout_ms, broker_id)
    return code


def elect_all(
    connection: KafkaConnection,
    partitions: Sequence[TopicPartition],
    kind: int = PREFERRED,
    timeout_ms: int = _TIMEOUT_MS,
    broker_id: int | None = None,
) -> list[int]:
    """The error codes of elections of partitions of one topic, in one request."""
    numbers = [each.partition for each in partitions]
    request = ElectLeadersRequest(
        election_type=kind,
        topic_partitions=[
            ElectLeadersRequest.TopicPartitions(topic=partitions[0].topic, partitions=numbers)
        ],
        timeout_ms=timeout_ms,
    )
    answer = connection.change("elect leaders", request, timeout_s=PATIENCE_S, broker_id=broker_id)
    return [each.error_code for each in answer.replica_election_results[0].partition_result]


def change_config(
    connection: KafkaConnection,
    entity: ConfigEntity,
    key: str,
    edit: ConfigEdit,
    server_id: int | None = None,
) -> Refusal | None:
    return alter_configs(connection, {entity: {key: edit}}, broker_id=server_id)[entity]


def config_code(
    connection: KafkaConnection,
    entity: ConfigEntity,
    key: str,
    edit: ConfigEdit,
    server_id: int | None = None,
) -> int:
    """The error code of a change, 0 for none, also where it leaves open what was done."""
    try:
        answer = change_config(connection, entity, key, edit, server_id)
    except UnknownOutcomeError as error:
        return {f"it answered {error_name(code)}": code for code in (-1, 41)}[error.cause or ""]
    return 0 if answer is None else answer.code


def creation(
    connection: KafkaConnection, name: str, replicas: Mapping[int, Replicas], partitions: int = -1
) -> int:
    """The error code of a creation, with the replicas of each partition or with a number of
    partitions.
    """
    topic = CreateTopicsRequest.CreatableTopic
    assigned = [
        topic.CreatableReplicaAssignment(partition_index=number, broker_ids=list(brokers))
        for number, brokers in replicas.items()
    ]
    factor = -1 if assigned else 1
    asked = topic(
        name=name,
        num_partitions=partitions,
        replication_factor=factor,
        assignments=assigned,
        configs=[],
    )
    request = CreateTopicsRequest(topics=[asked], timeout_ms=_TIMEOUT_MS)
    code: int = (
        connection.change("create a topic", request, timeout_s=PATIENCE_S).topics[0].error_code
    )
    return code


def topic_id(connection: KafkaConnection, topic: str) -> str:
    """Return the id of a topic as soon as the broker that is asked has heard of it: another one may
    have before.
    """
    found: list[str | None] = []

    def known() -> bool:
        found.extend(each.topic_id for each in read_metadata(connection, [topic]).topics.values())
        return bool(found)

    wait_until(known)
    return found[0] or ""


def delete(connection: KafkaConnection, topic: str) -> None:
    assert delete_topics(connection, {topic: topic_id(connection, topic)}) == {topic: None}
    wait_until(lambda: topic not in read_metadata(connection, [topic]).topics)


def grow(
    connection: KafkaConnection,
    topic: str,
    total: int,
    *lists: Replicas,
    validate_only: bool = False,
) -> int:
    """The error code of a request for more partitions with these replicas."""
    wanted = CreatePartitionsRequest.CreatePartitionsTopic
    assignments = [wanted.CreatePartitionsAssignment(broker_ids=list(each)) for each in lists]
    request = CreatePartitionsRequest(
        topics=[wanted(name=topic, count=total, assignments=assignments)],
        timeout_ms=_TIMEOUT_MS,
        validate_only=validate_only,
    )
    answer = connection.change("add partitions", request, timeout_s=PATIENCE_S)
    code: int = answer.results[0].error_code
    return code
