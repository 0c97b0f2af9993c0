"""Predicts partitions after a plan.

`effect_of` is the only function that depends on the kind of plan.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.errors import StalePlanError
from kadmin.insight.predict.losses import PlacedPartition
from kadmin.next_step import text_of
from kadmin.plan import codes
from kadmin.plan.election import electable, off_preferred, scope_of
from kadmin.plan.growth import is_reached, new_partitions_of
from kadmin.plan.model import (
    DeletionPlan,
    Elect,
    ElectionPlan,
    GrowthPlan,
    MaintenancePlan,
    ReassignmentPlan,
    RecoveryPlan,
    RecreationPlan,
)
from kadmin.plan.rules import ClusterView, check
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import Assignment, ClusterState, Replicas, TopicPartition
    from kadmin.plan.model import PartitionTarget, Plan

_NAMES = frozenset(
    {
        codes.OTHER_CLUSTER,
        codes.UNKNOWN_TOPIC,
        codes.UNKNOWN_PARTITION,
        codes.UNKNOWN_BROKER,
        codes.DEAD_BROKER,
    }
)


@dataclass(frozen=True, slots=True)
class PlanEffect:
    """The changes of a plan.

    Targets of partitions, partitions that get their preferred leader, deleted topics. `elects`: the
    preferred replica of each target is elected, too. `may_elect`: partitions of an election whose
    in-sync replicas are unknown. `leaders_only`: replicas stay where they are. `new` are partitions
    that a growth adds.
    """

    targets: Mapping[TopicPartition, PartitionTarget] = field(default_factory=dict)
    elects: bool = False
    elected: Collection[TopicPartition] = ()
    may_elect: Collection[TopicPartition] = ()
    deleted: Collection[str] = ()
    leaders_only: bool = False
    new: Assignment = field(default_factory=dict)

    @property
    def sizes(self) -> dict[TopicPartition, int]:
        """The sizes of partitions that the plan itself holds, in bytes of one replica.

        New partitions are empty.
        """
        return dict.fromkeys(self.new, 0) | {
            each: found.size_bytes
            for each, found in self.targets.items()
            if found.size_bytes is not None
        }

    def replicas(self, partition: TopicPartition, current: Replicas) -> Replicas:
        """Return a partition's replicas when the plan is done; a deleted one has none."""
        if partition.topic in self.deleted:
            return ()
        return self.targets[partition].replicas if partition in self.targets else current


def effect_of(plan: Plan, state: ClusterState) -> PlanEffect:
    """Return the effect of a plan on a cluster.

    Topics that it creates are not part of the state.
    """
    match plan:
        case ReassignmentPlan():
            targets = {target.partition: target for target in plan.reassignments}
            return PlanEffect(targets, elects=plan.elect is not Elect.NONE)
        case ElectionPlan():
            scope = scope_of(plan, state)
            unknown = frozenset(
                each for each in off_preferred(scope, state) if _in_sync_unknown(each, state)
            )
            return PlanEffect(
                elected=frozenset(electable(scope, state)), may_elect=unknown, leaders_only=True
            )
        case DeletionPlan():
            return PlanEffect(deleted=frozenset(plan.topics))
        case RecoveryPlan():
            return PlanEffect(leaders_only=True)
        case GrowthPlan():
            growing = (each for each in plan.topics if not is_reached(each, state))
            return PlanEffect(new=new_partitions_of(growing, state).assignment)
        case RecreationPlan() | MaintenancePlan():
            return PlanEffect()


def planned(
    plan: Plan, placements: Iterable[PlacedPartition], state: ClusterState
) -> tuple[PlacedPartition, ...]:
    """Return the partitions as they are when a plan is done.

    Deleted ones are kept, without replicas. A partition without a leader is not reassigned: there
    is no replica to copy from. An unknown leader stays unknown. New partitions come last, each led
    by its first replica.
    """
    found = effect_of(plan, state)
    new = (PlacedPartition(each, ids, ids[0], ids, size_bytes=0) for each, ids in found.new.items())
    return (*(_planned(each, found, state.brokers) for each in placements), *new)


def _in_sync_unknown(partition: TopicPartition, state: ClusterState) -> bool:
    partition_state = state.states.get(partition)
    return partition_state is not None and not partition_state.isr_known


def require_fitting(plan: Plan, state: ClusterState) -> None:
    """Raise StalePlanError for a plan of another cluster, or with names that this one lacks."""
    wrong = [each for each in check(plan, ClusterView(state)) if each.code in _NAMES]
    if wrong:
        raise StalePlanError(
            f"The plan does not fit this cluster: {name_some(each.message for each in wrong)}.",
            cause=text_of(wrong[0].next_step),
        )


def _planned(
    placement: PlacedPartition, effect: PlanEffect, alive: Collection[int]
) -> PlacedPartition:
    partition = placement.partition
    if partition.topic in effect.deleted:
        return replace(placement, replicas=(), leader=NO_LEADER, isr=())
    if partition in effect.targets:
        return _reassigned(placement, effect.targets[partition], alive, elects=effect.elects)
    if partition in effect.may_elect and placement.replicas[0] in alive:
        return replace(placement, leader=None)
    return (
        replace(placement, leader=placement.replicas[0])
        if partition in effect.elected
        else placement
    )


def _reassigned(
    placement: PlacedPartition, target: PartitionTarget, alive: Collection[int], *, elects: bool
) -> PlacedPartition:
    if placement.leader == NO_LEADER:
        return placement
    # Nothing is copied where the replicas stay the same: out-of-sync replicas stay out of sync.
    same = set(placement.replicas) == set(target.replicas)
    in_sync, elr = (placement.isr, placement.elr) if same else (target.replicas, ())
    if placement.leader is None or in_sync is None:
        return _reassigned_unknown(placement, target, alive, elects=elects)
    isr = tuple(broker for broker in in_sync if broker in alive)
    copied = replace(placement, replicas=target.replicas, isr=isr, elr=elr)
    stays = placement.leader in target.replicas and not (elects and target.replicas[0] in isr)
    return (
        copied
        if stays
        else replace(copied, leader=next((b for b in target.replicas if b in isr), NO_LEADER))
    )


def _reassigned_unknown(
    placement: PlacedPartition, target: PartitionTarget, alive: Collection[int], *, elects: bool
) -> PlacedPartition:
    """Return a partition with an unknown leader, or that keeps its replicas with an unknown ISR."""
    preferred = target.replicas[0]
    stays = not elects or placement.leader == preferred or preferred not in alive
    leader = placement.leader if stays else None
    return replace(placement, replicas=target.replicas, leader=leader, isr=None, elr=())
