"""What would stop a plan today: every check of a plan against one state of the cluster, pure.

Refusals are errors that are returned, not raised: `diff` shows them all, `apply` raises the first. Their order is the
order in which an operator would want to hear them: wrong cluster, unknown names, busy, not allowed, stale, dead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, InvalidInputError, StalePlanError, name_some
from kadmin.operations.decide.deletion import DeletionWork
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.guards import deletion_refusals
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.recreation import RecreationWork
from kadmin.plan import codes
from kadmin.plan.checks import fewer_racks, replication_factor_changes, unknown_names
from kadmin.plan.copying import throttle_of
from kadmin.plan.deletion import bytes_lost
from kadmin.plan.diff import diff
from kadmin.plan.election import check_election, electable, off_preferred, scope_of
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import DeletionPlan, Elect, ElectionPlan, Policy, ReassignmentPlan, RecreationPlan
from kadmin.plan.outlook import check_outlook
from kadmin.plan.progress import Progress, in_flight, judge
from kadmin.plan.recreation import check_recreation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.errors import KadminError
    from kadmin.operations.decide.actions import Work
    from kadmin.plan.checks import Violation
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Examination:
    """A plan against a state: what stops it, what it would do, and (work None) that nothing is to do.

    `targets` names what an election would elect, a deletion delete or a recreation make; `lost_bytes` is what a
    deletion destroys, all copies counted, None where that is not known or not the question.
    """

    refusals: tuple[KadminError, ...]
    work: Work | None
    change: PlanDiff | None = None
    targets: tuple[str, ...] = ()
    lost_bytes: int | None = None
    warnings: tuple[str, ...] = ()
    throttle: Throttle | None = None


def examine(
    plan: Plan,
    state: ClusterState,
    facts: ClusterFacts | None = None,
    policy: Policy | None = None,
) -> Examination:
    """Examine any plan; `facts` are what is known beside the state."""
    refusals, facts = _wrong_cluster(plan, state), facts or ClusterFacts()
    if refusals:
        return Examination(refusals, None)
    match plan:
        case ReassignmentPlan():
            found = _throttled(plan, _reassignment(plan, state, facts.sizes), state, facts.inbound)
            return replace(found, warnings=_outlook(plan, state, facts))
        case ElectionPlan():
            return _election(plan, state)
        case DeletionPlan():
            return _deletion(plan, state, facts, policy or Policy())
        case RecreationPlan():
            return _recreation(plan, state)


def _wrong_cluster(plan: Plan, state: ClusterState) -> tuple[KadminError, ...]:
    wanted = plan.header.cluster_id
    if wanted is None or wanted == state.cluster_id:
        return ()
    return (
        StalePlanError(
            f"The plan is for cluster {wanted}, this is cluster {state.cluster_id}.",
            next_command="check --zookeeper",
        ),
    )


def _reassignment(plan: ReassignmentPlan, state: ClusterState, sizes: Mapping[TopicPartition, int]) -> Examination:
    assignment = state.assignment
    unknown = _refused(StalePlanError, "The cluster does not have", unknown_names(plan, assignment, state.brokers))
    if unknown and any(target.partition not in assignment for target in plan.reassignments):
        return Examination(unknown, None)
    racks = {broker.broker_id: broker.rack for broker in state.brokers.values()}
    change = diff(plan, state, sizes)
    refusals = [
        *unknown,
        *_busy(state, plan.elect),  # first: what is in flight has more replicas than it will have
        *_refused(InvalidInputError, "Not allowed by the plan", replication_factor_changes(plan, assignment)),
        *_refused(InvalidInputError, "Not allowed by the plan", fewer_racks(plan, assignment, racks)),
        *_stale(plan, state),
        *_queued({target.partition.topic for target in change.pending}, state),
    ]
    at_target = not change.pending and all(
        judge(target, state, published=False) is Progress.DONE for target in plan.reassignments
    )
    to_elect = plan.elect is not Elect.NONE and electable([w.partition for w in plan.reassignments], state)
    if at_target and not to_elect:
        return Examination(tuple(refusals), None, change)
    waves = tuple(wave.reassignments for wave in change.waves)
    filled = {target.partition: target for wave in waves for target in wave}
    targets = tuple(filled.get(target.partition, target) for target in plan.reassignments)
    return Examination(tuple(refusals), ReassignmentWork(waves, targets, plan.elect), change)


def _outlook(plan: ReassignmentPlan, state: ClusterState, facts: ClusterFacts) -> tuple[str, ...]:
    # A dead target is no warning: the publish itself refuses it.
    found = check_outlook(plan, state, facts)
    return tuple(violation.message for violation in found if violation.code != codes.DEAD_BROKER)


def _throttled(
    plan: ReassignmentPlan, found: Examination, state: ClusterState, inbound: Mapping[TopicPartition, float]
) -> Examination:
    if plan.throttle is None or found.change is None:
        return found
    try:
        waves = [wave.reassignments for wave in found.change.waves]
        return replace(found, throttle=throttle_of(plan.throttle, waves, state, inbound))
    except InvalidInputError as error:
        return replace(found, refusals=(*found.refusals, error))


def _election(plan: ElectionPlan, state: ClusterState) -> Examination:
    known = state.assignment
    missing = [topic for topic in plan.topics if topic not in state.topics]
    missing_partitions = [partition for partition in plan.partitions if partition not in known]
    if missing or missing_partitions:
        names = name_some([*missing, *missing_partitions], most=20)
        error = StalePlanError(f"The cluster does not have {names}.", next_command="kadmin propose election")
        return Examination((error,), None)
    targets = scope_of(plan, state)
    refusals: list[KadminError] = []
    if state.requests.election is not None:
        refusals.append(_node_there("/admin/preferred_replica_election"))
    off = tuple(str(partition) for partition in off_preferred(targets, state))
    warnings = tuple(violation.message for violation in check_election(plan, state))
    return Examination(tuple(refusals), ElectionWork(targets) if off else None, targets=off, warnings=warnings)


def _deletion(plan: DeletionPlan, state: ClusterState, facts: ClusterFacts, policy: Policy) -> Examination:
    refusals, warnings = deletion_refusals(plan, state, facts, policy)
    lost = bytes_lost(plan.topics, state, facts)
    return Examination(refusals, DeletionWork(plan), targets=plan.topics, lost_bytes=lost, warnings=warnings)


def _recreation(plan: RecreationPlan, state: ClusterState) -> Examination:
    found = check_recreation(plan, state)
    kinds = {codes.TOPIC_EXISTS: BusyError, codes.DEAD_BROKER: StalePlanError}
    refusals = tuple(
        kinds.get(violation.code, InvalidInputError)(f"{violation.message}.", next_command=violation.hint)
        for violation in found
    )
    return Examination(refusals, RecreationWork(plan), targets=plan.topics)


def _busy(state: ClusterState, elect: Elect) -> list[KadminError]:
    refusals: list[KadminError] = []
    if state.requests.reassignment is not None:
        refusals.append(_node_there("/admin/reassign_partitions"))
    elif moving := in_flight(state):
        refusals.append(
            BusyError(
                f"{len(moving)} partitions are being reassigned already: {name_some(moving)}.",
                cause="through the brokers' API (adding or removing replicas in their topic znodes)",
                next_command="apply again when they are done",
            )
        )
    if elect is not Elect.NONE and state.requests.election is not None:
        refusals.append(_node_there("/admin/preferred_replica_election"))
    return refusals


def _node_there(path: str) -> BusyError:
    return BusyError(
        f"{path} is there already; it was left as it is.",
        cause="another tool or operator is at work, or an entry was left behind",
        next_command="kadmin doctor, which says what it is; apply again when it is gone",
    )


def _stale(plan: ReassignmentPlan, state: ClusterState) -> list[KadminError]:
    stale = [
        target
        for target in plan.reassignments
        if target.current is not None and judge(target, state, published=False) is Progress.STALE
    ]
    if not stale:
        return []
    found = "; ".join(f"{w.partition} has {list(state.replicas(w.partition) or ())}" for w in stale[:3])
    return [
        StalePlanError(
            f"The plan is stale for {len(stale)} partitions: {name_some(w.partition for w in stale)}.",
            cause=f"their replicas are not the plan's current: {found}",
            next_command="make the plan again from the cluster as it is now",
        )
    ]


def _queued(topics: set[str], state: ClusterState) -> list[KadminError]:
    queued = sorted(topics & set(state.requests.deletions))
    if not queued:
        return []
    return [StalePlanError(f"Topics of the plan are being deleted: {name_some(queued)}.")]


def _refused(kind: type[KadminError], what: str, violations: Sequence[Violation]) -> tuple[KadminError, ...]:
    if not violations:
        return ()
    hints = [violation.hint for violation in violations if violation.hint]
    listed = name_some((violation.message for violation in violations), most=20)
    return (kind(f"{what}: {listed}", next_command=hints[0] if hints else None),)
