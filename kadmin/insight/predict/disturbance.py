"""Predicts which consumer groups a plan disturbs.

They are those that read moved partitions, or get another coordinator.

Goals: a row for each group and each partition that concerns it, so that the group's owners can be
informed.
Constraints: pure; a group is assumed to read all partitions of the topics that it uses, as with
automatic assignment.
Algorithm: compare the partitions before and after. Copies are read from a leader that also serves
consumers; after a change of leader consumers look for the new one. When the partition of
`__consumer_offsets` that a group's name hashes to gets another leader or none, the group looks for
its coordinator again, and commits fail meanwhile. Groups that keep their offsets in ZooKeeper have
no coordinator.
Example: orders-0 goes from (1, 2) to (4, 2) and broker 4 leads: each group that reads orders has a
row with leaders 1 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.model import NO_LEADER
from kadmin.insight.predict.consumers import OFFSETS, coordinating_partition
from kadmin.insight.predict.losses import PlacedPartition
from kadmin.insight.tables.table import Table
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


class OffsetsIn(StrEnum):
    """The storage of a group's offsets."""

    ZOOKEEPER = "zookeeper"
    KAFKA = "kafka"


class Role(StrEnum):
    """The reason for which a partition concerns a group."""

    READS = "reads"
    COORDINATOR = "coordinator"
    """The partition's leader coordinates the group."""


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group and the topics that it consumes or has offsets for."""

    name: str
    offsets_in: OffsetsIn
    topics: Collection[str]


@dataclass(frozen=True, slots=True)
class DisturbanceRow:
    """A group, and a partition of a plan that concerns it."""

    group: Annotated[str, "Name of the group."]
    offsets_in: Annotated[
        OffsetsIn,
        "Where the group keeps its offsets; two groups of different kinds may have the same name.",
    ]
    role: Annotated[
        Role,
        "reads: the group consumes the topic or has offsets for it; "
        "coordinator: the partition's leader coordinates the group.",
    ]
    topic: Annotated[str, "Topic."]
    partition: Annotated[Count, "Partition."]
    moves: Annotated[bool, "Whether the plan changes the set of replicas."]
    leader: Annotated[int | None, "Leader now; null for none."]
    new_leader: Annotated[
        int | None, "Leader when the plan is done; null for none, as after a deletion."
    ]


def disturbed(
    changes: Sequence[tuple[PlacedPartition, PlacedPartition]],
    groups: Sequence[Group],
    offsets_partitions: int,
) -> Table:
    """Return the groups that the changes (as from `changed`) disturb, by group name.

    `offsets_partitions` is the number of partitions of `__consumer_offsets`, 0 where the topic does
    not exist.
    """
    by_topic: dict[str, list[tuple[PlacedPartition, PlacedPartition]]] = {}
    for each in changes:
        by_topic.setdefault(each[0].partition.topic, []).append(each)
    ordered = sorted(groups, key=lambda group: (group.name, group.offsets_in))
    return Table.of(
        "disturbances",
        DisturbanceRow,
        (
            _row(group, role, was, now)
            for group in ordered
            for role, was, now in _noticed(group, by_topic, offsets_partitions)
        ),
    )


def changed(
    before: Sequence[PlacedPartition], after: Sequence[PlacedPartition]
) -> list[tuple[PlacedPartition, PlacedPartition]]:
    """Return the partitions with other replicas or another leader.

    A new order alone does not count. Those beyond `before` are new: they had no replicas.
    """
    new = after[len(before) :]
    absent = [PlacedPartition(each.partition, (), NO_LEADER, ()) for each in new]
    return [
        (was, now)
        for was, now in zip((*before, *absent), after, strict=True)
        if was.leader != now.leader or set(was.replicas) != set(now.replicas)
    ]


def _noticed(
    group: Group,
    by_topic: Mapping[str, Sequence[tuple[PlacedPartition, PlacedPartition]]],
    offsets_partitions: int,
) -> Iterator[tuple[Role, PlacedPartition, PlacedPartition]]:
    for topic in sorted(group.topics):
        for was, now in by_topic.get(topic, ()):
            yield Role.READS, was, now
    if group.offsets_in is OffsetsIn.KAFKA and offsets_partitions:
        number = coordinating_partition(group.name, offsets_partitions)
        for was, now in by_topic.get(OFFSETS, ()):
            if was.partition.partition == number:
                yield Role.COORDINATOR, was, now


def _row(group: Group, role: Role, was: PlacedPartition, now: PlacedPartition) -> DisturbanceRow:
    # A deletion leaves no replicas: nothing moves, and there is no leader.
    moves = bool(now.replicas) and set(was.replicas) != set(now.replicas)
    partition = was.partition
    return DisturbanceRow(
        group.name,
        group.offsets_in,
        role,
        partition.topic,
        partition.partition,
        moves=moves,
        leader=_leader(was),
        new_leader=_leader(now),
    )


def _leader(placement: PlacedPartition) -> int | None:
    return None if placement.leader == NO_LEADER else placement.leader
