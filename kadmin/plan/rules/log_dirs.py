"""Rules on the log directories of brokers that a reassignment names, or copies to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.disks import DiskState
from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.directories import Directories, DirectoryPlace, placements
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.diagnostics import Field
    from kadmin.plan.model import PartitionTarget, ReassignmentPlan
    from kadmin.plan.rules.world import ClusterView

_LOOK = command("inspect disks")


def check_log_dirs(plan: ReassignmentPlan, world: ClusterView | None) -> Iterator[Diagnostic]:
    """Yield lists of another length, and directories that the brokers lack, or that take nothing.

    Where directories of brokers are known, also yield brokers that lost one and get a replica.
    """
    for index, target in enumerate(plan.reassignments):
        listed = target.log_dirs
        if listed is not None and len(listed) != len(target.replicas):
            message = (
                f"{target.partition}: log_dirs names {len(listed)} for "
                f"{count(len(target.replicas), 'replica')}"
            )
            next_step = "name one for each replica; any: the broker chooses"
            yield Diagnostic(
                codes.LOG_DIRS_LENGTH,
                message,
                next_step,
                partition=target.partition,
                field=_field(index),
            )
    if world is None or not (plan.names_directories or world.facts.disks):
        return
    facts = world.facts
    named = {each.partition for each in plan.reassignments if each.directories}
    found = Directories.of(facts.disks, facts.replicas, named)
    for index, target in enumerate(plan.reassignments):
        for broker, path, place in placements(target, found):
            yield from _of_directory(target, (broker, path, place), found, world, index)
        if not plan.allow_failed_disks:
            yield from _failed_disks(target, found, world)


def _of_directory(
    target: PartitionTarget,
    at: tuple[int, str, DirectoryPlace],
    found: Directories,
    world: ClusterView,
    index: int,
) -> Iterator[Diagnostic]:
    broker, path, place = at
    if place is DirectoryPlace.THERE or broker not in world.state.brokers:
        return
    code, field = codes.LOG_DIR_CLOSED, _field(index)
    disks = {disk.path: disk for disk in found.disks.get(broker, ())}
    here = f"{target.partition}: "
    if not disks or place is DirectoryPlace.UNKNOWN:
        yield _unknown(target, broker, world, field)
        return
    if path not in disks:
        code, message = codes.NO_SUCH_LOG_DIR, f"{here}broker {broker} has no log directory {path}"
        next_step = f"its log directories are {name_some(disks)}"
    elif disks[path].state is DiskState.FAILED:
        message = f"{here}log directory {path} of broker {broker} failed"
        next_step = "name another one, or another broker"
    elif disks[path].state is DiskState.CORDONED and place is not DirectoryPlace.MOVING:
        message = f"{here}log directory {path} of broker {broker} is cordoned"
        next_step = "name another one, or take the cordon off"
    elif broker in (world.state.replicas(target.partition) or ()) and found.failed(broker):
        message = (
            f"{here}broker {broker} moves nothing between its log directories while "
            f"{name_some(found.failed(broker))} is failed"
        )
        next_step = "move the replica to another broker, or repair the disk and restart the broker"
    else:
        return
    yield Diagnostic(
        code, message, next_step, partition=target.partition, broker=broker, field=field
    )


def _unknown(target: PartitionTarget, broker: int, world: ClusterView, field: Field) -> Diagnostic:
    """Report unknown directories: an error where brokers did not answer, else a warning."""
    why = "; ".join(world.facts.disks_unavailable)
    return Diagnostic(
        codes.LOG_DIRS_UNKNOWN,
        f"{target.partition}: the log directories of broker {broker} are not known",
        f"{why}; see " + _LOOK if why else _LOOK,
        "error" if why else "warning",
        partition=target.partition,
        broker=broker,
        field=field,
    )


def _failed_disks(
    target: PartitionTarget, found: Directories, world: ClusterView
) -> Iterator[Diagnostic]:
    held = world.state.replicas(target.partition)
    for broker in target.replicas if held is not None else ():
        if broker not in (held or ()) and (failed := found.failed(broker)):
            message = (
                f"{target.partition}: broker {broker} cannot read {name_some(failed)}; if that "
                "held this partition before, its reassignment never ends"
            )
            next_step = (
                "choose another broker, or repair the disk and restart the broker; or set "
                "spec.allow.failed_disks: true if it never held it"
            )
            yield Diagnostic(
                codes.FAILED_DISK, message, next_step, partition=target.partition, broker=broker
            )


def _field(index: int) -> Field:
    return ("spec", "partitions", index, "log_dirs")
