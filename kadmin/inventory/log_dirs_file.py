"""Sizes of partitions from the output of Kafka's own `kafka-log-dirs --describe`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import is_legal_topic_name
from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def parse_log_dirs_json(text: str) -> dict[TopicPartition, int]:
    """Return bytes per partition, of its largest replica, without future copies.

    Raises InvalidInputError.
    """
    start = text.find("{")
    try:
        value = json.loads(text[start:] if start >= 0 else text)
        found = list(_replicas(value))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInputError(
            "Not the output of kafka-log-dirs --describe.",
            cause=f"{type(error).__name__}: {error}",
            next_step="kafka-log-dirs.sh --bootstrap-server HOST:PORT --describe > sizes.json",
        ) from error
    return largest(found)


def largest(replicas: list[tuple[TopicPartition, int]]) -> dict[TopicPartition, int]:
    """Return the size of each partition's largest replica."""
    sizes: dict[TopicPartition, int] = {}
    for partition, size in replicas:
        sizes[partition] = max(size, sizes.get(partition, 0))
    return sizes


def _replicas(value: Mapping[str, object]) -> Iterator[tuple[TopicPartition, int]]:
    for broker in value["brokers"]:  # type: ignore[attr-defined] # checked by the caller's except
        for log_dir in broker["logDirs"]:
            for entry in log_dir["partitions"]:
                if entry["isFuture"]:
                    continue
                topic, _, number = entry["partition"].rpartition("-")
                if not is_legal_topic_name(topic):
                    raise ValueError(f"{entry['partition']!r} is not topic-partition")
                size = entry["size"]
                if isinstance(size, bool) or not isinstance(size, int) or size < 0:
                    raise ValueError(f"size of {entry['partition']} is {size!r}")
                yield TopicPartition(topic, int(number)), size
