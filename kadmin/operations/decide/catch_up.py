"""Rules of the catch-up of a broker that was away; the first row that matches counts.

==================================================  ==========================
seen                                                action
==================================================  ==========================
every replica in the ISR, or gone from the broker   Finish: completed
the broker not alive                                Wait: for the broker
a partition without a replica alive and in sync     Wait: names it
no copy has grown for STALLED_S                     Wait: stalled
anything else                                       Wait: copying
==================================================  ==========================

Nothing is published: followers copy what they lack by themselves. So a request to pause or cancel
ends the run at once. A cancelled catch-up removes its throttle, a paused one keeps it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.cluster.names import INTERNAL_TOPICS
from kadmin.operations.decide.actions import Finish, Wait
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.spec import PlanKind
from kadmin.operations.decide.troubles import without_source
from kadmin.operations.decide.wave import COPYING, stalled, stalled_min
from kadmin.operations.record.record import CATCHES_UP, OperationKind, OperationState
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan
from kadmin.plan.progress import Progress
from kadmin.plan.sources import awaited
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import Tally
    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Channel
    from kadmin.plan.model import ThrottleSpec


@dataclass(frozen=True, slots=True)
class CatchUpWork(CopyingSpec):
    """A catch-up as recorded: one wave of the broker's replicas.

    A target has the broker as its replica, and as `current` those that it may copy from.
    """

    UNDER_WAY = "not in sync"
    KEEPS_THROTTLE = False

    broker: int
    waves: tuple[tuple[PartitionTarget, ...], ...]
    targets: tuple[PartitionTarget, ...]

    @property
    def channel(self) -> Channel | None:
        """None: nothing is published."""
        return None

    def topics(self, _wave: int | None = None) -> set[str]:
        """Return every topic of the replicas."""
        return {target.partition.topic for target in self.targets}

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Wait for the replicas."""
        state = observed.state
        behind = self.left_to_copy(self.targets, state)
        if not behind:
            return Finish(OperationState.COMPLETED, self.in_sync_in_words(state))
        if self.broker not in state.brokers:
            return Wait(f"broker {self.broker} is not alive: waiting until it is back")
        if stuck := without_source(behind, state):
            brokers = sorted({broker for each in stuck for broker in awaited(each, state)})
            reason = f"no replica is alive and in sync: {name_some(stuck)}"
            return Wait(reason, f"{reason}; copies wait for brokers: {name_some(brokers)}")
        if minutes := stalled_min(memory, now):
            names = (str(target.partition) for target in behind)
            return Wait(stalled(behind, names, observed, minutes))
        return Wait(COPYING)

    def progress_of(self, target: PartitionTarget, state: ClusterState) -> Progress:
        """Judge a replica: done where it is in the ISR or gone from the broker, else running."""
        if self.broker not in (state.replicas(target.partition) or ()):
            return Progress.DONE
        found = state.states.get(target.partition)
        in_sync = found is not None and self.broker in found.isr and self.broker in state.brokers
        return Progress.DONE if in_sync else Progress.RUNNING

    def to_throttle(self, state: ClusterState) -> tuple[TopicPartition, ...]:
        """Return the partitions of replicas that are not in sync, also while the broker is away."""
        return tuple(target.partition for target in self.left_to_copy(self.targets, state))

    def in_flight(self, _observed: Observed, _memory: Memory) -> bool:
        """Return False: nothing is published."""
        return False

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count replicas in sync, and bytes; a catch-up has no waves to count."""
        return replace(CopyingSpec.tally(self, observed, memory), wave=0, waves=0)

    def in_sync_in_words(self, state: ClusterState) -> str:
        """Describe the replicas in sync: `3 of 12 replicas of broker 4 in sync`."""
        behind = len(self.left_to_copy(self.targets, state))
        gone = [
            target.partition
            for target in self.targets
            if self.broker not in (state.replicas(target.partition) or ())
        ]
        total = len(self.targets) - len(gone)
        done = f"{total - behind} of " if behind else ""
        words = f"{done}{count(total, 'replica')} of broker {self.broker} in sync"
        return f"{words}; no longer on it: {name_some(gone)}" if gone else words


def to_catch_up(broker: int, state: ClusterState) -> dict[TopicPartition, Replicas]:
    """Return the partitions to catch up, each with its replicas.

    Of a live broker those outside their ISR; of another one all, because each has missed something
    when it is back. Without a second replica there is nothing to copy from, and a replica that a
    reassignment adds has the throttle of that. Internal topics are left out: they are small, and
    groups, transactions and kadmin's own record wait for their replicas.
    """
    found = {}
    for partition, replicas in state.assignment.items():
        topic, seen = state.topics[partition.topic], state.states.get(partition)
        added = topic.adding_replicas.get(partition.partition, ())
        in_sync = broker in state.brokers and (seen is None or broker in seen.isr)
        if partition.topic in INTERNAL_TOPICS or in_sync or len(replicas) == 1:
            continue
        if broker in replicas and broker not in added:
            found[partition] = replicas
    return found


def catch_up_plan(
    broker: int,
    replicas: dict[TopicPartition, Replicas],
    throttle: ThrottleSpec,
    state: ClusterState,
) -> ReassignmentPlan:
    """Return a catch-up as the plan that is kept on record: it reassigns nothing."""
    header = PlanHeader(
        name=f"catch-up-broker-{broker}",
        cluster_id=state.cluster_id,
        labels={CATCHES_UP: str(broker)},
    )
    targets = (PartitionTarget(each, found, found) for each, found in sorted(replicas.items()))
    return ReassignmentPlan(header, tuple(targets), throttle)


def catch_up_work(plan: ReassignmentPlan) -> CatchUpWork:
    """Return the work of the plan of a catch-up."""
    broker = int(plan.header.labels[CATCHES_UP])
    targets = tuple(
        PartitionTarget(
            each.partition, (broker,), tuple(other for other in each.replicas if other != broker)
        )
        for each in plan.reassignments
    )
    return CatchUpWork(broker, (targets,), targets)


def _work_of(plan: ReassignmentPlan, _record: OperationRecord) -> CatchUpWork:
    return catch_up_work(plan)


def _fields(_work: CatchUpWork, _state: ClusterState) -> dict[str, Any]:
    return {}


CATCH_UP = PlanKind(
    OperationKind.CATCH_UP,
    ReassignmentPlan,
    scope=lambda plan: {target.partition.topic for target in plan.reassignments},
    spec_of=_work_of,
    fields=_fields,
    verdicts=lambda _plan, _state, _published: (),
)
