"""Pairs of brokers between which copies travel, and the copies of each pair at once.

Goals: a follower fetches in-sync records and copies from a leader over one connection, one after
the other, a copied partition with up to a megabyte each time. The more partitions are copied at
once from one broker to another, the longer in-sync records between the same two brokers wait.
Constraints: a reassignment that has begun is not interrupted.
Algorithm: in the order of the list; a partition is taken where each of its pairs has room.
Example: two partitions from broker 1 to broker 3, one to broker 4, one copy at once: the first
two of different receivers begin, the other follows.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from kadmin.plan.copying import leader_of
from kadmin.plan.hours import until

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from kadmin.cluster.model import ClusterState
    from kadmin.plan.hours import Hours
    from kadmin.plan.model import PartitionTarget

Pair: TypeAlias = tuple[int, int]
"""The broker that sends a copy, and the one that receives it."""


def pairs_of(target: PartitionTarget, state: ClusterState) -> tuple[Pair, ...]:
    """Return the pairs of a partition's copies, none where no live broker can send them."""
    sender = leader_of(target, state)
    return () if sender is None else tuple((sender, receiver) for receiver in target.added)


@dataclass(frozen=True, slots=True)
class AtOnce:
    """The most copies of a pair at once, `usual` where there is no other number.

    0: none begins, because of `why`. `pauses`: those in flight wait, too.
    """

    usual: int
    by_pair: Mapping[Pair, int] = field(default_factory=dict)
    why: str = ""
    pauses: bool = False


def paused(hours: Hours | None, at: datetime) -> AtOnce | None:
    """Return the limit at a time outside hours with a pause; None where copies may run."""
    if hours is None or hours.outside or hours.includes(at):
        return None
    return AtOnce(0, why=f"outside its hours{until(hours, at)}", pauses=True)


@dataclass(frozen=True, slots=True)
class PairLimit:
    """The most copies at once of each pair, by the leaders of a state."""

    most: AtOnce
    state: ClusterState

    def takes(self, target: PartitionTarget, at_once: Counter[Pair]) -> bool:
        """Count the copies of a target in if each of its pairs has room."""
        pairs = pairs_of(target, self.state)
        most = self.most
        if any(at_once[pair] >= most.by_pair.get(pair, most.usual) for pair in pairs):
            return False
        at_once.update(pairs)
        return True

    def admitted(
        self, waiting: Iterable[PartitionTarget], running: Iterable[PartitionTarget]
    ) -> tuple[PartitionTarget, ...]:
        """Return the waiting targets that may begin beside those that run."""
        at_once = Counter(pair for target in running for pair in pairs_of(target, self.state))
        return tuple(target for target in waiting if self.takes(target, at_once))
