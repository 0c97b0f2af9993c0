"""Shapes of the answers of `inspect` and `consumers`.

They have the rows of a table under its name, and what could not be read. `report.cluster.tables`
writes them from any table; a row's shape is beside the function that makes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.unreadable import Unavailable, UnreadableZnodes
from kadmin.insight.predict.consumers import CoordinatorRow, OwnerRow
from kadmin.insight.predict.disturbance import DisturbanceRow
from kadmin.insight.tables.configs import ConfigRow
from kadmin.insight.tables.disks import DiskRow
from kadmin.insight.tables.kafka import GroupRow, QuorumRow, ReassignmentRow
from kadmin.insight.tables.partitions import (
    ClusterRow,
    InspectedBroker,
    InspectedPartition,
    TopicRow,
)
from kadmin.schema.shapes import ABSENT, Count


@dataclass(frozen=True, slots=True)
class BrokersAnswer:
    """The brokers of a cluster."""

    brokers: Annotated[
        tuple[InspectedBroker, ...],
        "One object per broker that is registered or holds a replica, by id.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Annotated[tuple[str, ...], "Answers that brokers did not give, and why."]


@dataclass(frozen=True, slots=True)
class DisksAnswer:
    """The log directories of brokers."""

    disks: Annotated[tuple[DiskRow, ...], "One object per log directory, by broker and path."]
    unreadable: UnreadableZnodes
    unavailable: Annotated[tuple[str, ...], "Answers that brokers did not give, and why."]


@dataclass(frozen=True, slots=True)
class TopicsAnswer:
    """The topics of a cluster."""

    topics: Annotated[tuple[TopicRow, ...], "One object per topic, by name."]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class PartitionsAnswer:
    """The partitions of a cluster."""

    partitions: Annotated[
        tuple[InspectedPartition, ...], "One object per partition, by topic and number."
    ]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class ClusterTableAnswer:
    """A cluster."""

    cluster: Annotated[tuple[ClusterRow, ...], "Exactly one object."]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class ConfigsAnswer:
    """The dynamic configs of a cluster."""

    configs: Annotated[tuple[ConfigRow, ...], "One object per value, by entity and key."]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class QuorumAnswer:
    """The quorum of controllers."""

    quorum: Annotated[
        tuple[QuorumRow, ...],
        "Through the brokers: one object per replica of the metadata log, the active controller "
        "first, then voters, then observers. In ZooKeeper mode the controller alone.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class GroupsAnswer:
    """Consumer groups that keep their offsets in Kafka."""

    groups: Annotated[
        tuple[GroupRow, ...],
        "Through the brokers: one object per group that keeps its offsets in Kafka, by name.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class ReassignmentsAnswer:
    """Reassignments in flight."""

    reassignments: Annotated[
        tuple[ReassignmentRow, ...],
        "Through the brokers: one object per reassignment in flight, by topic and partition.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Unavailable = ABSENT


@dataclass(frozen=True, slots=True)
class CoordinatorsAnswer:
    """The coordinators of groups."""

    coordinators: Annotated[tuple[CoordinatorRow, ...], "One object per group."]
    unreadable: UnreadableZnodes


@dataclass(frozen=True, slots=True)
class DisturbancesAnswer:
    """The groups that a plan disturbs."""

    disturbances: Annotated[
        tuple[DisturbanceRow, ...], "One object per group and partition that concerns it."
    ]
    unreadable: UnreadableZnodes
    unavailable: Annotated[
        tuple[str, ...],
        "Answers that brokers did not give; then groups that keep their offsets in Kafka may be "
        "missing.",
    ]


@dataclass(frozen=True, slots=True)
class PreviewAnswer:
    """The owners of a group's partitions before and after a change."""

    assignments: Annotated[tuple[OwnerRow, ...], "One object per partition."]
    unreadable: UnreadableZnodes
    changed: Annotated[Count, "Partitions whose owner changes, new ones included."]
    idle: Annotated[tuple[str, ...], "Consumer threads that own no partition afterwards."]
