"""Examines a plan on a state of the cluster: the refusals, and the work that it would be.

Rules and their order are those of kadmin.plan.rules. Refusals are returned, not raised: `diff` shows all of them,
`apply` raises the first, with those that are alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.documents.check import read
from kadmin.errors import StalePlanError
from kadmin.operations.decide.deletion import plan_deletion
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.plan import codes
from kadmin.plan.copying import throttle_of
from kadmin.plan.diff import diff
from kadmin.plan.election import electable, leaders_elected, off_preferred, scope_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import DeletionPlan, Elect, ElectionPlan, Policy, ReassignmentPlan, RecreationPlan
from kadmin.plan.progress import Progress, judge
from kadmin.plan.rules import ClusterView, check, check_disk_space, refusals_of, refuses
from kadmin.plan.waves import added
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.capabilities import PublishLimits
    from kadmin.cluster.model import ClusterState
    from kadmin.diagnostics import Diagnostic
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import OperationSpec
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Examination:
    """Errors that refuse a plan on a state, and the work that it would do; `work` None: nothing to do.

    `targets` names what an election would elect, a deletion delete or a recreation create; `lost_bytes` counts all
    copies that a deletion deletes, None where unknown and for other plans. `leaders` are those of an election's targets
    before and after it, -1 for none.
    """

    refusals: tuple[KadminError, ...]
    work: OperationSpec | None
    change: PlanDiff | None = None
    targets: tuple[str, ...] = ()
    lost_bytes: int | None = None
    warnings: tuple[str, ...] = ()
    throttle: Throttle | None = None
    leaders: tuple[tuple[int, int], ...] = ()

    @property
    def refusal(self) -> KadminError | None:
        """Return the first refusal; a StalePlanError combines all of its type, so one run shows every mismatch."""
        first = next(iter(self.refusals), None)
        if not isinstance(first, StalePlanError):
            return first
        alike = [each for each in self.refusals if type(each) is type(first)]
        return type(first)(
            " ".join(each.message for each in alike),
            cause="; ".join(dict.fromkeys(each.cause for each in alike if each.cause)) or None,
            next_step=first.next_step,
        )


_NO_CHANGE = frozenset(
    {codes.OTHER_CLUSTER, codes.UNKNOWN_TOPIC, codes.UNKNOWN_PARTITION, codes.SIZE_UNKNOWN, codes.TOO_BIG_FOR_A_WAVE}
)
"""Refusals without work: names that do not exist, and moves that fit in no wave."""


def examine(
    plan: Plan,
    state: ClusterState,
    publish: PublishLimits,
    facts: ClusterFacts | None = None,
    policy: Policy | None = None,
) -> Examination:
    """Examine a plan on a state; `publish` bounds its waves, `facts` are what is known beyond the state."""
    world = ClusterView(state, facts or ClusterFacts(), live=True)
    found = check(plan, world, policy or Policy())
    refusing = [each for each in found if refuses(each)]
    warnings = [*(each.message for each in found if not refuses(each)), *world.facts.hidden_topics]
    refusals = refusals_of(refusing, partial(_placed, plan))
    examination = Examination(refusals, None, warnings=(*warnings, *world.facts.disks_unavailable))
    if any(each.code in _NO_CHANGE for each in refusing):
        return examination
    match plan:
        case ReassignmentPlan():
            return _reassignment(examination, plan, world, publish)
        case ElectionPlan():
            return _election(examination, plan, state)
        case DeletionPlan():
            return _deletion(examination, plan, world)
        case RecreationPlan():
            return replace(examination, work=RecreationWork(plan), targets=plan.topics)


def _reassignment(
    found: Examination, plan: ReassignmentPlan, world: ClusterView, publish: PublishLimits
) -> Examination:
    state = world.state
    change = diff(plan, state, publish, world.facts)
    waves = tuple(wave.reassignments for wave in change.waves)
    throttle = None if plan.throttle is None else throttle_of(plan.throttle, waves, state, world.facts.inbound)
    found = _with_room(replace(found, change=change, throttle=throttle), plan, change, world.facts)
    at_target = not change.pending and all(
        judge(target, state, published=False) is Progress.DONE for target in plan.reassignments
    )
    to_elect = plan.elect is not Elect.NONE and electable([each.partition for each in plan.reassignments], state)
    if at_target and not to_elect:
        return found
    filled = {target.partition: target for wave in waves for target in wave}
    targets = tuple(filled.get(target.partition, target) for target in plan.reassignments)
    return replace(found, work=ReassignmentWork(waves, targets, plan.elect, skips_deleted=plan.allow_topics_deleted))


def _placed(plan: Plan, found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """Return diagnostics with their places in the plan's file, if it was read from one."""
    file = plan.header.file
    return found if file is None else read(file.data, file.name).place(found)


def _with_room(found: Examination, plan: Plan, change: PlanDiff, facts: ClusterFacts) -> Examination:
    """Refuse waves for which a broker lacks disk space; warn of brokers that were asked and do not report theirs.

    Warn of partitions of unknown size, too, whose copies cannot be compared with the disk space.
    """
    lacking = check_disk_space([wave.reassignments for wave in change.waves], facts.usable)
    receivers = {broker for target in change.pending for broker in added(target)}
    unavailable = {broker for broker in receivers if facts.usable.get(broker, 0) is None}
    if unavailable:
        unknown = f"room on disk is not known (Kafka 3.3 and later report it): {brokers_in_words(unavailable)}"
        found = replace(found, warnings=(*found.warnings, unknown))
    limited = {broker for broker, usable in facts.usable.items() if usable is not None} | facts.capacities.keys()
    unsized = [each.partition for each in change.pending if each.size_bytes is None and limited & set(added(each))]
    if unsized:
        which = f"{count(len(unsized), 'partition')}, whose size is not known: {name_some(unsized)}"
        found = replace(found, warnings=(*found.warnings, f"room cannot be checked for {which}"))
    return replace(found, refusals=(*found.refusals, *refusals_of(lacking, partial(_placed, plan))))


def _election(found: Examination, plan: ElectionPlan, state: ClusterState) -> Examination:
    scope = scope_of(plan, state)
    off = off_preferred(scope, state)
    leaders = leaders_elected(off, state)
    return replace(found, work=ElectionWork(scope) if off else None, targets=tuple(map(str, off)), leaders=leaders)


def _deletion(found: Examination, plan: DeletionPlan, world: ClusterView) -> Examination:
    lost = bytes_lost(plan.topics, world.state, world.facts)
    return replace(found, work=plan_deletion(plan, world.state), targets=plan.topics, lost_bytes=lost)


def bytes_lost(topics: Iterable[str], state: ClusterState, facts: ClusterFacts) -> int | None:
    """Return the bytes that a deletion destroys, all copies counted; None where the size of a partition is unknown."""
    partitions = [p for topic in topics if topic in state.topics for p in state.topics[topic].partitions()]
    if any(partition not in facts.sizes for partition in partitions):
        return None
    return sum(facts.sizes[partition] * len(state.replicas(partition) or ()) for partition in partitions)
