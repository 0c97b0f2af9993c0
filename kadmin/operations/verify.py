"""Verify and status: how far a plan or an operation is, read from the cluster; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.reader import read_cluster, require_kafka_cluster
from kadmin.documents import plan_digest
from kadmin.errors import StalePlanError
from kadmin.operations.actions import Memory, Observed, ReassignmentWork
from kadmin.operations.lock import read_holder
from kadmin.operations.progress import tally, topics_of
from kadmin.operations.record import Kind, OperationState, StepKind
from kadmin.operations.work import work_of
from kadmin.plan.election import obstacle, off_preferred, scope_of
from kadmin.plan.model import ElectionPlan, ReassignmentPlan, RecreationPlan
from kadmin.plan.progress import Progress, judge
from kadmin.plan.recreation import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.lock import Holder
    from kadmin.operations.progress import Tally
    from kadmin.operations.record import Listing, OperationRecord
    from kadmin.operations.runner import Desk
    from kadmin.plan.model import DeletionPlan, Plan, Reassignment


@dataclass(frozen=True, slots=True)
class Verdict:
    """One topic, or one of its partitions, and how far it is; `detail` says what was seen where it is not done."""

    topic: str
    partition: int | None
    progress: Progress
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """A plan against the cluster."""

    verdicts: tuple[Verdict, ...]

    @property
    def done(self) -> bool:
        """Whether every subject is done."""
        return all(verdict.progress is Progress.DONE for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class Status:
    """The unfinished operations with their progress (None where there is none to tell), and who holds the lock."""

    operations: tuple[tuple[Listing, Tally | None], ...]
    holder: Holder | None


def verify(desk: Desk, plan: Plan) -> Verification:
    """Judge every partition or topic of a plan by the assignment and the partition state."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    if isinstance(plan, ElectionPlan) and plan.all_partitions:
        state = read_cluster(desk.store)
    else:
        state = read_cluster(desk.store, _topics(plan))
    if plan.header.cluster_id not in {None, state.cluster_id}:
        raise StalePlanError(f"The plan is for cluster {plan.header.cluster_id}, this is cluster {state.cluster_id}.")
    if isinstance(plan, ReassignmentPlan):
        return Verification(tuple(_reassigned(desk, plan, state)))
    if isinstance(plan, ElectionPlan):
        return Verification(tuple(_elected(plan, state)))
    if isinstance(plan, RecreationPlan):
        return Verification(tuple(_recreated(plan, state)))
    return Verification(tuple(_deleted(plan, state)))


def status(desk: Desk) -> Status:
    """Read every unfinished operation and how far the cluster is with it."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    found = tuple((listing, _tally(desk, listing)) for listing in desk.journal.unfinished())
    return Status(found, read_holder(desk.store, desk.paths))


def history(desk: Desk) -> tuple[Listing, ...]:
    """Read every operation on record, oldest first."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    return desk.journal.listings()


def _topics(plan: Plan) -> set[str]:
    if isinstance(plan, ReassignmentPlan):
        return {wish.partition.topic for wish in plan.reassignments}
    if isinstance(plan, ElectionPlan):
        return {partition.topic for partition in plan.partitions} | set(plan.topics)
    return set(plan.topics)


def _reassigned(desk: Desk, plan: ReassignmentPlan, state: ClusterState) -> Iterable[Verdict]:
    digest = plan_digest(plan)
    records = [desk.journal.record(found.operation_id) for found in _executed(desk, digest)]
    published = {partition for record in records for partition in _published(desk, record)}
    origin = {partition: replicas for record in records for partition, replicas in record.origin.items()}
    for wish in plan.reassignments:
        known = wish if wish.current is not None else replace(wish, current=origin.get(wish.partition))
        progress = judge(known, state, published=wish.partition in published)
        yield Verdict(*_key(wish.partition), progress, "" if progress is Progress.DONE else _seen(wish, state))


def _executed(desk: Desk, digest: str) -> list[Listing]:
    return [
        listing
        for listing in desk.journal.listings()
        if listing.plan_digest == digest and listing.status.state is not OperationState.PREPARING
    ]


def _published(desk: Desk, record: OperationRecord) -> set[TopicPartition]:
    work = work_of(record)
    steps = desk.journal.steps(record.operation_id)
    waves = {step.wave for step in steps if step.kind is StepKind.WAVE}
    if not isinstance(work, ReassignmentWork):
        return set()
    return {wish.partition for index in waves if index is not None for wish in work.waves[index]}


def _key(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition


def _seen(wish: Reassignment, state: ClusterState) -> str:
    replicas, found = state.replicas(wish.partition), state.states.get(wish.partition)
    if replicas is None:
        return "no such partition"
    isr = "no state" if found is None else f"ISR {list(found.isr)}, leader {found.leader}"
    return f"replicas {list(replicas)}, wanted {list(wish.target)}, {isr}"


def _elected(plan: ElectionPlan, state: ClusterState) -> Iterable[Verdict]:
    absent = [topic for topic in plan.topics if topic not in state.topics]
    for topic in absent:
        yield Verdict(topic, None, Progress.STALE, "no such topic")
    targets = scope_of(replace(plan, topics=tuple(t for t in plan.topics if t not in absent)), state)
    off = set(off_preferred(targets, state))
    for partition in targets:
        if partition in off:
            reason = obstacle(partition, state) or "its preferred replica can lead, and does not"
            yield Verdict(*_key(partition), Progress.WAITING, reason)
        else:
            yield Verdict(*_key(partition), Progress.DONE)


def _recreated(plan: RecreationPlan, state: ClusterState) -> Iterable[Verdict]:
    for recipe in plan.recipes:
        topic = state.topics.get(recipe.topic)
        if topic is None:
            yield Verdict(recipe.topic, None, Progress.WAITING, "no such topic")
        elif topic.replicas != recipe.replicas:
            yield Verdict(recipe.topic, None, Progress.STALE, "its assignment is not the recipe's")
        elif not is_whole(recipe, state):
            yield Verdict(recipe.topic, None, Progress.RUNNING, "not every partition has a leader")
        else:
            yield Verdict(recipe.topic, None, Progress.DONE)


def _deleted(plan: DeletionPlan, state: ClusterState) -> Iterable[Verdict]:
    for topic in plan.topics:
        if topic in state.admin.deletions:
            yield Verdict(topic, None, Progress.RUNNING, "queued in /admin/delete_topics")
        elif topic in state.topics:
            yield Verdict(topic, None, Progress.WAITING, "the topic is there")
        else:
            yield Verdict(topic, None, Progress.DONE)


def _tally(desk: Desk, listing: Listing) -> Tally | None:
    if listing.status.state is OperationState.PREPARING or listing.kind is Kind.HEAL:
        return None
    work = work_of(desk.journal.record(listing.operation_id))
    if isinstance(work, ReassignmentWork):
        work = replace(work, waves=(work.wishes,))
    return tally(work, Observed(read_cluster(desk.store, topics_of(work)), ()), Memory())
