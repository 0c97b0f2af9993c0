"""The plan of a decommission: brokers that leave the cluster for good."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from kadmin.plan.model.field_types import NOT_EMPTY, BrokerIds
from kadmin.plan.model.plans import ReassignmentPlan


@dataclass(frozen=True, slots=True)
class DecommissionPlan(ReassignmentPlan):
    """Kind `BrokerDecommission`: a reassignment after which some brokers hold nothing, and leave.

    Partitions that are created on them meanwhile are not in the plan; later rounds move those.
    """

    KEYS: ClassVar[tuple[str, ...]] = ("brokers", *ReassignmentPlan.KEYS)

    brokers: Annotated[BrokerIds, NOT_EMPTY, "The brokers that leave."] = field(kw_only=True)
