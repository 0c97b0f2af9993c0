"""The plan of the last resort: partitions without a leader, and the replica that is to lead each.

Such an election loses what the new leader lacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, TypeAlias

from kadmin.plan.model.field_types import (
    BrokerId,
    OrderedReplicas,
    PartitionFields,
    Text,
)
from kadmin.plan.model.header import PlanHeader
from kadmin.plan.model.plans import GUARDS, PartitionTarget, Waiver
from kadmin.schema.shapes import INLINE, At, Defined, Keywords

RecordCount: TypeAlias = Annotated[
    int, Keywords(title="number of records", minimum=0, maximum=2**63 - 1)
]
UtcTime: TypeAlias = Annotated[
    str,
    Keywords(
        title="time",
        pattern=r"^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$",
        x_hint="write for example 2026-03-01T02:30:00Z",
    ),
]


@dataclass(frozen=True, slots=True)
class Losing:
    """The records that a new leader lacks; None: unknown."""

    KEYS: ClassVar = ("records", "at_most")

    records: Annotated[RecordCount | None, "The records that are lost at least."] = None
    at_most: Annotated[
        RecordCount | None,
        "The records that are lost at most, if nothing was written after the last sample.",
    ] = None


@dataclass(frozen=True, slots=True)
class ForcedLeader:
    """One partition: the replica that is to lead it, and what that loses.

    `replicas` are new ones, where every replica is lost for good: the partition comes back empty.
    """

    KEYS: ClassVar = ("leader", "current", "replicas", "losing", "because")

    partition: Annotated[PartitionFields, INLINE]
    leader: Annotated[BrokerId, "The broker that is to lead."]
    current: Annotated[
        OrderedReplicas,
        "The ordered replicas that the plan was made on; another list makes it stale.",
    ]
    replicas: Annotated[
        OrderedReplicas | None,
        "New replicas, on live brokers, for a partition whose replicas are all lost for good; it "
        "comes back empty. Needs spec.empty.",
    ] = None
    losing: Annotated[
        Losing | None,
        Keywords(title="loss"),
        "The records that the leader lacks, as far as it is known; absent: unknown.",
    ] = None
    because: Annotated[Text | None, "Why no clean election is possible."] = None

    @property
    def ordered(self) -> PartitionTarget:
        """The replicas with the leader first, while it is elected: Kafka takes the first alive."""
        kept = self.current if self.replicas is None else self.replicas
        others = tuple(broker for broker in kept if broker != self.leader)
        return PartitionTarget(self.partition, (self.leader, *others), self.current)


@dataclass(frozen=True, slots=True)
class RecoveryPlan:
    """Kind `UncleanLeaderElection`."""

    KEYS: ClassVar = ("looked_at", "empty", "allow", "partitions")

    header: PlanHeader
    partitions: Annotated[
        tuple[
            Annotated[
                ForcedLeader, Keywords(title="leader"), "One partition.", Defined("forcedLeader")
            ],
            ...,
        ],
        "Partitions without a leader; an empty list is valid and changes nothing.",
    ]
    looked_at: Annotated[
        UtcTime | None,
        "The time at which the dead brokers were seen dead, in UTC; kadmin always writes it.",
    ] = None
    empty: Annotated[
        bool,
        Keywords(title="switch"),
        "Partitions whose replicas are all lost for good come back empty, on new replicas.",
    ] = False
    allow_impatient: Annotated[
        Waiver,
        At("impatient", GUARDS),
        "The brokers that would lead without a loss may have been seen alive less than ten minutes "
        "ago.",
    ] = False
    allow_internal: Annotated[
        Waiver, At("internal", GUARDS), "Topics that Kafka itself uses, and kadmin's record."
    ] = False
