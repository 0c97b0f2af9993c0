"""The plan of a growth: topics that get more partitions, on the brokers that it names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from kadmin.cluster.model import TopicPartition
from kadmin.plan.model.field_types import NOT_EMPTY, POSITIVE, OrderedReplicas, TopicName
from kadmin.plan.model.header import PlanHeader
from kadmin.plan.model.plans import GUARDS, Waiver
from kadmin.schema.shapes import At, Defined, Keywords

if TYPE_CHECKING:
    from kadmin.cluster.model import Assignment


@dataclass(frozen=True, slots=True)
class TopicGrowth:
    """The new partitions of one topic, which are numbered from `current` on."""

    KEYS: ClassVar = ("topic", "current", "new_partitions")

    topic: Annotated[TopicName, "The topic."]
    current: Annotated[
        int,
        POSITIVE,
        Keywords(title="number of partitions"),
        "The number of partitions that the plan was made on; another number makes it stale.",
    ]
    new_partitions: Annotated[
        tuple[OrderedReplicas, ...],
        NOT_EMPTY,
        Keywords(title="list of new partitions", x_hint="name the replicas of each new partition"),
        "The ordered replicas of each new partition, beginning with the partition whose number is "
        "current.",
    ]

    @property
    def assignment(self) -> Assignment:
        """The ordered replicas of the new partitions."""
        return {
            TopicPartition(self.topic, number): replicas
            for number, replicas in enumerate(self.new_partitions, start=self.current)
        }


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """Kind `PartitionGrowth`."""

    KEYS: ClassVar = ("allow", "topics")

    header: PlanHeader
    topics: Annotated[
        tuple[
            Annotated[TopicGrowth, Keywords(title="growth"), "One topic.", Defined("topicGrowth")],
            ...,
        ],
        "Topics that get more partitions; an empty list is valid and changes nothing.",
    ]
    allow_keys_move: Annotated[
        Waiver,
        At("keys_move", GUARDS),
        "Records of one key may be in two partitions: those from before the growth, and those from "
        "after it. Compacted topics need this waiver.",
    ] = False

    @property
    def names(self) -> tuple[str, ...]:
        """The topics, in the plan's order."""
        return tuple(growth.topic for growth in self.topics)

    @property
    def assignment(self) -> Assignment:
        """The ordered replicas of every new partition."""
        return {
            partition: replicas
            for growth in self.topics
            for partition, replicas in growth.assignment.items()
        }
