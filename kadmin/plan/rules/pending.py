"""Rules on what changed since a plan was made: lists of replicas, and pending requests.

A snapshot lacks the requests, or may be too old.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.sources import lacks_source
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import PartitionTarget
    from kadmin.plan.rules.world import ClusterView

_SEE_DOCTOR = command("doctor") + ", which says what it is; apply again when it is gone"
_SEE_WHOSE = (
    command("doctor") + ", which says whose it is and how to end it; apply again when it is done"
)


def reassignment_running(
    world: ClusterView, named: Container[TopicPartition] = ()
) -> Iterator[Diagnostic]:
    """Refuse to work beside another reassignment.

    A reassignment through the API without a replica to copy from waits for a broker, and only
    refuses the reassignment of the partitions `named`.
    """
    if not world.live:
        return
    pending = world.state.requests.reassignment
    if pending is not None:
        message = f"another reassignment is pending in {pending.channel_name}; it was not changed"
        yield Diagnostic(codes.REASSIGNMENT_RUNNING, message, _SEE_DOCTOR)
    elif moving := sorted(
        each for each in world.in_flight if each in named or not lacks_source(each, world.state)
    ):
        are = "1 partition is" if len(moving) == 1 else f"{len(moving)} partitions are"
        message = f"{are} being reassigned through the brokers' API: {name_some(moving)}"
        yield Diagnostic(codes.REASSIGNMENT_RUNNING, message, _SEE_WHOSE)


def election_running(world: ClusterView) -> Iterator[Diagnostic]:
    """Refuse to work beside another election."""
    pending = world.state.requests.election
    if world.live and pending is not None:
        message = (
            f"another preferred leader election is pending in {pending.channel_name}; it was not "
            "changed"
        )
        yield Diagnostic(codes.ELECTION_RUNNING, message, _SEE_DOCTOR)


def stale_lists(targets: Iterable[PartitionTarget], world: ClusterView) -> Iterator[Diagnostic]:
    """Compare `current` with the cluster, except in mid-move.

    Then the list has old and new replicas.
    """
    for target in targets:
        now = world.state.replicas(target.partition)
        if target.current is None or now in {None, target.current, target.replicas}:
            continue
        if target.partition not in world.in_flight:
            lists = (
                f"the plan was made on {list(target.current)}, the cluster has {list(now or ())}"
            )
            message = f"{target.partition}: {lists}"
            next_step = "make the plan again from a new snapshot: " + command(
                "snapshot", "--out", "DIR"
            )
            yield Diagnostic(codes.STALE_CURRENT, message, next_step, partition=target.partition)
