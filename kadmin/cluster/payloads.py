"""JSON as Kafka writes it.

It is the form of the payloads of reassignments and elections, which admin znodes and Kafka's own
tools share. Exact encoding is the most safety-critical code here: from 2.0 on one unknown key makes
a ZooKeeper-mode controller ignore the whole payload, and an empty list, a string or a missing key
can destroy data or loop controller elections. So encoders take typed values, refuse everything
else, and write exactly the known keys in Kafka's own order.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import Assignment, Replicas, TopicPartition

MAX_INT32 = 2**31 - 1


def encode_reassignment(entries: Assignment) -> bytes:
    """Encode target replicas per partition, in the mapping's order.

    Raises ValueError without entries, for an empty or repeating list, and for ids that are no
    non-negative int32.
    """
    if not entries:
        raise ValueError("a reassignment without entries would stay in ZooKeeper")
    partitions = [
        {**partition_entry(partition), "replicas": require_replicas(str(partition), replicas)}
        for partition, replicas in entries.items()
    ]
    return encode({"version": 1, "partitions": partitions})


def encode_election(partitions: Iterable[TopicPartition]) -> bytes:
    """Encode partitions to elect, in order; none at all is valid and controllers remove it at once.

    Raises ValueError for a repeated partition (controllers up to 1.0 fail on it).
    """
    listed = list(partitions)
    if len(set(listed)) != len(listed):
        raise ValueError("the election names a partition twice")
    return encode(
        {"version": 1, "partitions": [partition_entry(partition) for partition in listed]}
    )


def partition_entry(partition: TopicPartition) -> dict[str, object]:
    """Return the entry that names a partition.

    Raises ValueError for one that may not be written.
    """
    if not isinstance(partition.topic, str) or not partition.topic:
        raise ValueError(f"not a topic name: {partition.topic!r}")
    return {"topic": partition.topic, "partition": require_id(partition.partition)}


def require_replicas(what: str, replicas: Replicas) -> list[int]:
    """Return a list of replicas that may be written.

    Raises ValueError for an empty or repeating one.
    """
    if not replicas:
        raise ValueError(
            f"{what}: an empty replica list destroys data or loops controller elections"
        )
    listed = [require_id(broker) for broker in replicas]
    if len(set(listed)) != len(listed):
        raise ValueError(f"{what}: a broker is named twice in {listed}")
    return listed


def require_id(value: object) -> int:
    """Return a non-negative int32 that may be written.

    Raises ValueError for anything else, bools included.
    """
    if type(value) is not int or not 0 <= value <= MAX_INT32:
        raise ValueError(f"not a non-negative int32: {value!r}")
    return value


def encode(value: object) -> bytes:
    """Encode as Kafka does: no blanks, keys in the order given, UTF-8."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
