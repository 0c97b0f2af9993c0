"""Applies a plan: takes the lock, writes the whole record, runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from kadmin.cluster.model import Listening
from kadmin.errors import BusyError, NotCompletedError, StalePlanError
from kadmin.insight.predict.stop import judge_stop
from kadmin.next_step import command
from kadmin.operations.decide.common import not_watching
from kadmin.operations.decide.examination import Examination
from kadmin.operations.decide.examine import examine, with_ending
from kadmin.operations.decide.kinds import kind_of, record_of
from kadmin.operations.decide.record_topic import vacated_brokers
from kadmin.operations.decide.recovery_by_config import ConfigRecoveryWork
from kadmin.operations.decide.recovery_plan import IMPATIENT_S, awaited_lately
from kadmin.operations.execute.losses import with_high_watermarks
from kadmin.operations.execute.runner import Runner
from kadmin.operations.reading.brokers import (
    refused_credentials,
    with_disks,
    with_elections,
    with_guards,
)
from kadmin.operations.reading.growth import with_readers
from kadmin.operations.reading.late_requests import late_requests
from kadmin.operations.reading.listening import listening_of
from kadmin.operations.reading.stop import read_stops
from kadmin.operations.reading.tiers import with_tiers
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.session import held
from kadmin.operations.throttles.changes import record_throttle
from kadmin.plan.model import (
    DecommissionPlan,
    DeletionPlan,
    GrowthPlan,
    MaintenancePlan,
    ReassignmentPlan,
    RecoveryPlan,
)
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.errors import KadminError
    from kadmin.insight.diagnosis.operations import LateRequest
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.port import Backend
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing
    from kadmin.plan.copying import Throttle
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.model import Plan, Policy, ThrottleSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of an apply or resume: the operation (None: nothing to do) and a sentence."""

    operation_id: Annotated[str | None, "Id of the operation; null when there was nothing to do."]
    message: Annotated[str, "The result in a sentence."]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run beside its plan: `throttle` replaces the plan's own.

    `leaves`: outside the hours of the plan the run ends, and the operation is paused.
    """

    throttle: ThrottleSpec | None = None
    leaves: bool = False


DEFAULTS = RunOptions()


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan examined on the live cluster, before anything is written."""

    state: ClusterState
    facts: ClusterFacts
    examination: Examination
    listening: Listening | None

    def settled(self, *, dry_run: bool) -> Outcome | None:
        """Return the outcome where there is nothing more to do, else None.

        Raises the first refusal.
        """
        if (refusal := self.examination.refusal) is not None:
            raise refusal
        if self.examination.work is None:
            return Outcome(None, "nothing to do")
        if not dry_run:
            return None
        asked = (
            "" if self.listening is Listening.LISTENING else "; controller listening: not checked"
        )
        return Outcome(None, f"dry run: nothing was changed{asked}")


def prepare(
    context: Context,
    plan: Plan,
    given: ClusterFacts,
    policy: Policy | None = None,
    throttle: ThrottleSpec | None = None,
) -> Preview:
    """Read the cluster, examine the plan, and check that the controller watches its znodes.

    Nothing is written. `given` are facts from files; brokers are asked for other facts that the
    plan needs. `throttle` replaces the plan's own.
    """
    state, facts, examination = _study(context, with_throttle(plan, throttle), given, policy)
    refusals = [
        *unrecordable(context),
        *examination.refusals,
        *unexecutable(context.backend, examination.work, examination.throttle),
    ]
    channel = None if examination.work is None else examination.work.channel
    listening = None
    if channel is not None and state.controller is not None:
        listening = listening_of(context.backend, channel, state)
    if channel is not None and listening is Listening.DEAF:
        refusals.append(not_watching(context.backend.channel_name(channel), probed=False))
    return Preview(state, facts, replace(examination, refusals=tuple(refusals)), listening)


