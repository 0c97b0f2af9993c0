"""The disks (log directories) of brokers, and the replicas on each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition


class DiskState(StrEnum):
    """The state of a log directory, as its broker describes it."""

    ONLINE = "online"
    FAILED = "failed"
    """Its broker cannot read it; its replicas are in no answer until it is repaired and the broker
    restarted."""
    CORDONED = "cordoned"
    """It takes no new replicas, and serves those that it has (KIP-1066, Kafka 4.3 and later)."""


@dataclass(frozen=True, slots=True)
class Disk:
    """A log directory of a broker.

    `total_bytes` and `usable_bytes` are those of its file system, None where the broker gives none
    (before Kafka 3.3, and of a directory that failed).
    """

    broker_id: int
    path: str
    total_bytes: int | None = None
    usable_bytes: int | None = None
    state: DiskState = DiskState.ONLINE


@dataclass(frozen=True, slots=True)
class DiskReplica:
    """A replica on a disk, with the bytes of its own log segments there (None: unknown).

    A future replica is a copy that catches up with the replica in another directory of the same
    broker, which it replaces; it is `offset_lag` records behind.
    """

    partition: TopicPartition
    broker_id: int
    path: str
    size_bytes: int | None
    is_future: bool = False
    offset_lag: int = 0
