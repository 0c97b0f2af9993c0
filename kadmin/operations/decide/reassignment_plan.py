"""Examines a reassignment plan: its waves, its throttle, and disk space for its copies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.operations.decide.examination import placed
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.plan.copying import WHOLE_NETWORK, throttle_of
from kadmin.plan.diff import diff
from kadmin.plan.election import electable
from kadmin.plan.model import Elect, ThrottleBy
from kadmin.plan.progress import Progress, judge
from kadmin.plan.rules import check_disk_space, refusals_of, refuses
from kadmin.plan.tiers import tiered_bytes
from kadmin.plan.units import readable_size
from kadmin.plan.waves import moved_bytes
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import PartitionTarget, Policy, ReassignmentPlan
    from kadmin.plan.rules import ClusterView


def examine_reassignment(
    found: Examination,
    plan: ReassignmentPlan,
    world: ClusterView,
    publish: PublishLimits,
    policy: Policy | None = None,
) -> Examination:
    """Complete the examination of a reassignment by its changes; `publish` bounds its waves."""
    state = world.state
    change = diff(plan, state, publish, world.facts)
    waves = tuple(wave.reassignments for wave in change.waves)
    throttle = _throttle(plan, waves, state, world.facts)
    copied = [each.partition for each in change.pending if each.added or each.directories]
    tiered = tiered_bytes(copied, state, world.facts)
    found = replace(found, change=change, throttle=throttle, tiered=tiered)
    if (differ := _sizes_differ(change, world.facts)) is not None:
        found = replace(found, warnings=(*found.warnings, differ))
    found = _with_disk_space(found, plan, change, world.facts, policy)
    at_target = not change.pending and all(
        judge(target, state, published=False) is Progress.DONE for target in plan.reassignments
    )
    to_elect = plan.elect is not Elect.NONE and electable(
        [each.partition for each in plan.reassignments], state
    )
    if at_target and not to_elect:
        return found
    filled = {target.partition: target for wave in waves for target in wave}
    targets = tuple(filled.get(target.partition, target) for target in plan.reassignments)
    return replace(
        found,
        work=ReassignmentWork(
            waves,
            targets,
            plan.elect,
            skips_deleted=plan.allow_topics_deleted,
            moves_per_disk=plan.moves_per_disk,
        ),
    )


def _throttle(
    plan: ReassignmentPlan,
    waves: Sequence[Sequence[PartitionTarget]],
    state: ClusterState,
    facts: ClusterFacts,
) -> Throttle | None:
    spec = plan.throttle
    if plan.hours is not None and (spec is None or spec.by is ThrottleBy.NONE):
        spec = replace(WHOLE_NETWORK, disks=None if spec is None else spec.disks)
    found = None if spec is None else throttle_of(spec, waves, state, facts.inbound)
    if found is None:
        return None
    if found.rate == WHOLE_NETWORK.amount:  # which is no estimate of a network
        found = replace(found, wave_seconds=(None,) * len(waves), bound_seconds=None)
    return replace(found, hours=plan.hours)


def _sizes_differ(change: PlanDiff, facts: ClusterFacts) -> str | None:
    """Say that the bytes to copy are not those on disk, where they differ by a tenth and more."""
    known = [
        each
        for each in change.pending
        if each.size_bytes is not None and each.partition in facts.sizes
    ]
    planned = sum(moved_bytes(each) or 0 for each in known)
    on_disk = sum(len(each.added) * facts.sizes[each.partition] for each in known)
    if abs(planned - on_disk) * 10 < max(planned, on_disk, 1):
        return None
    return (
        f"by the plan's size_bytes {readable_size(planned)} are to be copied, by the bytes on disk "
        f"{readable_size(on_disk)}; remove size_bytes from the plan to reckon with those on disk"
    )


def _with_disk_space(
    found: Examination,
    plan: ReassignmentPlan,
    change: PlanDiff,
    facts: ClusterFacts,
    policy: Policy | None,
) -> Examination:
    """Refuse waves for which a broker lacks disk space.

    Warn of disks that are filled above the plan's limit, or refuse them by the policy. Warn of
    brokers that were asked and do not report theirs, and of partitions of unknown size, whose
    copies cannot be compared with the disk space.
    """
    lacking = tuple(check_disk_space(change.disks, plan.disk_fill, policy))
    filled = tuple(each.message for each in lacking if not refuses(each))
    found = replace(found, warnings=(*found.warnings, *filled))
    receivers = {broker for target in change.pending for broker in target.added}
    unavailable = {broker for broker in receivers if facts.usable.get(broker, 0) is None}
    if unavailable:
        unknown = (
            "room on disk is not known (Kafka 3.3 and later report it): "
            f"{brokers_in_words(unavailable)}"
        )
        found = replace(found, warnings=(*found.warnings, unknown))
    limited = {
        broker for broker, usable in facts.usable.items() if usable is not None
    } | facts.capacities.keys()
    unsized = [
        each.partition
        for each in change.pending
        if each.size_bytes is None and limited & set(each.added)
    ]
    if unsized:
        which = f"{count(len(unsized), 'partition')}, whose size is not known: {name_some(unsized)}"
        found = replace(found, warnings=(*found.warnings, f"room cannot be checked for {which}"))
    return replace(found, refusals=(*found.refusals, *refusals_of(lacking, partial(placed, plan))))
