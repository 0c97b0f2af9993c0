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

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
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
from kadmin.operations.decide.recovery_look import ORDER, RESTORE, EntryStage, RecoveryLook
from kadmin.operations.decide.spec import ListedOperationSpec
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import PartitionTarget
from kadmin.plan.recovery import without_leader
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.plan.model import ForcedLeader, RecoveryPlan

LISTS_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class RecoveryWork(ListedOperationSpec):
    """A recovery as recorded."""

    plan: RecoveryPlan

    def listed(self) -> tuple[TopicPartition, ...]:
        """Return the partitions of the plan."""
        return tuple(entry.partition for entry in self.plan.partitions)

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the recovery."""
        look = RecoveryLook(observed, overdue(memory, now))
        found = self.sort(look)
        cancelled = is_cancelled(observed)
        if not cancelled and (action := await_clean(found) or self._force(found, look, memory)):
            return action
        restoring = [
            entry
            for stage, entries in found.items()
            for entry in entries
            if stage is EntryStage.RESTORE
            or (cancelled and entry.replicas is None and look.is_misplaced(entry))
        ]
        if restoring:
            targets = [_restored(entry, observed.state) for entry in restoring]
            return _publish(RESTORE, targets, look, memory)
        return self.result(found, look, cancelled=cancelled)

    def in_flight(self, observed: Observed, _memory: Memory) -> bool:
        """Whether a request was sent whose effect is not seen yet, or a list is to be restored."""
        look = RecoveryLook(observed, late=False)
        found = self.sort(look)
        electing = [entry for entry in found[EntryStage.ELECT] if entry.partition in look.asked]
        return bool(found[EntryStage.RESTORE] or electing)

    def open(self, state: ClusterState) -> tuple[str, ...]:
        """Name the partitions without a leader."""
        leaderless = set(without_leader(state))
        return tuple(str(each) for each in self.listed() if each in leaderless)

    def stage_in_words(self, _memory: Memory) -> str:
        """Return the stage under way as part of a sentence."""
        return f"the recovery of {count(len(self.plan.partitions), 'partition')}"

    def sort(self, look: RecoveryLook) -> Mapping[EntryStage, list[ForcedLeader]]:
        """Return the entries of each stage whose partitions exist."""
        found: dict[EntryStage, list[ForcedLeader]] = {stage: [] for stage in EntryStage}
        for entry in self.plan.partitions:
            if entry.partition in look.state.states:
                found[look.stage(entry)].append(entry)
        return found

    def _force(
        self,
        found: Mapping[EntryStage, Sequence[ForcedLeader]],
        look: RecoveryLook,
        memory: Memory,
    ) -> Action | None:
        """Return the next action towards a leader, None where every partition has its answer."""
        # The one that goes first is ordered, elected and looked at before any other is touched.
        tried = any(look.has_leader(each) for each in look.asked)
        to_order = {entry.partition for entry in found[EntryStage.ORDER]}
        to_elect = {entry.partition for entry in found[EntryStage.ELECT]}
        scope = [
            entry
            for entry in self.plan.partitions
            if entry.partition in to_order or entry.partition in to_elect
        ][: ELECTION_BATCH if tried else 1]
        if not scope:
            return None
        if ordering := [entry.ordered for entry in scope if entry.partition in to_order]:
            return _publish(ORDER, ordering, look, memory)
        partitions = tuple(entry.partition for entry in scope)
        if waiting := [each for each in partitions if each in look.asked]:
            return Wait(f"electing {name_some(waiting)}")
        return before_request(look.observed, memory) or PublishElection(partitions, unclean=True)

    def result(
        self,
        found: Mapping[EntryStage, Sequence[ForcedLeader]],
        look: RecoveryLook,
        *,
        cancelled: bool,
        remains: str = "",
    ) -> Finish:
        """Finish with what was elected, and with what is not as planned.

        `remains` is the end of a sentence on what is not as before.
        """
        message = _in_words(found[EntryStage.LED], look) + remains
        left = [
            *found[EntryStage.GIVEN_UP],
            *(entry for entry in found[EntryStage.LED] if look.led_by_another(entry)),
        ]
        if cancelled:
            return Finish(OperationState.CANCELLED, message)
        if not left:
            return Finish(OperationState.COMPLETED, message)
        reasons = "; ".join(f"{entry.partition}: {look.why_not(entry)}" for entry in left[:5])
        return failed(
            NotCompletedError(
                f"Not led as planned: {name_some(entry.partition for entry in left)} "
                f"({len(left)} of {count(len(self.plan.partitions), 'partition')}); {message}.",
                cause=reasons,
                next_step=command("propose recovery", "--out", "PLAN"),
            )
        )


def is_cancelled(observed: Observed) -> bool:
    """Whether a cancellation is asked for."""
    return observed.request is not None and observed.request.stop is not Stop.PAUSE


def await_clean(found: Mapping[EntryStage, Sequence[ForcedLeader]]) -> Wait | None:
    """Wait for the election of replicas that lead without a loss, None where there are none."""
    names = name_some(entry.partition for entry in found[EntryStage.CLEAN])
    reason = f"a replica is alive that may lead without a loss: {names}"
    return Wait(reason, reason) if names else None


def _restored(entry: ForcedLeader, state: ClusterState) -> PartitionTarget:
    """Return the list of before; of an empty partition, the same replicas again.

    Otherwise Kafka does not end the move of a partition to one replica.
    """
    if entry.replicas is not None:
        return entry.ordered
    return PartitionTarget(entry.partition, entry.current, state.replicas(entry.partition))


def _publish(
    wave: int, targets: Sequence[PartitionTarget], look: RecoveryLook, memory: Memory
) -> Action:
    """Publish lists, unless the step before did, and the cluster may not show it yet."""
    steps = look.observed.steps
    last = steps[-1] if steps else None
    if isinstance(last, WaveStep) and last.wave == wave and not look.late:
        asked = None if last.intent is None else last.intent.targets
        if asked is None or any(asked.get(each.partition) == each.replicas for each in targets):
            return Wait("waiting until the cluster shows the order of replicas")
    return before_request(look.observed, memory) or PublishWave(
        wave, tuple(targets[:LISTS_AT_ONCE]), by_api=True
    )


def _in_words(led: Sequence[ForcedLeader], look: RecoveryLook) -> str:
    """Say how many partitions were elected, and what they lost as far as it is known."""
    elected = [entry for entry in led if entry.partition in look.asked]
    back = len(led) - len(elected) if elected else 0
    text = f"{count(len(elected), 'partition')} led by the chosen replica"
    if elected:
        text += f", {_lost(elected)}"
    if look.kept:
        reasons = "; ".join(dict.fromkeys(look.kept.values()))
        text += f"; the list of before was refused for {name_some(look.kept)}: {reasons}"
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
