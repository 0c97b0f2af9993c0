"""The shape of the answer of `propose recovery`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.partitions import Partition
from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class RecoveryAnswer:
    """Partitions without a leader, and the plan that elects one for each."""

    plan: Annotated[str, "The file that was written."]
    looked_at: Annotated[str, "When the cluster was read, in UTC."]
    starts: Annotated[
        tuple[BrokerToStart, ...],
        "Dead brokers that give partitions a leader back without a loss, the most first.",
    ]
    partitions: Annotated[tuple[LeaderlessPartition, ...], "Every partition without a leader."]
    unavailable: Annotated[tuple[str, ...], "What nobody answered, with the reason."]


@dataclass(frozen=True, slots=True)
class BrokerToStart:
    """A dead broker."""

    broker_id: Annotated[Count, "The broker."]
    partitions: Annotated[Count, "Partitions to which it alone gives a leader back."]


@dataclass(frozen=True, slots=True)
class LeaderlessPartition(Partition):
    """A partition without a leader, with what is known of its logs."""

    replicas: Annotated[tuple[Count, ...], "Its ordered replicas."]
    awaited: Annotated[
        tuple[Count, ...], "Dead brokers of which each would lead without a loss, were it started."
    ]
    last_leaders: Annotated[
        tuple[Count, ...], "The last leaders, where no replica is known to lead without a loss."
    ]
    copies: Annotated[tuple[LivingCopy, ...], "Copies on live brokers."]
    known: Annotated[tuple[ReachedOffset, ...], "Offsets that the log had reached."]
    sampled: Annotated[ReachedOffset | None, "The end of the log in the last sample."]
    leader: Annotated[Count | None, "The leader of the plan; null where it is not in the plan."]
    records_lost: Annotated[Count | None, "Records lost at least; null where unknown."]
    records_lost_at_most: Annotated[
        Count | None,
        "Records lost at most, if none was written after the last sample; null where unknown.",
    ]
    impossible: Annotated[str | None, "Why the plan leaves the partition out."]


@dataclass(frozen=True, slots=True)
class LivingCopy:
    """A copy on a live broker."""

    broker_id: Annotated[Count, "The broker."]
    end_offset: Annotated[Count | None, "The end of its log; null where the broker did not tell."]
    size_bytes: Annotated[Count | None, "Its bytes; null where unknown."]


@dataclass(frozen=True, slots=True)
class ReachedOffset:
    """An offset that a log had reached."""

    offset: Annotated[Count, "The offset."]
    source: Annotated[str, "Who says so."]
