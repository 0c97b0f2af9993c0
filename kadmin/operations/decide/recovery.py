"""Rules of a recovery: partitions without a leader get one that lacks records.

The controller elects the first living replica of the list, whatever the others hold. So the chosen
one is put first while there is no leader, is elected, and the list of before is restored. One
partition goes first, alone. The first row that matches counts.

=====================================================  ==========================================
seen                                                   action
=====================================================  ==========================================
asked to cancel, or every partition led or given up    as below, from the list of before on
a replica alive that leads without a loss              Wait for its election
another replica would be elected                       PublishWave: the chosen one first
no leader, the chosen one alive and first              PublishElection, unclean
a list that is not the one of before                   PublishWave: the list of before
replicas of an empty partition not in place            PublishWave: the same again
nothing left                                           Finish, with what was lost as far as known
=====================================================  ==========================================

A partition that has a leader again is done: nothing of it is elected.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.cluster.model import NO_LEADER
from kadmin.errors import NotCompletedError
from kadmin.insight.quorum import running_brokers
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    ELECTION_BATCH,
    Finish,
    PublishElection,
    PublishWave,
    Wait,
    failed,
)
from kadmin.operations.decide.common import before_request, overdue
from kadmin.operations.decide.spec import ListedOperationSpec, PlanKind, Verdict
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import UncleanElectionStep, WaveStep, refused_by_cluster
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import PartitionTarget, RecoveryPlan
from kadmin.plan.progress import Progress
from kadmin.plan.recovery import clean_leaders, living_replicas, starts_of, without_leader
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.examination import Examination
    from kadmin.operations.decide.spec import PlanHistory
    from kadmin.plan.model import ForcedLeader

ORDER, RESTORE = 0, 1
"""The waves of a recovery: lists with the chosen leader first, and the lists of before."""
LISTS_AT_ONCE = 1_000
IMPATIENT_S = 600.0
"""Seconds since the plan was made, before which a dead broker counts as seen alive lately."""


class EntryStage(StrEnum):
    """Where a partition is."""

    ORDER = "another replica would be elected"
    ELECT = "no leader"
    CLEAN = "a replica that leads without a loss is alive"
    RESTORE = "led, and its list is not the one of before"
    LED = "led"
    GIVEN_UP = "cannot be elected"


@dataclass(frozen=True, slots=True)
class RecoveryWork(ListedOperationSpec):
    """A recovery as recorded."""

    plan: RecoveryPlan

    def listed(self) -> tuple[TopicPartition, ...]:
        """Return the partitions of the plan."""
        return tuple(entry.partition for entry in self.plan.partitions)

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the recovery."""
        found = self._sorted(observed, memory, now)
        cancelled = observed.request is not None and observed.request.stop is not Stop.PAUSE
        if not cancelled:
            if clean := found[EntryStage.CLEAN]:
                names = name_some(entry.partition for entry in clean)
                reason = f"a replica is alive that may lead without a loss: {names}"
                return Wait(reason, reason)
            if action := self._force(found, observed, memory, now):
                return action
        restoring = [
            entry
            for stage, entries in found.items()
            for entry in entries
            if stage is EntryStage.RESTORE
            or (cancelled and entry.replicas is None and _is_misplaced(entry, observed))
        ]
        if restoring:
            targets = [_restored(entry, observed.state) for entry in restoring]
            return _publish(RESTORE, targets, observed, memory, now)
        return self._result(found, observed, cancelled=cancelled)

    def in_flight(self, observed: Observed, memory: Memory) -> bool:
        """Whether a request was sent whose effect is not seen yet, or a list is to be restored."""
        found = self._sorted(observed, memory, memory.step_seen_at)
        asked = _asked(observed)
        electing = [entry for entry in found[EntryStage.ELECT] if entry.partition in asked]
        return bool(found[EntryStage.RESTORE] or electing)

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the partitions without a leader."""
        return tuple(str(each) for each in self.listed() if not _has_leader(each, state))

    def stage_in_words(self, _memory: Memory) -> str:
        """Return the stage under way as part of a sentence."""
        return f"the recovery of {count(len(self.plan.partitions), 'partition')}"

    def _sorted(
        self, observed: Observed, memory: Memory, now: float
    ) -> Mapping[EntryStage, list[ForcedLeader]]:
        found: dict[EntryStage, list[ForcedLeader]] = {stage: [] for stage in EntryStage}
        late = overdue(memory, now)
        for entry in self.plan.partitions:
            if entry.partition in observed.state.states:
                found[_stage(entry, observed, late=late)].append(entry)
        return found

    def _force(
        self,
        found: Mapping[EntryStage, Sequence[ForcedLeader]],
        observed: Observed,
        memory: Memory,
        now: float,
    ) -> Action | None:
        """Return the next action towards a leader, None where every partition has its answer."""
        to_order, to_elect = found[EntryStage.ORDER], found[EntryStage.ELECT]
        if not to_order and not to_elect:
            return None
        elected = _asked(observed)
        tried = any(_has_leader(each, observed.state) for each in elected)
        most = ELECTION_BATCH if tried else 1
        # The one that goes first is ordered, elected and looked at before any other is touched.
        scope = [
            entry.partition
            for entry in self.plan.partitions
            if entry in to_order or entry in to_elect
        ][:most]
        ordering = [entry for entry in to_order if entry.partition in scope]
        if ordering:
            targets = [entry.ordered for entry in ordering]
            return _publish(ORDER, targets, observed, memory, now)
        waiting = [each for each in scope if each in elected]
        if waiting:
            return Wait(f"electing {name_some(waiting)}")
        return before_request(observed, memory) or PublishElection(tuple(scope), unclean=True)

    def _result(
        self,
        found: Mapping[EntryStage, Sequence[ForcedLeader]],
        observed: Observed,
        *,
        cancelled: bool,
    ) -> Finish:
        message = _in_words(found[EntryStage.LED], observed)
        left = [
            *found[EntryStage.GIVEN_UP],
            *(entry for entry in found[EntryStage.LED] if _led_by_another(entry, observed)),
        ]
        if cancelled:
            return Finish(OperationState.CANCELLED, message)
        if not left:
            return Finish(OperationState.COMPLETED, message)
        reasons = "; ".join(f"{entry.partition}: {_why_not(entry, observed)}" for entry in left[:5])
        return failed(
            NotCompletedError(
                f"Not led as planned: {name_some(entry.partition for entry in left)} "
                f"({len(left)} of {count(len(self.plan.partitions), 'partition')}); {message}.",
                cause=reasons,
                next_step=command("propose recovery", "--out", "PLAN"),
            )
        )


def _stage(entry: ForcedLeader, observed: Observed, *, late: bool) -> EntryStage:
    partition, state = entry.partition, observed.state
    if _has_leader(partition, state):
        return EntryStage.RESTORE if _is_misplaced(entry, observed) else EntryStage.LED
    if clean_leaders(partition, state):
        return EntryStage.CLEAN
    moving, alive = _is_moving(partition, state), living_replicas(partition, state)
    if (
        partition in refused_by_cluster(observed.steps)
        or (partition in _asked(observed) and late)
        or (entry.replicas is None and moving)
        or entry.leader not in state.brokers
    ):
        reordered = entry.replicas is None and _is_misplaced(entry, observed)
        return EntryStage.RESTORE if reordered else EntryStage.GIVEN_UP
    leads = alive[:1] == (entry.leader,)
    if entry.replicas is not None:
        leads = moving and state.topics[partition.topic].target(partition.partition) == (
            entry.ordered.replicas
        )
    return EntryStage.ELECT if leads else EntryStage.ORDER


def _is_misplaced(entry: ForcedLeader, observed: Observed) -> bool:
    """Whether we put another list there, which is to be restored, or whose move is to be ended."""
    partition, state = entry.partition, observed.state
    if partition in _refused_restores(observed):
        return False
    moving = _is_moving(partition, state)
    if entry.replicas is not None:
        return moving and state.topics[partition.topic].target(partition.partition) == (
            entry.ordered.replicas
        )
    return not moving and state.replicas(partition) == entry.ordered.replicas != entry.current


def _refused_restores(observed: Observed) -> Mapping[TopicPartition, str]:
    return refused_by_cluster(
        step for step in observed.steps if isinstance(step, WaveStep) and step.wave == RESTORE
    )


def _restored(entry: ForcedLeader, state: ClusterState) -> PartitionTarget:
    """Return the list of before; of an empty partition, the same replicas again.

    Otherwise Kafka does not end the move of a partition to one replica.
    """
    if entry.replicas is not None:
        return entry.ordered
    return PartitionTarget(entry.partition, entry.current, state.replicas(entry.partition))


def _publish(
    wave: int,
    targets: Sequence[PartitionTarget],
    observed: Observed,
    memory: Memory,
    now: float,
) -> Action:
    """Publish lists, unless the step before did, and the cluster may not show it yet."""
    last = observed.steps[-1] if observed.steps else None
    if isinstance(last, WaveStep) and last.wave == wave and not overdue(memory, now):
        asked = None if last.intent is None else last.intent.targets
        if asked is None or any(asked.get(each.partition) == each.replicas for each in targets):
            return Wait("waiting until the cluster shows the order of replicas")
    return before_request(observed, memory) or PublishWave(
        wave, tuple(targets[:LISTS_AT_ONCE]), by_api=True
    )


def _asked(observed: Observed) -> set[TopicPartition]:
    """Return the partitions that an unclean election of ours named."""
    steps = (step for step in observed.steps if isinstance(step, UncleanElectionStep))
    return {partition for step in steps for partition in step.partitions}


def _has_leader(partition: TopicPartition, state: ClusterState) -> bool:
    found = state.states.get(partition)
    return found is not None and found.leader > NO_LEADER


def _is_moving(partition: TopicPartition, state: ClusterState) -> bool:
    topic = state.topics.get(partition.topic)
    return topic is not None and topic.is_moving(partition.partition)


def _led_by_another(entry: ForcedLeader, observed: Observed) -> bool:
    """Whether another replica than the chosen one was elected by our request.

    A leader that came back by itself is no such replica.
    """
    if entry.partition not in _asked(observed):
        return False
    found = observed.state.states[entry.partition]
    return entry.leader not in {found.leader, *found.isr}


def _why_not(entry: ForcedLeader, observed: Observed) -> str:
    state = observed.state
    if reason := refused_by_cluster(observed.steps).get(entry.partition):
        return reason
    if _has_leader(entry.partition, state):
        return f"broker {state.states[entry.partition].leader} leads, not {entry.leader}"
    if entry.leader not in state.brokers:
        return f"{brokers_in_words([entry.leader])} is not alive any more"
    return "the controller did not elect it; its log says why"


def _in_words(led: Iterable[ForcedLeader], observed: Observed) -> str:
    """Say how many partitions were elected, and what they lost as far as it is known."""
    asked = _asked(observed)
    elected = [entry for entry in led if entry.partition in asked]
    back = sum(entry.partition not in asked for entry in led) if elected else 0
    text = f"{count(len(elected), 'partition')} led by the chosen replica"
    if elected:
        text += f", {_lost(elected)}"
    if left := _refused_restores(observed):
        reasons = "; ".join(dict.fromkeys(left.values()))
        text += f"; the list of before was refused for {name_some(left)}: {reasons}"
    if back:
        text += f"; {count(back, 'partition')} had a leader again, nothing was elected there"
    return text


def _lost(elected: Collection[ForcedLeader]) -> str:
    known = [
        entry.losing.records
        for entry in elected
        if entry.losing is not None and entry.losing.records is not None
    ]
    unknown = len(elected) - len(known)
    parts = [f"at least {count(sum(known), 'record')} lost"] if known else []
    if unknown:
        parts.append(f"the loss of {count(unknown, 'partition')} is unknown")
    return ", ".join(parts)


def examine_recovery(found: Examination, plan: RecoveryPlan, state: ClusterState) -> Examination:
    """Complete the examination of a recovery by its partitions without a leader."""
    work = RecoveryWork(plan)
    targets = work.open(state)
    return replace(found, work=work if targets else None, targets=targets)


def awaited_lately(plan: RecoveryPlan, state: ClusterState, now: datetime) -> frozenset[int]:
    """Return dead brokers that would lead without a loss and were seen alive lately, or may be.

    They are not known to be dead for IMPATIENT_S, or their process runs again.
    """
    leaderless = set(without_leader(state))
    named = [each.partition for each in plan.partitions if each.partition in leaderless]
    able = frozenset(starts_of(named, state))
    if plan.allow_impatient:
        return frozenset()
    looked_at = None if plan.looked_at is None else datetime.fromisoformat(plan.looked_at)
    proved = looked_at is not None and (now - looked_at).total_seconds() >= IMPATIENT_S
    return able & running_brokers(state.controller) if proved else able


def _verdicts(plan: RecoveryPlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    for entry in plan.partitions:
        partition, found = entry.partition, state.states.get(entry.partition)
        replicas = state.replicas(partition)
        if found is None or replicas is None:
            progress, detail = Progress.STALE, "no such partition"
        elif not _has_leader(partition, state):
            progress, detail = Progress.WAITING, "no leader"
        elif missing := sorted(set(replicas) - set(found.isr)):
            progress = Progress.SETTLED
            detail = f"led by {found.leader}, not in sync yet: {brokers_in_words(missing)}"
        else:
            progress, detail = Progress.DONE, ""
        yield Verdict(partition.topic, partition.partition, progress, detail)


RECOVERY = PlanKind(
    OperationKind.RECOVERY,
    RecoveryPlan,
    scope=lambda plan: {entry.partition.topic for entry in plan.partitions},
    spec_of=lambda plan, _: RecoveryWork(plan),
    fields=lambda work, _: {
        "targets": work.listed(),
        "origin": {entry.partition: entry.current for entry in work.plan.partitions},
    },
    verdicts=_verdicts,
)
