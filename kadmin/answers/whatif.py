"""Shapes of the answers of `whatif`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.brokers import Obstacle
from kadmin.answers.partitions import Partition
from kadmin.insight.predict.losses import Load
from kadmin.schema.shapes import ABSENT, Absent, Count


@dataclass(frozen=True)
class LostBrokers:
    """The brokers of a loss."""

    lost: Annotated[tuple[Count, ...], "Brokers that are lost."]


@dataclass(frozen=True)
class PredictionAnswer:
    """The effects of a loss or a plan."""

    leader_changes: Annotated[
        tuple[ChangedLeader, ...], "One object per partition whose leader certainly changes."
    ]
    unknown: Annotated[
        tuple[UnknownPartition, ...],
        "Partitions whose outcome is unknown, because the leader or the in-sync replicas are.",
    ]
    at_most: Annotated[
        LossCounts,
        "The most partitions that each figure may count: the certain ones, and those of which it "
        "is unknown.",
    ]
    offline: Annotated[
        tuple[Partition, ...],
        "Partitions that certainly have no leader afterwards and have one before, or may have one.",
    ]
    already_offline: Annotated[
        tuple[Partition, ...],
        "Partitions that have no leader before; no other list or figure has them.",
    ]
    under_min_isr: Annotated[
        tuple[RefusingPartition, ...],
        "Partitions that have a leader and certainly begin to refuse acks=all.",
    ]
    brokers: Annotated[tuple[PredictedBroker, ...], "One object per broker that was alive before."]


@dataclass(frozen=True)
class LossAnswer(PredictionAnswer, LostBrokers):
    """The effects of a loss of brokers."""

    obstacles: Annotated[
        tuple[Obstacle, ...] | Absent,
        "With --fail-on only: one object per partition that is one of the named, or that cannot be "
        "judged; exit code 8 where there are some.",
    ] = ABSENT


@dataclass(frozen=True)
class PlanEffectsAnswer(PredictionAnswer):
    """The effects of a plan."""

    single_losses: Annotated[tuple[SingleLossChange, ...], "One object per broker that is alive."]
    worst_single_loss: Annotated[
        WorstLoss,
        "The broker whose loss alone is the worst: by partitions offline, then unclean, then "
        "refusing acks=all, then most leaders; what is unknown counts as if it happened; null "
        "without brokers.",
    ]


@dataclass(frozen=True, slots=True)
class ChangedLeader(Partition):
    """A partition with another leader."""

    leader: Annotated[int | None, "Leader before, -1 for none; null where it is unknown."]
    new_leader: Annotated[int, "Leader after, -1 for none."]
    unclean: Annotated[bool, "Whether the new leader was not in sync: records are lost."]


@dataclass(frozen=True, slots=True)
class RefusingPartition(Partition):
    """A partition that begins to refuse acks=all."""

    isr: Annotated[tuple[int, ...], "In-sync replicas that are left."]
    min_isr: Annotated[Count, "min.insync.replicas."]


@dataclass(frozen=True, slots=True)
class UnknownPartition(Partition):
    """A partition whose outcome is unknown."""

    affected: Annotated[bool, "Whether the loss or the plan affects it; if not, it stays as it is."]
    leader: Annotated[bool, "Whether it is unknown who leads it afterwards."]
    acks_all: Annotated[bool, "Whether it is unknown if it begins to refuse acks=all."]


@dataclass(frozen=True, slots=True)
class LossCounts:
    """Numbers of partitions that a loss or a plan affects."""

    leader_changes: Annotated[Count, "Partitions whose leader changes."]
    offline: Annotated[Count, "Partitions that lose their leader and get no new one."]
    under_min_isr: Annotated[Count, "Partitions that begin to refuse acks=all."]
    unclean: Annotated[Count, "Partitions led by a replica that was not in sync."]


@dataclass(frozen=True, slots=True)
class PredictedBroker:
    """The load of a broker before and after."""

    broker_id: Annotated[Count, "Broker."]
    before: Annotated[Load, "Before."]
    after: Annotated[Load | None, "After; null when it is lost."]


@dataclass(frozen=True, slots=True)
class SingleLossChange:
    """The effects of the loss of one broker, before and after a plan."""

    broker_id: Annotated[Count, "Broker that is lost alone."]
    before: Annotated[SingleLossCounts, "Before the plan."]
    after: Annotated[SingleLossCounts, "When the plan is done."]


@dataclass(frozen=True, slots=True)
class SingleLossCounts(LossCounts):
    """The effects of the loss of one broker."""

    offline: Annotated[Count, "Partitions without a leader."]
    most_leaders: Annotated[
        Count | None,
        "The most partitions that one remaining broker leads then; null where a leader is unknown.",
    ]
    at_most: Annotated[
        LossCounts,
        "The most partitions that each figure may count: the certain ones, and those of which it "
        "is unknown.",
    ]


@dataclass(frozen=True, slots=True)
class WorstLoss:
    """The broker whose loss is the worst, before and after a plan."""

    before: Annotated[Count | None, "Before the plan."]
    after: Annotated[Count | None, "When the plan is done."]
