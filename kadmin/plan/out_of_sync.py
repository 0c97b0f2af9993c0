"""Finds partitions that fell out of sync while an operation copies, and that no move explains.

Goals: followers that cannot keep up show that copies take too much, also where nobody measures it.
Constraints: a copy that must go on is not slowed down by what it is to repair: replicas that were
behind before, and those on dead brokers and failed disks, do not count. A partition that is being
reassigned is out of sync by that, whoever reassigns it.
Algorithm: compare the ISRs of the first look with those of the last one.
Example: at the first look orders-0 has the ISR [1, 2], payments-0 [1] of [1, 2]. At the last one
both have the ISR [1], and broker 2 is alive: orders-0 counts, payments-0 does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.plan.progress import in_flight
from kadmin.plan.signals import SignalSeen
from kadmin.wording import name_some

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, TopicPartition


def fell_out_of_sync(first: ClusterState, last: ClusterState) -> tuple[TopicPartition, ...]:
    """Return the partitions with a live replica out of sync that was alive and in sync at first."""
    moving = set(in_flight(last))
    alive = first.brokers.keys() & last.brokers.keys()
    return tuple(
        partition
        for partition, seen in sorted(last.states.items())
        if partition in first.states
        and partition not in moving
        and alive.intersection(last.replicas(partition) or (), first.states[partition].isr)
        - {*seen.isr, *seen.offline_replicas}
    )


def out_of_sync(first: ClusterState, last: ClusterState) -> SignalSeen:
    """Return the number of such partitions as a signal, which is to be below 1."""
    fell = fell_out_of_sync(first, last)
    return SignalSeen("out_of_sync", None, 1, len(fell), 0.0, detail=name_some(fell))
