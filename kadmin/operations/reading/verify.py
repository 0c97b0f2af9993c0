"""Reads the progress of a plan from the cluster, and the list of operations on record."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.documents.dump import plan_digest
from kadmin.operations import events
from kadmin.operations.decide.kinds import kind_of, spec_of
from kadmin.operations.decide.reassignment import ReassignmentWork, published_targets
from kadmin.operations.decide.spec import PlanHistory
from kadmin.operations.reading.directories import read_directories
from kadmin.operations.record.record import OperationState
from kadmin.plan.model import ReassignmentPlan
from kadmin.plan.progress import Progress
from kadmin.plan.rules import other_cluster, require

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.context import Context
    from kadmin.operations.decide.spec import Verdict
    from kadmin.operations.record.record import Listing, OperationRecord
    from kadmin.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Verification:
    """The progress of a plan."""

    verdicts: tuple[Verdict, ...]

    @property
    def done(self) -> bool:
        """Whether every subject is done."""
        return all(verdict.progress is Progress.DONE for verdict in self.verdicts)


def verify(context: Context, plan: Plan) -> Verification:
    """Judge every partition or topic of a plan by the assignment and the partition state."""
    context.backend.check()
    kind = kind_of(plan)
    state = context.backend.read(kind.scope(plan))
    require(other_cluster(plan, state.cluster_id))
    history = _published(context, plan)
    if isinstance(plan, ReassignmentPlan) and plan.names_directories:
        with closing(context.backend.brokers(state)) as brokers:
            found, unknown = read_directories(brokers, plan.reassignments, state)
        for text in unknown:
            context.tell(events.Note(f"log directories are not known: {text}"))
        history = replace(history, directories=found)
    return Verification(tuple(kind.verdicts(plan, state, history)))


def history(context: Context) -> tuple[Listing, ...]:
    """Read every operation on record, oldest first; in KRaft mode no controller is asked."""
    context.operations.lock.sync()
    return context.operations.listings()


def _published(context: Context, plan: Plan) -> PlanHistory:
    digest = plan_digest(plan)
    listings = [
        listing
        for listing in context.operations.listings()
        if listing.plan_digest == digest and listing.status.state is not OperationState.PREPARING
    ]
    records = [context.operations.record(listing.operation_id) for listing in listings]
    origin = {
        partition: replicas for record in records for partition, replicas in record.origin.items()
    }
    partitions = frozenset(each for record in records for each in _partitions(context, record))
    cancelled = bool(listings) and listings[-1].status.state is OperationState.CANCELLED
    return PlanHistory(origin, partitions, cancelled)


def _partitions(context: Context, record: OperationRecord) -> set[TopicPartition]:
    steps = context.operations.steps(record.operation_id)
    work = spec_of(record, steps)
    if not isinstance(work, ReassignmentWork):
        return set()
    return {target.partition for target in published_targets(work, steps)}
