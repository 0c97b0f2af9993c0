"""Bytes of tiered topics (KIP-405): on the disks of brokers, and with remote storage.

Goals: every command that names bytes of a tiered topic says that they are local, and how many there
are in all.
Constraints: DescribeLogDirs has local segments alone; no answer of a broker has remote bytes.
Algorithm: the bytes of a record are those of the local log, and the records are those of both.
Example: 5 MB on disk from offset 4,500 to the end at 5,000, the first record at 0: about 50 MB.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from kadmin.plan.units import readable_size
from kadmin.schema.shapes import Count
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.facts import ClusterFacts

REMOTE_STORAGE = "remote.storage.enable"
ENABLED = "true"


@dataclass(frozen=True, slots=True)
class TieredBytes:
    """The bytes of tiered partitions."""

    partitions: Annotated[Count, "Tiered partitions."]
    local_bytes: Annotated[
        Count | None,
        "Bytes on the disk of one replica of each; null where the size of one is unknown.",
    ]
    total_bytes: Annotated[
        Count | None,
        "An estimate of the bytes of all their records, on disk or in remote storage, counted "
        "once; null where it is unknown.",
    ]

    def __str__(self) -> str:
        """Return `1 tiered partition: 5.00 MB local, about 50.0 MB with remote storage`."""
        local, total = (
            "unknown" if each is None else readable_size(each)
            for each in (self.local_bytes, self.total_bytes)
        )
        about = "" if self.total_bytes is None else "about "
        return (
            f"{count(self.partitions, 'tiered partition')}: {local} local, {about}{total} with "
            "remote storage"
        )


def is_tiered(topic: str, state: ClusterState) -> bool:
    """Whether a topic has remote storage, by its configs where they were read."""
    return state.topic_configs.get(topic, {}).get(REMOTE_STORAGE) == ENABLED


def tiered_bytes(
    partitions: Iterable[TopicPartition], state: ClusterState, facts: ClusterFacts
) -> TieredBytes | None:
    """Add up the bytes of those of the partitions that are tiered; None where none is."""
    tiered = [each for each in partitions if is_tiered(each.topic, state)]
    if not tiered:
        return None
    return TieredBytes(len(tiered), _sum(tiered, facts.sizes), _sum(tiered, facts.tiered_sizes))


@dataclass(frozen=True, slots=True)
class TierOffsets:
    """The offsets of leaders: of the first record, of the first on disk, and after the last.

    `first_on_disk` was asked before the bytes on disk, `first_on_disk_then` after them.
    """

    first: Mapping[TopicPartition, int]
    first_on_disk: Mapping[TopicPartition, int]
    first_on_disk_then: Mapping[TopicPartition, int]
    end: Mapping[TopicPartition, int]


def estimated_sizes(
    local_sizes: Mapping[TopicPartition, int], offsets: TierOffsets
) -> dict[TopicPartition, int]:
    """Return the bytes with remote storage of partitions, by those on the leader's disk.

    Left out are partitions without an answer, those whose segments left the disk between the
    answers, and those without a record on disk that says how large records are.
    """
    found = {}
    for partition, local_bytes in local_sizes.items():
        first, on_disk, then, end = (
            each.get(partition)
            for each in (
                offsets.first,
                offsets.first_on_disk,
                offsets.first_on_disk_then,
                offsets.end,
            )
        )
        if first is None or on_disk is None or end is None or on_disk != then:
            continue
        if on_disk <= first:
            found[partition] = local_bytes
        elif on_disk < end:
            found[partition] = round((end - first) * local_bytes / (end - on_disk))
    return found


def _sum(partitions: Iterable[TopicPartition], sizes: Mapping[TopicPartition, int]) -> int | None:
    found = [sizes.get(each) for each in partitions]
    return None if None in found else sum(size or 0 for size in found)
