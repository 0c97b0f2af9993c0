"""Plan values, one per kind of document: frozen and valid by their schema.

kadmin.plan.rules checks the rest.

Units: bytes and bytes per second. The order of a plan's partitions is their priority: the biggest
win comes first. Documents are read and written by the annotations of fields, and their schemas are
written from them.
"""

from __future__ import annotations

from typing import TypeAlias

from kadmin.plan.model.decommission import DecommissionPlan
from kadmin.plan.model.disk_spec import DiskSpec, FailedDisks, Only
from kadmin.plan.model.field_types import ANY_LOG_DIR
from kadmin.plan.model.growth import GrowthPlan, TopicGrowth
from kadmin.plan.model.header import DocumentFile, PlanHeader
from kadmin.plan.model.hours import HoursSpec, hours_of, read_outside
from kadmin.plan.model.load_spec import (
    CpuWeights,
    HoursOfLoad,
    LeastGain,
    LoadSpec,
    OnlyIf,
    ZonePrices,
)
from kadmin.plan.model.maintenance import MaintenancePlan, MaintenanceRound
from kadmin.plan.model.plans import (
    DEFAULT_MOVES_PER_DISK,
    DeletionLayout,
    DeletionPlan,
    Elect,
    ElectionPlan,
    PartitionTarget,
    ReassignmentPlan,
    RecreationPlan,
    TopicRecipe,
    WaveLimits,
    WaveOrder,
)
from kadmin.plan.model.policy import STANDARD_DENY, Policy, Switch
from kadmin.plan.model.recovery import ForcedLeader, Losing, RecoveryPlan
from kadmin.plan.model.request import (
    LOAD_LEADER_CHANGES,
    LOAD_MOVES,
    FreeBytes,
    Pin,
    ProposalLimits,
    RackFloor,
    Racks,
    RebalanceRequest,
)
from kadmin.plan.model.throttle import (
    UNTHROTTLED,
    SignalLimit,
    ThrottleBy,
    ThrottleSpec,
    read_limit,
    read_throttle,
    write_throttle,
)

__all__ = [
    "ANY_LOG_DIR",
    "DEFAULT_MOVES_PER_DISK",
    "LOAD_LEADER_CHANGES",
    "LOAD_MOVES",
    "STANDARD_DENY",
    "UNTHROTTLED",
    "CpuWeights",
    "DecommissionPlan",
    "DeletionLayout",
    "DeletionPlan",
    "DiskSpec",
    "Document",
    "DocumentFile",
    "Elect",
    "ElectionPlan",
    "FailedDisks",
    "ForcedLeader",
    "FreeBytes",
    "GrowthPlan",
    "HoursOfLoad",
    "HoursSpec",
    "LeastGain",
    "LoadSpec",
    "Losing",
    "MaintenancePlan",
    "MaintenanceRound",
    "Only",
    "OnlyIf",
    "PartitionTarget",
    "Pin",
    "Plan",
    "PlanHeader",
    "Policy",
    "ProposalLimits",
    "RackFloor",
    "Racks",
    "ReassignmentPlan",
    "RebalanceRequest",
    "RecoveryPlan",
    "RecreationPlan",
    "SignalLimit",
    "Switch",
    "ThrottleBy",
    "ThrottleSpec",
    "TopicGrowth",
    "TopicRecipe",
    "WaveLimits",
    "WaveOrder",
    "ZonePrices",
    "hours_of",
    "read_limit",
    "read_outside",
    "read_throttle",
    "write_throttle",
]

Plan: TypeAlias = (
    ReassignmentPlan
    | ElectionPlan
    | DeletionPlan
    | RecreationPlan
    | MaintenancePlan
    | DecommissionPlan
    | RecoveryPlan
    | GrowthPlan
)
Document: TypeAlias = Plan | RebalanceRequest | Policy
