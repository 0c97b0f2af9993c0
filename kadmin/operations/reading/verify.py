"""Verify and status: how far a plan or an operation is, read from the cluster; nothing is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.reader import read_cluster, require_kafka_cluster
from kadmin.documents import plan_digest
from kadmin.operations.decide.actions import Memory, Observed, ReassignmentWork
from kadmin.operations.execute.progress import tally, topics_of
from kadmin.operations.record.record import OperationKind, OperationState, StepKind
from kadmin.operations.record.work import work_of
from kadmin.operations.zookeeper.lock import read_holder
from kadmin.plan.election import obstacle, off_preferred, scope_of
from kadmin.plan.model import ElectionPlan, ReassignmentPlan, RecreationPlan
from kadmin.plan.progress import Progress, judge
from kadmin.plan.recreation import is_whole
from kadmin.plan.rules import other_cluster, require

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.execute.progress import Tally
    from kadmin.operations.execute.runner import Context
    from kadmin.operations.record.record import Listing, OperationRecord
    from kadmin.operations.zookeeper.lock import Holder
    from kadmin.plan.model import DeletionPlan, PartitionTarget, Plan


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


def verify(context: Context, plan: Plan) -> Verification:
    """Judge every partition or topic of a plan by the assignment and the partition state."""
    context.store.sync("/")
    require_kafka_cluster(context.store)
    if isinstance(plan, ElectionPlan) and plan.all_partitions:
        state = read_cluster(context.store)
    else:
        state = read_cluster(context.store, _topics(plan))
    require(other_cluster(plan, state.cluster_id))
    if isinstance(plan, ReassignmentPlan):
        return Verification(tuple(_reassigned(context, plan, state)))
    if isinstance(plan, ElectionPlan):
        return Verification(tuple(_elected(plan, state)))
    if isinstance(plan, RecreationPlan):
        return Verification(tuple(_recreated(plan, state)))
    return Verification(tuple(_deleted(plan, state)))


def status(context: Context) -> Status:
    """Read every unfinished operation and how far the cluster is with it."""
    context.store.sync("/")
    require_kafka_cluster(context.store)
    found = tuple((listing, _tally(context, listing)) for listing in context.journal.unfinished())
    return Status(found, read_holder(context.store, context.paths))


def history(context: Context) -> tuple[Listing, ...]:
    """Read every operation on record, oldest first."""
    context.store.sync("/")
    require_kafka_cluster(context.store)
    return context.journal.listings()


def _topics(plan: Plan) -> set[str]:
    if isinstance(plan, ReassignmentPlan):
        return {target.partition.topic for target in plan.reassignments}
    if isinstance(plan, ElectionPlan):
        return {partition.topic for partition in plan.partitions} | set(plan.topics)
    return set(plan.topics)


def _reassigned(context: Context, plan: ReassignmentPlan, state: ClusterState) -> Iterable[Verdict]:
    digest = plan_digest(plan)
    records = [context.journal.record(found.operation_id) for found in _executed(context, digest)]
    published = {partition for record in records for partition in _published(context, record)}
    origin = {partition: replicas for record in records for partition, replicas in record.origin.items()}
    for target in plan.reassignments:
        known = target if target.current is not None else replace(target, current=origin.get(target.partition))
        progress = judge(known, state, published=target.partition in published)
        yield Verdict(*_key(target.partition), progress, "" if progress is Progress.DONE else _seen(target, state))


def _executed(context: Context, digest: str) -> list[Listing]:
    return [
        listing
        for listing in context.journal.listings()
        if listing.plan_digest == digest and listing.status.state is not OperationState.PREPARING
    ]


def _published(context: Context, record: OperationRecord) -> set[TopicPartition]:
    work = work_of(record)
    steps = context.journal.steps(record.operation_id)
    waves = {step.wave for step in steps if step.kind is StepKind.WAVE}
    if not isinstance(work, ReassignmentWork):
        return set()
    return {target.partition for index in waves if index is not None for target in work.waves[index]}


def _key(partition: TopicPartition) -> tuple[str, int]:
    return partition.topic, partition.partition


def _seen(target: PartitionTarget, state: ClusterState) -> str:
    replicas, found = state.replicas(target.partition), state.states.get(target.partition)
    if replicas is None:
        return "no such partition"
    isr = "no state" if found is None else f"ISR {list(found.isr)}, leader {found.leader}"
    return f"replicas {list(replicas)}, wanted {list(target.replicas)}, {isr}"


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


def _tally(context: Context, listing: Listing) -> Tally | None:
    if listing.status.state is OperationState.PREPARING or listing.kind is OperationKind.HEAL:
        return None
    work = work_of(context.journal.record(listing.operation_id))
    if isinstance(work, ReassignmentWork):
        work = replace(work, waves=(work.targets,))
    return tally(work, Observed(read_cluster(context.store, topics_of(work)), ()), Memory())
