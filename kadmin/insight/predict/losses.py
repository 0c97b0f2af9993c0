"""Values of the prediction of a loss: partitions, loads, figures and their bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.model import NO_LEADER
from kadmin.schema.shapes import Count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas, TopicPartition


@dataclass(frozen=True, slots=True)
class PlacedPartition:
    """One partition; `leader` or `isr` None: unknown.

    `unclean`: an election may choose a replica that is not in sync. `elr` are the replicas that may
    lead without a loss once the ISR is empty.
    """

    partition: TopicPartition
    replicas: Replicas
    leader: int | None
    isr: Replicas | None
    min_isr: int = 1
    unclean: bool = False
    size_bytes: int | None = None
    elr: Replicas = ()

    @property
    def refuses(self) -> bool | None:
        """Whether it has a leader, and too few in-sync replicas for acks=all; None: unknown."""
        return refuses_acks_all(self, self.leader, self.isr)


@dataclass(frozen=True, slots=True)
class LeaderChange:
    """A partition and its leaders, NO_LEADER where it is offline; `leader` None: unknown.

    `lossy`: the new leader may lack records.
    """

    partition: TopicPartition
    leader: int | None
    new_leader: int
    lossy: bool = False


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a broker.

    A figure is None where the leader or the size of one of its partitions is unknown.
    """

    replicas: Annotated[Count, "Replicas."]
    leaders: Annotated[
        Count | None,
        "Partitions that the broker leads; null where one of its partitions has an unknown leader.",
    ]
    size_bytes: Annotated[Count | None, "Bytes of its replicas; null where a size is unknown."]
    leader_bytes: Annotated[
        Count | None,
        "Bytes of the partitions that it leads; null where a size or a leader is unknown.",
    ]


@dataclass(frozen=True, slots=True)
class Bound:
    """A number of partitions.

    The least is certain, the most counts those of which it is unknown.
    """

    least: int
    most: int

    def __str__(self) -> str:
        return str(self.least) if self.least == self.most else f"{self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class UnknownOutcome:
    """A partition whose next leader, or whose refusal of acks=all, is unknown.

    `affected`: by the loss or the plan; the others stay as they are.
    """

    partition: TopicPartition
    affected: bool
    leader: bool
    refusal: bool


@dataclass(frozen=True, slots=True)
class LossFigures:
    """Partitions that change leader, go offline, refuse acks=all or lose records."""

    leader_changes: Bound
    offline: Bound
    refusing: Bound
    lossy: Bound


@dataclass(frozen=True, slots=True)
class Prediction:
    """The certain changes of partitions; `figures` bound the possible ones.

    Loads cover the brokers alive at each time. `already_offline` have no leader before, and are in
    no figure.
    """

    changes: tuple[LeaderChange, ...]
    refusing: tuple[PlacedPartition, ...]
    before: Mapping[int, Load]
    after: Mapping[int, Load]
    figures: LossFigures
    unknown: tuple[UnknownOutcome, ...] = ()
    already_offline: tuple[TopicPartition, ...] = ()

    @property
    def offline(self) -> tuple[TopicPartition, ...]:
        """Partitions that have no leader afterwards, for certain, and may have one before."""
        return tuple(change.partition for change in self.changes if change.new_leader == NO_LEADER)


@dataclass(frozen=True, slots=True)
class SingleLoss:
    """The figures of the loss of one broker.

    It also has the most that one remaining broker then leads (None: unknown).
    """

    figures: LossFigures
    most_leaders: int | None


def refuses_acks_all(
    placement: PlacedPartition, leader: int | None, isr: Replicas | None
) -> bool | None:
    """Whether a partition with this leader and ISR refuses acks=all; None: unknown."""
    if leader == NO_LEADER or placement.min_isr <= 1:  # a leader is in sync with itself
        return False
    return None if leader is None or isr is None else len(isr) < placement.min_isr
