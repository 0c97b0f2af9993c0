"""Decides where the topic of lock and record is placed.

It goes to live brokers, spread over racks, and to none that a plan empties or demotes.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, Replicas
    from kadmin.plan.model import PartitionTarget

REPLICAS = 3
"""Of each partition, where there are so many live brokers."""


def replication_factor(alive: Collection[int]) -> int:
    """Return the replication factor on these live brokers."""
    return min(REPLICAS, len(alive))


def vacated_brokers(targets: Iterable[PartitionTarget], state: ClusterState) -> frozenset[int]:
    """Return the brokers that lose replicas, or the first place, by the targets, and get none."""
    held: set[int] = set()
    wanted: set[int] = set()
    preferred: set[int] = set()
    kept: set[int] = set()
    for target in targets:
        replicas = state.replicas(target.partition) or ()
        held.update(replicas)
        wanted.update(target.replicas)
        preferred.update(replicas[:1])
        kept.update(target.replicas[:1])
    return frozenset((held - wanted) | (preferred - kept))


def choose_brokers(
    racks: Mapping[int, str | None], avoid: Collection[int], partitions: int
) -> Mapping[int, Replicas]:
    """Return the replicas of each partition; `racks` are those of the live brokers.

    Brokers to `avoid` hold replicas only where the others are too few. Then racks count, then an
    even share of replicas and of preferred leaders, then the lowest id.
    """
    shares: Counter[int] = Counter()
    leads: Counter[int] = Counter()
    placed: dict[int, Replicas] = {}
    for partition in range(partitions):
        chosen: list[int] = []
        while len(chosen) < replication_factor(racks):
            used = Counter(racks[broker] for broker in chosen)
            chosen.append(
                min(
                    (broker for broker in racks if broker not in chosen),
                    key=lambda broker: (
                        broker in avoid,
                        used[racks[broker]],
                        shares[broker],
                        leads[broker],
                        broker,
                    ),
                )
            )
        shares.update(chosen)
        leads.update(chosen[:1])
        placed[partition] = tuple(chosen)
    return placed
