"""The start and end offsets of partitions' logs, and the committed offsets of groups."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from kadmin.cluster.model import TopicPartition


class LogEnd(StrEnum):
    """The end of a partition's log whose offset is requested; the values are words in messages."""

    FIRST = "start offsets"
    """At the first record that is kept."""
    FIRST_ON_DISK = "start offsets on disk"
    """At the first record on the leader's disk: of a tiered topic, earlier ones are in remote
    storage alone."""
    LAST = "end offsets"
    """After the last record that consumers can read: the high watermark."""
    WRITTEN = "log end offsets"
    """After the last record that the leader wrote, in sync or not."""


@dataclass(frozen=True, slots=True)
class LogOffsets:
    """The offset of each partition at one end of its log.

    `refused` counts the other partitions by error. `leader_epochs` are those of the leaders that
    answered for the last offset (2.1 and later).
    """

    offsets: Mapping[TopicPartition, int]
    refused: Counter[str]
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)


EPOCHS_NOT_KEPT = "the log has no leader epochs"
"""The error of a leader that has no end offset for an epoch: messages older than 0.11, or a topic
recreated since."""


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """The committed offsets of groups; `refused` has the error of each group without an answer."""

    offsets: dict[str, Mapping[TopicPartition, int]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
