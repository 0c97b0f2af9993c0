"""Apply: from a plan to a runner, under the lock, with the record whole before any wave."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.listening import Listening
from kadmin.cluster.zookeeper.reader import read_cluster, require_kafka_cluster
from kadmin.cluster.zookeeper.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.documents import dump_json, plan_digest
from kadmin.errors import BusyError
from kadmin.insight.diagnosis.health import health_of
from kadmin.operations.decide.actions import ElectionWork, ReassignmentWork, RecreationWork
from kadmin.operations.decide.common import deaf
from kadmin.operations.decide.examine import Examination, examine
from kadmin.operations.execute import events
from kadmin.operations.execute.holding import give_back, new_holder, new_operation_id
from kadmin.operations.execute.runner import Runner
from kadmin.operations.reading.brokers import usage_of
from kadmin.operations.record.record import OperationKind, OperationRecord, OperationState
from kadmin.operations.throttles.operation import record_throttle
from kadmin.operations.zookeeper.configs import crowded
from kadmin.operations.zookeeper.listening import look
from kadmin.operations.zookeeper.lock import take
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import DeletionPlan, TopicRecipe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Work
    from kadmin.operations.execute.runner import Context
    from kadmin.operations.record.record import Listing
    from kadmin.operations.zookeeper.lock import Holder
    from kadmin.plan.model import Plan, Policy


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an apply or resume came to: the operation (None when nothing was to do) and a sentence."""

    operation_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a command may take: `deadline` on the context's clock (None: no end), and the wait for a held lock."""

    deadline: float | None
    lock_timeout_s: float


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan examined on the live cluster, in the state that was read, before anything is written."""

    state: ClusterState
    examination: Examination
    listening: Listening | None

    def settled(self, *, dry_run: bool) -> Outcome | None:
        """Return the outcome where there is nothing (more) to do, raise the first refusal, None: go on."""
        if self.examination.refusals:
            raise self.examination.refusals[0]
        if self.examination.work is None:
            return Outcome(None, "nothing to do")
        if not dry_run:
            return None
        heard = "yes" if self.listening is Listening.LISTENING else "not checked"
        return Outcome(None, f"dry run: nothing was changed; controller listening: {heard}")


def prepare(context: Context, plan: Plan, sizes: Mapping[TopicPartition, int], policy: Policy | None = None) -> Preview:
    """Read the whole cluster, examine the plan on it, and see whether the controller listens; nothing is written."""
    state, examination = _study(context, plan, sizes, policy)
    if examination.throttle is not None and (many := crowded(context.store)):
        examination = replace(examination, refusals=(*examination.refusals, many))
    if unfinished := context.journal.unfinished():
        examination = replace(examination, refusals=(_unfinished(unfinished), *examination.refusals))
    path = _watched_path(examination.work)
    if path is None or state.controller is None:
        return Preview(state, examination, None)
    listening = look(context.store, path, state.controller, context.clock)
    if listening is Listening.DEAF:
        examination = replace(examination, refusals=(*examination.refusals, deaf(path, probed=False)))
    return Preview(state, examination, listening)


def apply(
    context: Context, plan: Plan, sizes: Mapping[TopicPartition, int], bounds: Bounds, policy: Policy | None = None
) -> Outcome:
    """Execute a plan that `prepare` found fit: lock, look again, record, run, release."""
    now = context.clock.timestamp()
    operation_id = new_operation_id(now)
    holder = new_holder(context, operation_id, now)
    lease = take(context.store, context.paths, holder, context.clock, bounds.lock_timeout_s)
    runner: Runner | None = None
    try:
        _stop_if_asked(context)
        if unfinished := context.journal.unfinished():
            raise _unfinished(unfinished)
        state, examination = _study(context, plan, sizes, policy)
        if examination.refusals:
            raise examination.refusals[0]
        if examination.work is None:
            return Outcome(None, "nothing to do")
        record = _record(plan, examination.work, state, holder, now)
        record = replace(record, throttle=record_throttle(context.store, examination.throttle))
        _stop_if_asked(context)
        context.journal.create(record, lease, now)
        context.journal.prune(lease)
        context.tell(events.Opened(operation_id))
        runner = Runner(context, record, examination.work, holder, lease)
        return Outcome(operation_id, runner.run(bounds.deadline))
    finally:
        give_back(context, runner.lease if runner is not None else lease)


def _stop_if_asked(context: Context) -> None:
    context.clock.stop_if_asked("nothing was recorded or published", "kadmin apply FILE, again")


def _study(
    context: Context, plan: Plan, sizes: Mapping[TopicPartition, int], policy: Policy | None
) -> tuple[ClusterState, Examination]:
    context.store.sync("/")
    require_kafka_cluster(context.store)
    state = read_cluster(context.store, with_configs=True)
    facts = ClusterFacts(sizes=sizes)
    if isinstance(plan, DeletionPlan):
        if not set(plan.topics) & set(state.topics) and _deleted_by_us(context, plan.topics):
            return state, Examination((), None)
        facts = usage_of(context.store, state, plan.topics, sizes or None)
    return state, examine(plan, state, facts, policy)


def _watched_path(work: Work | None) -> str | None:
    if isinstance(work, ReassignmentWork):
        return REASSIGN_PARTITIONS if work.waves else None
    return PREFERRED_REPLICA_ELECTION if isinstance(work, ElectionWork) else None


def _deleted_by_us(context: Context, topics: tuple[str, ...]) -> bool:
    # A deletion that is applied a second time finds its topics gone; our own history says whether that was us.
    ours: set[str] = set()
    for listing in context.journal.listings():
        if listing.kind is OperationKind.DELETION and listing.status.state is OperationState.COMPLETED:
            ours.update(recipe.topic for recipe in context.journal.record(listing.operation_id).recipes)
    return set(topics) <= ours


def _record(plan: Plan, work: Work, state: ClusterState, holder: Holder, now: str) -> OperationRecord:
    record = OperationRecord(
        operation_id=holder.operation_id,
        kind=OperationKind.DELETION,
        plan_text=dump_json(plan),
        plan_digest=plan_digest(plan),
        cluster_id=state.cluster_id,
        created_at=now,
        author=holder.author,
        origin={},
    )
    if isinstance(work, ReassignmentWork):
        position = {target.partition: index for index, target in enumerate(work.targets)}
        assignment = state.assignment
        return replace(
            record,
            kind=OperationKind.REASSIGNMENT,
            origin={target.partition: assignment[target.partition] for target in work.targets},
            waves=tuple(tuple(position[target.partition] for target in wave) for wave in work.waves),
            health=health_of(state),
        )
    if isinstance(work, ElectionWork):
        return replace(record, kind=OperationKind.ELECTION, targets=work.targets)
    if isinstance(work, RecreationWork):
        return replace(record, kind=OperationKind.RECREATION, recipes=work.plan.recipes)
    return replace(record, recipes=tuple(_recipe(topic, state) for topic in work.plan.topics))


def _recipe(topic: str, state: ClusterState) -> TopicRecipe:
    return TopicRecipe(topic, state.topics[topic].replicas, state.topic_configs.get(topic, {}))


def _unfinished(unfinished: tuple[Listing, ...]) -> BusyError:
    first, name = unfinished[0], unfinished[0].operation_id
    return BusyError(
        f"Operation {first.operation_id} ({first.kind}) is unfinished.",
        cause=f"started {first.created_at} by {first.author.user}@{first.author.host}",
        next_command="kadmin heal"
        if first.kind is OperationKind.HEAL
        else f"kadmin resume {name}, or kadmin cancel {name}",
    )
