"""The capabilities of an access path to a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PublishLimits:
    """The limits of one publish, whatever the plan.

    Partitions, bytes, and the bytes of each topic beside its name. `waits`: a publish waits for the
    end of the one before; otherwise it adds to the reassignments in flight.
    """

    max_bytes: int
    bytes_per_topic: int
    max_partitions: int | None = None
    waits: bool = False


class MetadataMode(StrEnum):
    """The storage of a cluster's metadata."""

    ZOOKEEPER = "zookeeper"
    KRAFT = "kraft"


PUBLISH_LIMITS: Mapping[MetadataMode, PublishLimits] = {
    MetadataMode.ZOOKEEPER: PublishLimits(max_bytes=900_000, bytes_per_topic=120, waits=True),
    MetadataMode.KRAFT: PublishLimits(max_bytes=900_000, bytes_per_topic=0, max_partitions=1_000),
}
"""ZooKeeper cuts the connection at 1,048,575 bytes; each topic adds a check: header, version, path
with its chroot.

Through the brokers' API the controller takes 10,000 partitions of one request; smaller ones keep
its answers quick.
"""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Properties of an access path to a cluster that operations depend on.

    `mode`: the storage of the cluster's metadata.
    `late_requests`: the controller may apply a request that got no answer, even after its operation
    has ended. `late_configs`: the controller may also apply a change of configs late, and overwrite
    a later one. `lagging_reads`: the topics may be read as they were before a request was applied.
    `explains_refusals`: a refused partition has a reason; otherwise one that a finished request
    left unchanged was refused.
    `restores_lists`: a move is reverted by a reassignment to the original list, and not only ended.
    `asks_brokers_beside`: brokers are asked on connections of their own, and may refuse credentials
    that the path to the cluster does not need.
    """

    mode: MetadataMode
    late_requests: bool
    late_configs: bool
    lagging_reads: bool
    explains_refusals: bool
    restores_lists: bool
    asks_brokers_beside: bool

    @property
    def publish(self) -> PublishLimits:
        """The limits of one publish."""
        return PUBLISH_LIMITS[self.mode]
