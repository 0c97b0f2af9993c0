"""Chooses partitions whose commit delays show what copies cost the clients.

Goals: the commit delay of a partition is the time from when its leader wrote a record until every
in-sync follower has it: what a producer with acks=all waits for. Copies delay it where the leader
sends a copy to one of the in-sync followers, because a follower fetches both over one connection.
Constraints: nothing is written, and few partitions are asked for: those of pairs that copy, and as
many that no such pair touches, for comparison in the same seconds.
Algorithm: a partition belongs to each pair of its leader and an in-sync follower that copies; to
the controls if none does, those of leaders that send copies first: they share their machine.
Example: broker 1 copies to 3. A partition led by 1 with follower 3 in sync belongs to (1, 3), one
with follower 2 to the controls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.plan.pairs import Pair

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.cluster.model import ClusterState

MOST_WATCHED = 8
"""Partitions of one pair, and controls of one leader: enough to find some that clients write to."""


Watched: TypeAlias = Mapping[int, Mapping[TopicPartition, frozenset[Pair]]]
"""Partitions to ask each leader for, with the pairs that each belongs to; controls have none."""


def watched(
    state: ClusterState, copying: Collection[Pair], moving: Collection[TopicPartition]
) -> Watched:
    """Return the partitions to watch while pairs copy, without those that are `moving`.

    Where no partition of their leaders is a control, those of other leaders are.
    """
    senders = {sender for sender, _ in copying}
    found: dict[int, dict[TopicPartition, frozenset[Pair]]] = {}
    counts: dict[tuple[int, frozenset[Pair]], int] = {}
    for partition, seen in sorted(state.states.items()):
        followers = set(seen.isr) - {seen.leader}
        if partition in moving or not followers or seen.leader not in state.brokers:
            continue
        pairs = frozenset((seen.leader, each) for each in followers).intersection(copying)
        group = seen.leader, pairs
        if counts.get(group, 0) < MOST_WATCHED:
            counts[group] = counts.get(group, 0) + 1
            found.setdefault(seen.leader, {})[partition] = pairs
    near = any(not pairs for sender in senders for pairs in found.get(sender, {}).values())
    return {
        leader: partitions for leader, partitions in found.items() if leader in senders or not near
    }
