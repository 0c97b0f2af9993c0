"""Shapes of the answers of `propose election` and `propose demotion`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.partitions import Partition
from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class ElectionAnswer:
    """A proposed election."""

    plan: Annotated[str, "The file that was written."]
    partitions: Annotated[tuple[Partition, ...], "Partitions that the plan elects."]
    impossible: Annotated[
        tuple[ImpossibleElection, ...],
        "Partitions whose leader is not preferred, and that cannot be elected now.",
    ]


@dataclass(frozen=True, slots=True)
class ImpossibleElection(Partition):
    """A partition that cannot be elected."""

    reason: Annotated[str, "Why the partition cannot be elected."]


@dataclass(frozen=True, slots=True)
class DemotionAnswer:
    """A proposed demotion of brokers."""

    plan: Annotated[str, "The file that was written."]
    brokers: Annotated[tuple[Count, ...], "Brokers that are demoted."]
    partitions: Annotated[tuple[DemotedPartition, ...], "Partitions that the plan reorders."]
    impossible: Annotated[
        tuple[ImpossiblePartition, ...],
        "Partitions that these brokers lead, or are preferred for, and keep.",
    ]
    leader_changes: Annotated[Count, "Partitions that get another leader."]
    leaders: Annotated[tuple[BrokerLeaders, ...], "Leaders of each broker that is alive."]


@dataclass(frozen=True, slots=True)
class DecommissionAnswer:
    """A proposed decommission."""

    plan: Annotated[str, "The file that was written."]
    brokers: Annotated[tuple[Count, ...], "The brokers that leave."]
    partitions: Annotated[Count, "Partitions that are moved from them."]
    impossible: Annotated[
        tuple[ImpossiblePartition, ...], "Partitions that cannot be moved from them now."
    ]
    replicas: Annotated[tuple[BrokerReplicas, ...], "Replicas of each broker."]


@dataclass(frozen=True, slots=True)
class BrokerReplicas:
    """Replicas of one broker before and after a drain."""

    broker_id: Annotated[Count, "The broker."]
    before: Annotated[Count, "Replicas now."]
    after: Annotated[Count, "Replicas when the drain is done."]


@dataclass(frozen=True, slots=True)
class MaintenanceAnswer:
    """A proposed maintenance."""

    plan: Annotated[str, "The file that was written."]
    rounds: Annotated[tuple[ProposedRound, ...], "The rounds, one after the other."]


@dataclass(frozen=True, slots=True)
class ProposedRound:
    """Brokers that are stopped together."""

    brokers: Annotated[tuple[Count, ...], "The brokers."]
    demoted: Annotated[Count, "Partitions that other brokers lead meanwhile."]


@dataclass(frozen=True, slots=True)
class DemotedPartition(Partition):
    """A partition that is led by another broker afterwards."""

    leader: Annotated[int, "Leader before, -1 where there is none or it is unknown."]
    new_leader: Annotated[Count, "Leader after, which is also the preferred one."]


@dataclass(frozen=True, slots=True)
class ImpossiblePartition(Partition):
    """A partition that cannot be demoted."""

    reason: Annotated[str, "Why the partition stays as it is."]


@dataclass(frozen=True, slots=True)
class BrokerLeaders:
    """The number of partitions that a broker leads."""

    broker_id: Annotated[Count, "Broker."]
    before: Annotated[Count, "Before the plan."]
    after: Annotated[Count, "When the plan is done."]