def apply(
    context: Context,
    plan: Plan,
    given: ClusterFacts,
    lock_timeout_s: float,
    policy: Policy | None = None,
    options: RunOptions = DEFAULTS,
) -> Outcome:
    """Execute a plan: lock, read and examine again, record, run, release; `given` as in `prepare`.

    The record has the unchanged plan, so that `verify` finds it.
    """
    with held(context, context.new_holder(), lock_timeout_s, _to_avoid(context, plan)) as session:
        _stop_if_asked(context)
        if unfinished := context.operations.unfinished():
            raise unfinished_error(unfinished, None)
        state, _, examination = _study(
            context, with_throttle(plan, options.throttle), given, policy
        )
        if (refusal := examination.refusal) is not None:
            raise refusal
        if examination.work is None:
            return Outcome(None, "nothing to do")
        record = record_of(kind_of(plan), plan, examination.work, state, session.holder)
        change = examination.change
        record = replace(
            record,
            throttle=record_throttle(context.backend, examination.throttle),
            to_copy_bytes=None if change is None else change.moved_bytes,
            log_dirs={} if change is None else change.first_directories,
        )
        record, warning = with_high_watermarks(context, record, state)
        _stop_if_asked(context)
        session.begin(record, leaves=options.leaves)
        runner = Runner(session, record, leaves=options.leaves)
        return Outcome(record.operation_id, runner.run(state, warning))


def unrecordable(context: Context) -> Iterator[KadminError]:
    """Yield the errors that prevent an operation's record: an unfinished one, an unsafe store."""
    if unfinished := context.operations.unfinished():
        yield unfinished_error(unfinished, context.operations.lock.holder())
    try:
        context.operations.lock.to_create()
    except NotCompletedError as unsafe:
        yield unsafe


def unexecutable(
    backend: Backend, work: OperationSpec | None, throttle: Throttle | None
) -> Iterator[KadminError]:
    """Yield the errors of a store of metadata that would accept requests without an effect."""
    store = backend.metadata_store
    if store is None:
        return
    changes_configs = throttle is not None or isinstance(work, ConfigRecoveryWork)
    if changes_configs and (backlog := store.config_backlog()):
        yield backlog
    if work is not None and (
        denied := store.denied(work, () if throttle is None else throttle.values)
    ):
        yield denied


def _to_avoid(context: Context, plan: Plan) -> frozenset[int]:
    """Return the brokers that the plan vacates: they get no replica of lock and record's topic."""
    if not isinstance(plan, ReassignmentPlan) or not context.operations.lock.to_create():
        return frozenset()
    if isinstance(plan, DecommissionPlan):
        return frozenset(plan.brokers)
    state = context.backend.read({target.partition.topic for target in plan.reassignments})
    return vacated_brokers(plan.reassignments, state)


def with_throttle(plan: Plan, throttle: ThrottleSpec | None) -> Plan:
    """Return a plan as it is executed with another throttle, None for its own."""
    return (
        plan
        if throttle is None or not isinstance(plan, ReassignmentPlan | MaintenancePlan)
        else plan.throttled_at(throttle)
    )


def _stop_if_asked(context: Context) -> None:
    context.clock.stop_if_asked("nothing was recorded or published", command("apply", "FILE"))


def _study(
    context: Context, plan: Plan, given: ClusterFacts, policy: Policy | None
) -> tuple[ClusterState, ClusterFacts, Examination]:
    context.backend.check()
    state = context.backend.read(with_configs=True)
    given = replace(given, signals=context.signals)
    if given.cluster_id is not None and given.cluster_id != state.cluster_id:
        raise StalePlanError(
            f"The snapshot is of cluster {given.cluster_id}, this is cluster {state.cluster_id}.",
            next_step=command("snapshot", "--out", "DIR"),
        )
    facts = given
    refused: KadminError | None = None
    if isinstance(plan, DeletionPlan):
        if not set(plan.topics) & set(state.topics) and _deleted_by_us(context, plan.topics):
            return state, given, Examination((), None)
        facts = with_guards(given, context.backend, state, plan.topics)
        facts = with_tiers(facts, state, context.backend.brokers(state), plan.topics)
        refused = refused_credentials(context.backend, state)
    elif isinstance(plan, GrowthPlan):
        facts = with_readers(given, context.backend, state, plan.names)
        refused = refused_credentials(context.backend, state)
    elif isinstance(plan, ReassignmentPlan) and _changes(plan, state):
        facts = with_disks(given, state, context.backend.brokers(state))
        topics = {target.partition.topic for target in plan.reassignments}
        facts = with_tiers(facts, state, context.backend.brokers(state), sorted(topics))
        refused = refused_credentials(context.backend, state)
    elif isinstance(plan, MaintenancePlan):
        refused = refused_credentials(context.backend, state) or _unsafe(context, plan)
    elif isinstance(plan, RecoveryPlan):
        facts = with_elections(given, context.backend, state)
        refused = refused_credentials(context.backend, state) or _unready(context, plan, state)
    examination = examine(plan, state, context.backend.capabilities.publish, facts, policy)
    examination = with_ending(examination, context.clock.utc())
    if refused is not None:
        examination = replace(examination, refusals=(refused, *examination.refusals))
    # A target that is reached is judged like any other assignment: it is the plan's target, or the
    # plan is stale.
    if late := tuple(each for each in late_requests(context, state) if each.last is None):
        examination = replace(examination, refusals=(_late(late), *examination.refusals))
    return state, facts, examination


