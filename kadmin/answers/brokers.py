"""Shapes of the answers of `broker`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.partitions import Partition
from kadmin.answers.unreadable import UnreadableZnodes
from kadmin.insight.predict.stop import StopReason
from kadmin.insight.tables.brokers import ListedBroker
from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class BrokerListAnswer:
    """The brokers of a cluster, and whether each may be stopped."""

    brokers: Annotated[
        tuple[ListedBroker, ...],
        "One object per broker that is registered or holds a replica, by id.",
    ]
    unreadable: UnreadableZnodes
    unavailable: Annotated[tuple[str, ...], "Answers that brokers did not give, and why."]


@dataclass(frozen=True, slots=True)
class StopAnswer:
    """Whether brokers may be stopped together."""

    brokers: Annotated[tuple[Count, ...], "Brokers to stop."]
    margin: Annotated[
        Count, "In-sync replicas that each partition must keep above min.insync.replicas."
    ]
    safe: Annotated[bool, "Whether they may be stopped: there is no obstacle."]
    obstacles: Annotated[
        tuple[Obstacle, ...],
        "Everything that forbids it: first what concerns the cluster, then one object per "
        "partition.",
    ]
    no_worse: Annotated[
        tuple[Partition, ...],
        "Partitions on these brokers that are offline or refuse acks=all already, and that the "
        "stop makes no worse.",
    ]
    unavailable: Annotated[tuple[str, ...], "Answers that brokers did not give, and why."]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason that forbids to stop brokers."""

    reason: Annotated[
        StopReason,
        "offline: the partition has no leader afterwards; unclean: an out-of-sync replica leads "
        "afterwards, and records are lost; under-min-isr: too few in-sync replicas are left; "
        "move-in-flight: the partition is being reassigned; quorum: the controllers lose their "
        "majority; unknown: it cannot be judged.",
    ]
    topic: Annotated[str | None, "Topic; null where the obstacle is of no partition."]
    partition: Annotated[
        Count | None, "Partition number; null where the obstacle is of no partition."
    ]
    isr: Annotated[
        tuple[int, ...] | None, "Live in-sync replicas that are left; null where they are unknown."
    ]
    min_isr: Annotated[
        Count | None, "min.insync.replicas of the partition; null where it is unknown."
    ]
    because: Annotated[str, "The reason in words."]
