"""The plan of a maintenance: brokers that are stopped and started, one round after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from kadmin.plan.model.field_types import NON_NEGATIVE, NOT_EMPTY, BrokerIds
from kadmin.plan.model.header import PlanHeader
from kadmin.plan.model.plans import PartitionTarget
from kadmin.plan.model.throttle import Throttle, ThrottleSpec
from kadmin.schema.shapes import At, Defined, Keywords


@dataclass(frozen=True, slots=True)
class MaintenanceRound:
    """Brokers that are stopped together, and the partitions that they lead before."""

    KEYS: ClassVar = ("brokers", "partitions")

    brokers: Annotated[BrokerIds, NOT_EMPTY, "The brokers that are stopped together."]
    demotions: Annotated[
        tuple[
            Annotated[
                PartitionTarget,
                Keywords(title="reassignment"),
                "The target of one partition.",
                Defined("reassignment"),
            ],
            ...,
        ],
        At("partitions"),
        "Partitions that other brokers lead meanwhile: the same replicas in another order. Their "
        "order of before is restored at the end of the round.",
    ] = ()


@dataclass(frozen=True, slots=True)
class MaintenancePlan:
    """Kind `BrokerMaintenance`."""

    KEYS: ClassVar = ("throttle", "margin", "rounds")

    header: PlanHeader
    rounds: Annotated[
        tuple[
            Annotated[MaintenanceRound, Keywords(title="round"), "One round.", Defined("round")],
            ...,
        ],
        NOT_EMPTY,
        Keywords(x_hint="name at least one round"),
        "Rounds, one after the other.",
    ]
    throttle: Annotated[
        Throttle | None,
        "Limit on the copies with which a broker that is back catches up.",
    ] = None
    margin: Annotated[
        int,
        NON_NEGATIVE,
        Keywords(title="number of replicas"),
        "In-sync replicas that each partition keeps beyond min.insync.replicas.",
    ] = 0

    def throttled_at(self, throttle: ThrottleSpec) -> MaintenancePlan:
        """Return the plan with another throttle, in place of its own."""
        return replace(self, throttle=throttle.in_place_of(self.throttle or throttle))

    @property
    def demotions(self) -> tuple[PartitionTarget, ...]:
        """The targets of all rounds, in order."""
        return tuple(target for each in self.rounds for target in each.demotions)
