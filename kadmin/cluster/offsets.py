"""Where the logs of partitions start and end, and what groups have committed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Mapping

    from kadmin.cluster.model import TopicPartition


class LogEnd(IntEnum):
    """Where a partition's log is asked for its offset; the values are those of ListOffsets."""

    LAST = -1
    """After the last record that consumers can read."""
    FIRST = -2
    """At the first record that is kept."""


@dataclass(frozen=True, slots=True)
class LogOffsets:
    """The offset of each partition at one end of its log; `refused` counts the other partitions by error.

    `leader_epochs` are those of the leaders that answered for the last offset (2.1 and later).
    """

    known: Mapping[TopicPartition, int]
    refused: Counter[str]
    leader_epochs: Mapping[TopicPartition, int] = field(default_factory=dict)


EPOCHS_NOT_KEPT = "the log has no leader epochs"
"""Why a leader cannot tell where an epoch ends: messages older than 0.11, or a topic that was made again since."""
OFFSETS_AT = {LogEnd.LAST: "end offsets", LogEnd.FIRST: "start offsets"}
"""What people call the offsets at each end."""


@dataclass(frozen=True, slots=True)
class GroupOffsets:
    """The committed offsets of groups; `refused` has the error of each group without an answer."""

    known: dict[str, Mapping[TopicPartition, int]] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
