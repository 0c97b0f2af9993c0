"""Rules on requests pending on a live cluster: a snapshot lacks them, or may be too old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.sources import lacks_source
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from kadmin.cluster.model import TopicPartition
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
