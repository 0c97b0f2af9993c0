"""The three admin znodes that controllers execute.

Payloads (Kafka `ZkData.scala`: ReassignPartitionsZNode, PreferredReplicaElectionZNode,
DeleteTopicsTopicZNode)::

    /admin/reassign_partitions          {"version":1,"partitions":[
                                            {"topic":"foo","partition":0,"replicas":[1,2]}]}
    /admin/preferred_replica_election   {"version":1,"partitions":[{"topic":"foo","partition":0}]}
    /admin/delete_topics/<topic>        no data; one child per topic

kadmin.cluster.payloads explains why encoders are strict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import is_legal_topic_name
from kadmin.cluster.payloads import encode
from kadmin.cluster.znode_names import require_topic_name
from kadmin.plan.model.field_types import (
    NOT_EMPTY,
    NamedPartition,
    OrderedReplicas,
    PartitionNumber,
    TopicName,
    TopicOrProbe,
)
from kadmin.schema.shapes import Defined, Keywords
from kadmin.worlds.zookeeper.znodes.values import (
    MalformedZnodeError,
    decode_object,
    integer,
    integers,
    mapping,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import Replicas

ADMIN = "/admin"
REASSIGN_PARTITIONS = "/admin/reassign_partitions"
PREFERRED_REPLICA_ELECTION = "/admin/preferred_replica_election"
DELETE_TOPICS = "/admin/delete_topics"

PROBE_TOPIC = "!probe"
PROBE_PARTITION = TopicPartition(PROBE_TOPIC, 0)

_Version: TypeAlias = Annotated[int, Keywords(const=1), "Always 1."]


@dataclass(frozen=True, slots=True)
class ReassignmentEntry:
    """One entry of /admin/reassign_partitions."""

    topic: Annotated[TopicOrProbe, "The topic."]
    partition: Annotated[PartitionNumber, "The partition's number."]
    replicas: Annotated[OrderedReplicas, "Its ordered replicas."]


@dataclass(frozen=True, slots=True)
class ReassignmentPayload:
    """The data of /admin/reassign_partitions."""

    version: _Version
    partitions: Annotated[
        tuple[
            Annotated[
                ReassignmentEntry,
                Keywords(title="entry"),
                "One partition's target.",
                Defined("entry"),
            ],
            ...,
        ],
        NOT_EMPTY,
        "Target replicas; never none, for an empty node stays and blocks everybody.",
    ]


@dataclass(frozen=True, slots=True)
class ElectionPayload:
    """The data of /admin/preferred_replica_election."""

    version: _Version
    partitions: Annotated[
        tuple[
            Annotated[NamedPartition, Keywords(title="entry"), "One partition.", Defined("entry")],
            ...,
        ],
        "What to elect; none asks whether the controller listens.",
    ]


@dataclass(frozen=True, slots=True)
class DeletionPayload:
    """The data of /admin/delete_topics in the document layout."""

    version: _Version
    topics: Annotated[
        tuple[TopicName, ...], NOT_EMPTY, Keywords(uniqueItems=True), "Literal names."
    ]


def deletion_path(topic: str) -> str:
    """Return the child whose existence asks for the deletion of a topic.

    Raises InvalidInputError for a bad name.
    """
    return f"{DELETE_TOPICS}/{require_topic_name(topic)}"


def decode_reassignment(data: bytes | None) -> dict[TopicPartition, Replicas]:
    """Decode by the rules of the strictest controllers, which ignore a node with an unknown key.

    Of two entries for one partition the last wins. Empty and repeating lists are returned as found.
    """
    _refuse_unknown(decode_object(REASSIGN_PARTITIONS, data), {"version", "partitions"})
    found = {}
    for partition, entry in _entries(REASSIGN_PARTITIONS, data):
        _refuse_unknown(entry, {"topic", "partition", "replicas"})
        found[partition] = integers(REASSIGN_PARTITIONS, entry.get("replicas"), "replicas")
    return found


def decode_election(data: bytes | None) -> tuple[TopicPartition, ...]:
    """Decode the partitions of an election, in order."""
    return tuple(partition for partition, _ in _entries(PREFERRED_REPLICA_ELECTION, data))


def encode_deletion_document(topics: Iterable[str]) -> bytes:
    """Encode the parent document of old documentation; no Kafka controller tested reads it.

    Raises ValueError for an empty list, a repeated topic, and an invalid topic name.
    """
    listed = list(topics)
    wrong = [topic for topic in listed if not is_legal_topic_name(topic)]
    if not listed or len(set(listed)) != len(listed) or wrong:
        raise ValueError(f"not a list of different topic names: {wrong or listed}")
    return encode({"version": 1, "topics": listed})


def _refuse_unknown(value: dict[str, object], allowed: set[str]) -> None:
    unknown = sorted(set(value) - allowed)
    if unknown:
        raise MalformedZnodeError(REASSIGN_PARTITIONS, f"unknown key: {unknown[0]!r}")


def _entries(path: str, data: bytes | None) -> Iterator[tuple[TopicPartition, dict[str, object]]]:
    partitions = decode_object(path, data).get("partitions")
    if not isinstance(partitions, list):
        raise MalformedZnodeError(path, f"partitions is not a list: {partitions!r}")
    for each in partitions:
        entry = mapping(path, each, "entry")
        topic, number = (
            text(path, entry.get("topic"), "topic"),
            integer(path, entry.get("partition"), "partition"),
        )
        yield TopicPartition(topic, number), entry
