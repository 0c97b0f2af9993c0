"""Plans as values, and every pure question about them: what changes, in which waves, and whether it is allowed."""

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