def _unsafe(context: Context, plan: MaintenancePlan) -> NotCompletedError | None:
    """Return the error that names why the brokers of the first round may not be stopped now."""
    brokers = plan.rounds[0].brokers
    found = judge_stop(read_stops(context).evidence, brokers, plan.margin)
    if found.safe:
        return None
    ids = [str(each) for each in found.brokers]
    return NotCompletedError(
        f"{brokers_in_words(brokers).capitalize()} may not be stopped now: {found.why_not}.",
        cause="; ".join(
            f"{each.partition}: {each.because}" if each.partition else each.because
            for each in found.obstacles[:3]
        ),
        next_step=command("broker check", *ids, "--stop") + ", which names each partition",
    )


def _unready(context: Context, plan: RecoveryPlan, state: ClusterState) -> NotCompletedError | None:
    """Return the error of a recovery while a broker may be back soon that leads without a loss."""
    brokers = awaited_lately(plan, state, context.clock.utc())
    if not brokers:
        return None
    named = brokers_in_words(brokers)
    return NotCompletedError(
        f"{named.capitalize()} may be back soon, and would lead without a loss.",
        cause=f"dead for {IMPATIENT_S / 60:g} minutes at least is not proved: the plan was made "
        f"at {plan.looked_at or 'an unknown time'}",
        next_step=f"start {named}, or apply later; or set spec.allow.impatient: true",
    )


def _late(late: tuple[LateRequest, ...]) -> BusyError:
    return BusyError(
        "Requests of finished operations, never answered, were applied late and reassign: "
        f"{name_some(late)}.",
        next_step=command("cancel", "--foreign")
        + ", which takes them back; then "
        + command("apply", "FILE"),
    )


def _changes(plan: ReassignmentPlan, state: ClusterState) -> bool:
    return plan.names_directories or any(
        each.replicas != state.replicas(each.partition) for each in plan.reassignments
    )


def _deleted_by_us(context: Context, topics: tuple[str, ...]) -> bool:
    # When a deletion is applied again its topics are gone; the history shows whether kadmin deleted
    # them.
    completed = [
        listing
        for listing in context.operations.listings()
        if listing.kind is OperationKind.DELETION
        and listing.status.state is OperationState.COMPLETED
    ]
    records = context.read_each(
        completed, lambda each: context.operations.record(each.operation_id)
    )
    return set(topics) <= {recipe.topic for record in records.values() for recipe in record.recipes}


def unfinished_error(unfinished: tuple[Listing, ...], holder: Holder | None) -> BusyError:
    """Build the error for operations that are unfinished; `holder` is that of the lock."""
    first = unfinished[0]
    name, cause = first.operation_id, f"started {first.created_at} by {first.author}"
    heals = first.kind is OperationKind.HEAL
    next_step = (
        command("heal") if heals else command("resume", name) + ", or " + command("cancel", name)
    )
    if is_run_by(name, holder):
        cause, next_step = f"runner {holder} is at work", command("status")
    return BusyError(
        f"Operation {name} ({first.kind}) is unfinished.", cause=cause, next_step=next_step
    )
