"""The admin znodes as read, entry by entry, with the flaws of each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped

if TYPE_CHECKING:
    from kadmin.cluster.model import Listening, Replicas
    from kadmin.cluster.versions import KafkaVersions
    from kadmin.diagnostics import Diagnostic

_SHOWN_NAME = 80


class Effect(IntEnum):
    """The effect of a flaw, the mildest first."""

    OBEYED = 0
    """The controller executes the entry."""
    DROPPED = 1
    """A listening controller removes the entry and does nothing else."""
    WAITS = 2
    """The controller waits, without a limit."""
    STAYS = 3
    """The controller leaves the entry in place and does nothing more with it."""
    IGNORED = 4
    """The controller ignores the whole node; it deletes the node, or the node blocks every other
    request."""
    POISON = 5
    """The event fails; after the next failover each new controller fails on the node and
    resigns."""


class Motion(StrEnum):
    """The progress of the partition of a reassignment entry, judged by its topic znode."""

    IN_FLIGHT = "in flight"
    NOT_STARTED = "not started"
    AT_TARGET = "at the target"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of an admin node; fields that cannot be read are None.

    `replicas` is for reassignments only.
    """

    topic: str | None
    partition: int | None
    replicas: Replicas | None
    findings: tuple[Diagnostic, ...] = ()
    motion: Motion | None = None

    @property
    def subject(self) -> TopicPartition | None:
        """The partition that the entry names; None where it cannot be read."""
        if self.topic is None or self.partition is None:
            return None
        return TopicPartition(self.topic, self.partition)

    def __str__(self) -> str:
        number = "?" if self.partition is None else self.partition
        return f"{'?' if self.topic is None else escaped(self.topic, _SHOWN_NAME)}-{number}"


@dataclass(frozen=True, slots=True)
class NodeReading:
    """A reassignment or election node: findings on the node as a whole, and its entries."""

    path: str
    data: bytes | None
    version: int
    findings: tuple[Diagnostic, ...]
    entries: tuple[Entry, ...]

    @property
    def every_finding(self) -> tuple[Diagnostic, ...]:
        """Findings on the node and on each entry."""
        return (*self.findings, *(finding for entry in self.entries for finding in entry.findings))


@dataclass(frozen=True, slots=True)
class NodeSurvey:
    """The reassignment or the election node.

    `reading` is None where it is absent or (`denied`) may not be read. `effect` is the worst that
    its flaws have on controllers of the cluster's versions.
    """

    path: str
    reading: NodeReading | None
    effect: Effect
    listening: Listening
    denied: bool


@dataclass(frozen=True, slots=True)
class AdminSurvey:
    """The three admin nodes, as read once.

    `deletions` are the topics queued for deletion with their flaws, `deletions_data` the data of
    their parent. `denied` are the paths that may not be read.
    """

    versions: KafkaVersions
    reassignment: NodeSurvey
    election: NodeSurvey
    deletions_path: str
    deletions: tuple[tuple[str, tuple[Diagnostic, ...]], ...]
    deletions_data: bytes | None
    denied: tuple[str, ...]
