"""The kinds of documents: plans, requests and policies from a value, and as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.plan.model import (
    DecommissionPlan,
    DeletionPlan,
    ElectionPlan,
    GrowthPlan,
    MaintenancePlan,
    PlanHeader,
    Policy,
    ReassignmentPlan,
    RebalanceRequest,
    RecoveryPlan,
    RecreationPlan,
)
from kadmin.schema.documents import ImpossibleAmountsError, read, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kadmin.plan.model import Document

SHAPES: dict[str, Callable[..., Document]] = {
    "PartitionReassignment": ReassignmentPlan,
    "PreferredReplicaElection": ElectionPlan,
    "TopicDeletion": DeletionPlan,
    "TopicRecipe": RecreationPlan,
    "BrokerMaintenance": MaintenancePlan,
    "BrokerDecommission": DecommissionPlan,
    "UncleanLeaderElection": RecoveryPlan,
    "PartitionGrowth": GrowthPlan,
    "RebalanceRequest": RebalanceRequest,
    "Policy": Policy,
}
"""The shape of `spec` by kind."""
_NAMES = {shape: name for name, shape in SHAPES.items()}


def build(value: Mapping[str, Any]) -> tuple[Document | None, list[Diagnostic]]:
    """Return the document of a value that its schema allows.

    Where amounts are impossible, return None and these.
    """
    header = read(PlanHeader, value.get("metadata", {}))
    try:
        document: Document = read(SHAPES[value["kind"]], value["spec"], header=header)
    except ImpossibleAmountsError as error:
        return None, [
            Diagnostic(codes.MALFORMED, message, field=("spec", *path))
            for path, message in error.problems
        ]
    return document, []


def to_value(document: Document) -> dict[str, Any]:
    """Return a document as JSON's types.

    Fields in the order of the schema, defaults left out where harmless. Fields that bound or change
    an execution (wave limits, `order`, `elect`, `layout`, `more_than`) are always written, so that
    a plan means the same under a version of kadmin with other defaults.
    """
    head: dict[str, Any] = {"apiVersion": "kadmin/v1", "kind": kind_name(type(document))}
    metadata = write(document.header)
    # Only an election of nothing writes no field.
    spec = write(document) or {"partitions": []}
    return {**head, **({"metadata": metadata} if metadata else {}), "spec": spec}


def kind_name(plan: type[Document]) -> str:
    """Return the name of a kind of document, as `kind` has it."""
    return _NAMES[plan]
