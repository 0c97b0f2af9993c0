"""Stages of a maintenance, three for each round of its plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.cluster.names import INTERNAL_TOPICS
from kadmin.plan.model import PartitionTarget
from kadmin.wording import brokers_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Assignment, Replicas, TopicPartition
    from kadmin.plan.model import MaintenancePlan


class StageKind(StrEnum):
    """The kind of a stage."""

    DEMOTE = "demote"
    RESTART = "restart"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a round: its brokers, and its targets.

    Targets of a restart have one broker of the round as their replica, and as `current` those that
    it may copy from.
    """

    kind: StageKind
    brokers: frozenset[int]
    targets: tuple[PartitionTarget, ...]

    @property
    def names(self) -> str:
        """Its brokers in words."""
        return brokers_in_words(sorted(self.brokers))


def stages_of(
    plan: MaintenancePlan, replicas: Mapping[int, Mapping[TopicPartition, Replicas]]
) -> tuple[Stage, ...]:
    """Return the stages of a plan; `replicas` are those of each broker, with their assignments."""
    stages: list[Stage] = []
    for each in plan.rounds:
        brokers = frozenset(each.brokers)
        catch_up = tuple(
            PartitionTarget(
                partition, (broker,), tuple(other for other in assigned if other != broker)
            )
            for broker in sorted(brokers)
            for partition, assigned in sorted(replicas.get(broker, {}).items())
        )
        back = tuple(
            replace(target, replicas=target.current, current=target.replicas)
            for target in each.demotions
            if target.current is not None
        )
        stages += [
            Stage(StageKind.DEMOTE, brokers, each.demotions),
            Stage(StageKind.RESTART, brokers, catch_up),
            Stage(StageKind.RESTORE, brokers, back),
        ]
    return tuple(stages)


def replicas_of(
    plan: MaintenancePlan, assignment: Assignment
) -> dict[int, dict[TopicPartition, Replicas]]:
    """Return the partitions of each broker of a plan that it can copy from another one."""
    brokers = {broker for each in plan.rounds for broker in each.brokers}
    return {
        broker: {
            partition: replicas
            for partition, replicas in assignment.items()
            if broker in replicas and len(replicas) > 1 and partition.topic not in INTERNAL_TOPICS
        }
        for broker in sorted(brokers)
    }
