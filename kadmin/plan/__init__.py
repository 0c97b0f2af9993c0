"""Plans as values, and the pure functions on them: changes, waves, and rules."""

from kadmin.plan.model import (
    DeletionPlan,
    Document,
    ElectionPlan,
    PartitionTarget,
    Plan,
    PlanHeader,
    Policy,
    ReassignmentPlan,
    RebalanceRequest,
    RecreationPlan,
)

__all__ = [
    "DeletionPlan",
    "Document",
    "ElectionPlan",
    "PartitionTarget",
    "Plan",
    "PlanHeader",
    "Policy",
    "ReassignmentPlan",
    "RebalanceRequest",
    "RecreationPlan",
]
