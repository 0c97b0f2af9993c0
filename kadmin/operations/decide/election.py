"""Rules of a preferred leader election.

Controllers delete the node after one pass, successful or not. So only partitions that can succeed
are requested (preferred replica alive and in the ISR), in batches, and the outcome is read from
each partition's state, which is written before the node is deleted.

===================================================  ========================================
seen                                                 action
===================================================  ========================================
our node or probe, past the pickup deadline          Finish: not picked up, can be resumed
our node or probe                                    Wait
any other node                                       Finish: busy, can be resumed
partitions that can be elected, requested < 3 times  AskListening, then PublishElection
nothing left to request                              Finish with what is not led as preferred
===================================================  ========================================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    ELECTION_ATTEMPTS,
    ELECTION_BATCH,
    Finish,
    PublishElection,
    failed,
)
from kadmin.operations.decide.common import (
    awaiting_pickup,
    before_publish,
    foreign_request,
    not_picked_up,
    overdue,
    probe_unanswered,
)
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind, Verdict
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import Channel, ElectionStep, ProbeStep, refused_by_cluster
from kadmin.plan.election import electable, leaders_elected, obstacle, off_preferred, scope_of
from kadmin.plan.model import ElectionPlan
from kadmin.plan.progress import Progress
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.decide.spec import PlanHistory


@dataclass(frozen=True, slots=True)
class ElectionWork(ListedOperationSpec):
    """An election as recorded: every partition that the plan names."""

    targets: tuple[TopicPartition, ...]
    channel = Channel.ELECTION

    def listed(self) -> tuple[TopicPartition, ...]:
        """Return the partitions of the election."""
        return self.targets

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the election."""
        success = f"{count(len(self.targets), 'partition')} led as preferred"
        return elect_scope(self.targets, observed, memory, now) or election_result(
            self.targets, observed, success
        )

    def in_flight(self, observed: Observed, _memory: Memory) -> bool:
        """Whether a request is pending."""
        return observed.state.requests.election is not None

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the partitions that are not led by their preferred replica."""
        return tuple(map(str, off_preferred(self.targets, state)))


def elect_scope(
    scope: Sequence[TopicPartition], observed: Observed, memory: Memory, now: float
) -> Action | None:
    """Return the next action of the election of these partitions.

    It is None where nothing more can be requested.
    """
    pending = observed.state.requests.election
    last = observed.steps[-1] if observed.steps else None
    if pending is not None:
        probing = isinstance(last, ProbeStep) and pending.probe
        electing = (
            isinstance(last, ElectionStep)
            and pending.entries is not None
            and set(pending.entries) == set(last.partitions)
        )
        if not (probing or electing):
            return foreign_request(pending.channel_name)
        if overdue(memory, now):
            return (probe_unanswered if probing else not_picked_up)(pending.channel_name)
        reason = "the controller has not answered the probe yet" if probing else "electing"
        return awaiting_pickup(reason, memory, now)
    asked = Counter(
        p for step in observed.steps if isinstance(step, ElectionStep) for p in step.partitions
    )
    # A preferred replica that failed meanwhile may be back: it is requested again, after all
    # others.
    wanted = [
        partition
        for partition in electable(scope, observed.state)
        if asked[partition] < ELECTION_ATTEMPTS
    ]
    wanted.sort(key=asked.__getitem__)
    if not wanted:
        return None
    batch = tuple(wanted[:ELECTION_BATCH])
    return before_publish(Channel.ELECTION, observed, memory) or PublishElection(batch)


def election_result(scope: Sequence[TopicPartition], observed: Observed, success: str) -> Finish:
    """Judge the outcome from each partition's state."""
    off = off_preferred(scope, observed.state)
    if not off:
        return Finish(OperationState.COMPLETED, success)
    refused = refused_by_cluster(observed.steps)
    reasons = "; ".join(
        f"{partition}: {obstacle(partition, observed.state) or refused.get(partition)}"
        for partition in off[:5]
    )
    return failed(
        NotCompletedError(
            f"Not led by their preferred replica: {name_some(off)} ({len(off)} of "
            f"{count(len(scope), 'partition')}).",
            cause=reasons,
            next_step=command("propose election", "--out", "PLAN")
            + ", when the preferred replicas are alive and in sync",
        )
    )


def _verdicts(plan: ElectionPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    absent = [topic for topic in plan.topics if topic not in state.topics]
    for topic in absent:
        yield Verdict(topic, None, Progress.STALE, "no such topic")
    targets = scope_of(
        replace(plan, topics=tuple(topic for topic in plan.topics if topic not in absent)), state
    )
    off = set(off_preferred(targets, state))
    for partition in targets:
        if partition in off:
            reason = obstacle(partition, state) or "its preferred replica can lead, but does not"
            yield Verdict(partition.topic, partition.partition, Progress.WAITING, reason)
        else:
            yield Verdict(partition.topic, partition.partition, Progress.DONE)


def _scope(plan: ElectionPlan) -> set[str] | None:
    return (
        None
        if plan.all_partitions
        else {partition.topic for partition in plan.partitions} | set(plan.topics)
    )


def examine_election(found: Examination, plan: ElectionPlan, state: ClusterState) -> Examination:
    """Complete the examination of an election by the partitions to be elected and their leaders."""
    scope = scope_of(plan, state)
    off = off_preferred(scope, state)
    leaders = leaders_elected(off, state)
    return replace(
        found,
        work=ElectionWork(scope) if off else None,
        targets=tuple(map(str, off)),
        leaders=leaders,
    )


ELECTION = PlanKind(
    OperationKind.ELECTION,
    ElectionPlan,
    scope=_scope,
    spec_of=lambda _, record: ElectionWork(record.targets),
    fields=lambda work, _: {"targets": work.targets},
    verdicts=_verdicts,
)
