"""Apply and resume: from a plan or a record to a runner, under the lock, with the record whole before any wave."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.listening import Listening
from kadmin.cluster.reader import consumer_groups, read_cluster, require_kafka_cluster
from kadmin.cluster.znodes.admin import PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.documents import dump_json, parse_document, plan_digest
from kadmin.errors import (
    BusyError,
    InvalidInputError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
    UsageError,
)
from kadmin.operations import events
from kadmin.operations.actions import DeletionWork, ElectionWork, ReassignmentWork
from kadmin.operations.decide.common import deaf
from kadmin.operations.examine import Examination, examine
from kadmin.operations.listening import look
from kadmin.operations.lock import EXPIRY_GRACE_S, Holder, read_holder, release, take
from kadmin.operations.record import (
    Author,
    Kind,
    OperationRecord,
    OperationState,
    OperationStatus,
    TopicRecipe,
)
from kadmin.operations.runner import Runner
from kadmin.plan.diff import assignment_of
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.actions import Work
    from kadmin.operations.lock import Lease
    from kadmin.operations.record import Listing
    from kadmin.operations.runner import Desk
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an apply or resume came to: the operation (None when nothing was to do) and a sentence."""

    operation_id: str | None
    message: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """How long a command may take: `deadline` on the desk's clock (None: no end), and the wait for a held lock."""

    deadline: float | None
    lock_timeout_s: float


@dataclass(frozen=True, slots=True)
class Preview:
    """A plan examined on the live cluster before anything is written."""

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


def prepare(desk: Desk, plan: Plan, sizes: Mapping[TopicPartition, int]) -> Preview:
    """Read the whole cluster, examine the plan on it, and see whether the controller listens; nothing is written."""
    state, examination = _study(desk, plan, sizes)
    if unfinished := desk.journal.unfinished():
        examination = replace(examination, refusals=(_unfinished(unfinished), *examination.refusals))
    path = _watched_path(examination.work)
    if path is None or state.controller is None:
        return Preview(examination, None)
    listening = look(desk.store, path, state.controller, desk.clock)
    if listening is Listening.DEAF:
        examination = replace(examination, refusals=(*examination.refusals, deaf(path, probed=False)))
    return Preview(examination, listening)


def apply(desk: Desk, plan: Plan, sizes: Mapping[TopicPartition, int], bounds: Bounds) -> Outcome:
    """Execute a plan that `prepare` found fit: lock, look again, record, run, release."""
    now = desk.clock.timestamp()
    operation_id = f"{now.translate({ord(c): None for c in '-:'})}-{secrets.token_hex(3)}"
    holder = _holder(desk, operation_id, now)
    lease = take(desk.store, desk.paths, holder, desk.clock, bounds.lock_timeout_s)
    runner: Runner | None = None
    try:
        if unfinished := desk.journal.unfinished():
            raise _unfinished(unfinished)
        state, examination = _study(desk, plan, sizes)
        if examination.refusals:
            raise examination.refusals[0]
        if examination.work is None:
            return Outcome(None, "nothing to do")
        record = _record(plan, examination.work, state, holder, now)
        desk.journal.create(record, lease, now)
        desk.journal.prune(lease)
        desk.tell(events.Opened(operation_id))
        runner = Runner(desk, record, examination.work, holder, lease)
        return Outcome(operation_id, runner.run(bounds.deadline))
    finally:
        _release(desk, runner.lease if runner is not None else lease)


def find_unfinished(desk: Desk, operation_id: str | None) -> str | None:
    """Return the operation that `resume` would take over, None when there is nothing to resume."""
    require_kafka_cluster(desk.store)
    desk.store.sync("/")
    if operation_id is None:
        return _only_unfinished(desk.journal.unfinished())
    return None if desk.journal.status(operation_id).state.finished else operation_id


def resume(desk: Desk, operation_id: str | None, bounds: Bounds) -> Outcome:
    """Take an unfinished operation over; of a finished one only say so."""
    unfinished = find_unfinished(desk, operation_id)
    if unfinished is None:
        return _already_finished(desk, operation_id)
    operation_id = unfinished
    other = read_holder(desk.store, desk.paths)
    wait_s = bounds.lock_timeout_s + (other.session_timeout_s + EXPIRY_GRACE_S if other is not None else 0)
    holder = _holder(desk, operation_id, desk.clock.timestamp())
    lease = take(desk.store, desk.paths, holder, desk.clock, wait_s)
    runner: Runner | None = None
    try:
        status = desk.journal.status(operation_id)
        if status.state is OperationState.PREPARING:
            raise _discard(desk, operation_id, lease)
        if status.state.finished:  # its runner came to the end while we waited for the lock
            return _already_finished(desk, operation_id)
        record = desk.journal.record(operation_id)
        runner = Runner(desk, record, work_of(record), holder, lease)
        return Outcome(operation_id, runner.run(bounds.deadline))
    finally:
        _release(desk, runner.lease if runner is not None else lease)


