"""Finds live brokers that lost their disks, and distinguishes them from brokers that lag.

A broker is emptied where it has at most EMPTIED_SHARE of the bytes of the partitions that it shares
with another live broker: the leader's bytes where it is in sync, its own bytes elsewhere. Empty
partitions are in sync at once, so that being in sync somewhere does not exclude a loss. Partitions
that are being reassigned do not count: a replica that is added begins empty.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command
from kadmin.plan.progress import moves_in_flight
from kadmin.plan.units import readable_size
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition

EMPTIED_SHARE = 0.1
_RATE = "50MB/s"
_CAUSES = (
    "a new machine with this id, or lost disks; or it was away while clients wrote nine times "
    "what it has"
)


def emptied_broker_troubles(
    state: ClusterState, held: Mapping[int, Mapping[TopicPartition, int]]
) -> Iterator[Finding]:
    """Find emptied brokers by the bytes of partitions on each broker that listed all its replicas.

    A broker with a partition whose leader's bytes are not known has no finding.
    """
    shared, alone = _by_broker(state)
    at_leaders = {
        partition: held[found.leader][partition]
        for partition, found in state.states.items()
        if partition in held.get(found.leader, {})
    }
    for broker in sorted(held.keys() & shared.keys() & state.brokers.keys()):
        if not at_leaders.keys() >= set(shared[broker]):
            continue
        sizes = held[broker]
        behind = [each for each in shared[broker] if broker not in state.states[each].isr]
        to_hold = sum(at_leaders[each] for each in shared[broker])
        holds = to_hold - sum(at_leaders[each] - sizes.get(each, 0) for each in behind)
        if to_hold and holds <= EMPTIED_SHARE * to_hold:
            has = f"{readable_size(holds)} of {readable_size(to_hold)}"
            yield _finding(
                broker,
                f"it holds {has} in {count(len(shared[broker]), 'replica')}",
                behind,
                [each for each in alone[broker] if not sizes.get(each)],
            )


def _finding(
    broker: int, holds: str, behind: Sequence[TopicPartition], lost: Sequence[TopicPartition]
) -> Finding:
    lost_in_words = (
        "have no other replica and are empty there; records that they had are lost: "
        f"{name_some(lost)}"
    )
    return Finding(
        Trouble.EMPTIED_BROKER,
        f"Broker {broker} is alive and nearly empty: {holds}.",
        command("throttle catch-up", "--broker", broker, "--rate", _RATE),
        severity="warning",
        evidence=(
            f"not in sync ({len(behind)}): {name_some(behind)}",
            _CAUSES,
            *((lost_in_words,) if lost else ()),
        ),
    )


def _by_broker(
    state: ClusterState,
) -> tuple[Mapping[int, list[TopicPartition]], Mapping[int, list[TopicPartition]]]:
    """Return the partitions of brokers that have another live replica, and those without any other.

    A controller before 2.4 gives moves in flight only as its request.
    """
    request = state.requests.reassignment
    moving = {*moves_in_flight(state), *((request and request.entries) or ())}
    shared, alone = defaultdict(list), defaultdict(list)
    for partition, replicas in sorted(state.assignment.items()):
        for broker in () if partition in moving else replicas:
            if len(replicas) == 1:
                alone[broker].append(partition)
            elif any(each != broker and each in state.brokers for each in replicas):
                shared[broker].append(partition)
    return shared, alone