def work_of(record: OperationRecord) -> Work:
    """Rebuild the work from a record alone: targets of the plan, currents of the origin."""
    plan = parse_document(record.plan_text.encode(), f"operation {record.operation_id}")
    if isinstance(plan, ReassignmentPlan):
        wishes = tuple(replace(wish, current=record.origin[wish.partition]) for wish in plan.reassignments)
        waves = tuple(tuple(wishes[position] for position in wave) for wave in record.waves)
        return ReassignmentWork(waves, wishes, plan.elect)
    if isinstance(plan, ElectionPlan):
        return ElectionWork(record.targets)
    if isinstance(plan, DeletionPlan):
        return DeletionWork(plan)
    raise InvalidInputError(f"Operation {record.operation_id} holds no plan that can be executed.")


def _study(desk: Desk, plan: Plan, sizes: Mapping[TopicPartition, int]) -> tuple[ClusterState, Examination]:
    if isinstance(plan, ReassignmentPlan) and plan.throttle_rate is not None:
        raise UsageError(
            "spec.throttle: this version of kadmin sets no throttles.",
            next_command="take spec.throttle out of the plan, or set the throttle with Kafka's own tools first",
        )
    require_kafka_cluster(desk.store)
    desk.store.sync("/")
    if not isinstance(plan, DeletionPlan):
        state = read_cluster(desk.store)
        return state, examine(plan, state, sizes=sizes)
    state = read_cluster(desk.store, with_configs=True)
    if not set(plan.topics) & set(state.topics) and _deleted_by_us(desk, plan.topics):
        return state, Examination((), None)
    return state, examine(plan, state, consumers=consumer_groups(desk.store, plan.topics))


def _watched_path(work: Work | None) -> str | None:
    if isinstance(work, ReassignmentWork):
        return REASSIGN_PARTITIONS if work.waves else None
    return PREFERRED_REPLICA_ELECTION if isinstance(work, ElectionWork) else None


def _already_finished(desk: Desk, operation_id: str | None) -> Outcome:
    if operation_id is None:
        return Outcome(None, "no operation is unfinished")
    status = desk.journal.status(operation_id)
    return Outcome(operation_id, f"already {status.state}: {status.message}")


def _deleted_by_us(desk: Desk, topics: tuple[str, ...]) -> bool:
    # A deletion that is applied a second time finds its topics gone; our own history says whether that was us.
    ours: set[str] = set()
    for listing in desk.journal.listings():
        if listing.kind is Kind.DELETION and listing.status.state is OperationState.COMPLETED:
            ours.update(recipe.topic for recipe in desk.journal.record(listing.operation_id).recipes)
    return set(topics) <= ours


def _record(plan: Plan, work: Work, state: ClusterState, holder: Holder, now: str) -> OperationRecord:
    record = OperationRecord(
        operation_id=holder.operation_id,
        kind=Kind.DELETION,
        plan_text=dump_json(plan),
        plan_digest=plan_digest(plan),
        cluster_id=state.cluster_id,
        created_at=now,
        author=holder.author,
        origin={},
    )
    if isinstance(work, ReassignmentWork):
        position = {wish.partition: index for index, wish in enumerate(work.wishes)}
        assignment = assignment_of(state)
        return replace(
            record,
            kind=Kind.REASSIGNMENT,
            origin={wish.partition: assignment[wish.partition] for wish in work.wishes},
            waves=tuple(tuple(position[wish.partition] for wish in wave) for wave in work.waves),
        )
    if isinstance(work, ElectionWork):
        return replace(record, kind=Kind.ELECTION, targets=work.targets)
    return replace(record, recipes=tuple(_recipe(topic, state) for topic in work.plan.topics))


def _recipe(topic: str, state: ClusterState) -> TopicRecipe:
    return TopicRecipe(topic, state.topics[topic].replicas, state.topic_configs.get(topic, {}))


def _holder(desk: Desk, operation_id: str, now: str) -> Holder:
    author = Author(_user(), socket.gethostname(), os.getpid())
    return Holder(author, operation_id, now, desk.store.session_timeout_s)


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name for this uid, as in many containers
        return str(os.getuid())


def _unfinished(unfinished: tuple[Listing, ...]) -> BusyError:
    first = unfinished[0]
    return BusyError(
        f"Operation {first.operation_id} ({first.kind}) is unfinished.",
        cause=f"started {first.created_at} by {first.author.user}@{first.author.host}",
        next_command=f"kadmin resume {first.operation_id}",
    )


def _only_unfinished(unfinished: tuple[Listing, ...]) -> str | None:
    if len(unfinished) > 1:
        names = ", ".join(listing.operation_id for listing in unfinished)
        raise InvalidInputError(f"Several operations are unfinished: {names}.", next_command="name one")
    return unfinished[0].operation_id if unfinished else None


def _discard(desk: Desk, operation_id: str, lease: Lease) -> NotCompletedError:
    status = OperationStatus(OperationState.DISCARDED, desk.clock.timestamp(), "its record was never whole")
    desk.journal.set_status(operation_id, status, lease)
    return NotCompletedError(
        f"Operation {operation_id} died before its record was whole; nothing was published, it is discarded.",
        next_command="kadmin apply FILE, again",
    )


def _release(desk: Desk, lease: Lease) -> None:
    # Best effort: the lock goes with our session anyway, and the error on its way out matters more.
    try:
        release(desk.store, desk.paths, lease)
    except (UnreachableError, UnknownOutcomeError):
        desk.tell(events.Noted("the lock could not be given back; it goes with the session"))
