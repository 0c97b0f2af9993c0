"""Rules of a maintenance, for the stage under way; the first row that matches counts.

A round has three stages: another order of replicas (demote), the restart of its brokers, and the
order of before (restore).

=====================================================  ==========================================
seen                                                   action
=====================================================  ==========================================
demote, stopping the brokers is not safe               Wait: names what forbids it
restore, another tool reassigns a partition            Wait
demote or restore                                      as kadmin/operations/decide/orders.py
restart, a broker newly gone                           NoteGone: on record before anything else
restart, a broker not yet stopped                      Wait for the person; warns if it is not safe
restart, a broker not yet started                      Wait for the person; warns if clients wait
restart, replicas not in sync                          as a catch-up
the stage is done                                      Advance
the last stage is done                                 Finish: completed, with what stays
asked to cancel, nothing of the round published        Finish: cancelled
asked to cancel, partitions to restore not in sync     as a catch-up, until it stalls
asked to cancel, before the restore of the round       Advance to it
asked to cancel, the round restored where it can be    Finish: cancelled, with what stays
=====================================================  ==========================================

kadmin stops and starts no broker: a person does, at the two waits of the restart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.operations.decide.actions import (
    Advance,
    AskStop,
    Finish,
    NoteGone,
    Wait,
)
from kadmin.operations.decide.catch_up import CatchUpWork
from kadmin.operations.decide.common import await_stop, stop_gate
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.election import elect_scope
from kadmin.operations.decide.failures import dead_targets
from kadmin.operations.decide.maintenance_stages import Stage, StageKind, replicas_of, stages_of
from kadmin.operations.decide.orders import (
    from_any_order,
    order_of,
    reassigned_by_others,
    remains_of,
    reorder,
    reordered,
)
from kadmin.operations.decide.spec import PlanKind, Verdict
from kadmin.operations.decide.wave import stalled_min
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import Channel, GoneStep, WaveStep
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.model import MaintenancePlan
from kadmin.plan.progress import Progress
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kadmin.cluster.model import ClusterState, Replicas, TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.spec import PlanHistory, Tally
    from kadmin.operations.record.record import OperationRecord
    from kadmin.plan.model import PartitionTarget

_AS_BEFORE = "the order of replicas is as before"


@dataclass(frozen=True, slots=True)
class MaintenanceWork(CopyingSpec):
    """A maintenance as recorded: three stages for each round; a stage is a wave.

    `targets` are the replicas of all brokers, which a throttle limits while they catch up.
    """

    UNDER_WAY = "not in sync"
    KEEPS_THROTTLE = False

    stages: tuple[Stage, ...]
    margin: int
    waves: tuple[tuple[PartitionTarget, ...], ...]
    targets: tuple[PartitionTarget, ...]

    @property
    def channel(self) -> Channel | None:
        """The reassignment channel, where another order of replicas is published."""
        return Channel.REASSIGNMENT if self._reordered(self.stages) else None

    def topics(self, _wave: int | None = None) -> set[str]:
        """Return every topic of the brokers: a catch-up and an order of before need them all."""
        return {target.partition.topic for stage in self.stages for target in stage.targets}

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action of the stage under way."""
        if memory.wave >= len(self.stages):
            return Finish(OperationState.COMPLETED, self._done_in_words(observed.state))
        stage = self.stages[memory.wave]
        if observed.request is not None and observed.request.stop is Stop.CANCEL:
            return self._cancel(stage, observed, memory, now)
        if stage.kind is StageKind.RESTART:
            return self._restart(stage, observed, memory, now)
        if stage.kind is StageKind.DEMOTE and not _began(observed, memory.wave):
            seen = stop_gate(self._question(stage.brokers, observed), memory, now)
            if isinstance(seen, AskStop):
                return seen
            if seen.why_not:
                reason = f"{stage.names} may not be stopped now: {seen.why_not}"
                return Wait(reason, reason)
        return self._reorder(stage, observed, memory, now)

    def progress_of(self, target: PartitionTarget, state: ClusterState) -> Progress:
        """Judge an order of replicas, or a replica that catches up."""
        if target.added:
            return _catch_up(target).progress_of(target, state)
        return order_of(target, state)

    def to_throttle(self, state: ClusterState) -> tuple[TopicPartition, ...]:
        """Return the partitions of replicas that are not in sync, also of brokers that are away."""
        return tuple(target.partition for target in self.left_to_copy(self.targets, state))

    def in_flight(self, observed: Observed, _memory: Memory) -> bool:
        """Whether a request is pending: another order of replicas is reached at once."""
        requests = observed.state.requests
        return requests.reassignment is not None or requests.election is not None

    def tally(self, observed: Observed, memory: Memory) -> Tally:
        """Count stages, and the bytes of the catch-up under way."""
        stage = self.stages[memory.wave] if memory.wave < len(self.stages) else None
        found = CopyingSpec.tally(self, observed, memory)
        if stage is None or stage.kind is not StageKind.RESTART:
            found = replace(found, done_bytes=None, total_bytes=None)
        return replace(found, done=memory.wave, total=len(self.stages), wave=0, waves=0)

    def left_to_do(self, _observed: Observed, memory: Memory) -> tuple[str, ...]:
        """Name the stages that are not done."""
        return tuple(f"{each.kind} {each.names}" for each in self.stages[memory.wave :])

    @property
    def names(self) -> tuple[str, ...]:
        """Name every stage: `demote broker 3: 12 partitions`."""
        nouns = {StageKind.RESTART: ("replica catches up", "replicas catch up")}
        return tuple(
            f"{stage.kind} {stage.names}: "
            f"{count(len(stage.targets), *nouns.get(stage.kind, ('partition',)))}"
            for stage in self.stages
        )

    def stage_in_words(self, memory: Memory) -> str:
        """Return the stage under way as part of a sentence: `stage 2 of 6: restart broker 3`."""
        stage = self.stages[min(memory.wave, len(self.stages) - 1)]
        number = min(memory.wave + 1, len(self.stages))
        return f"stage {number} of {len(self.stages)}: {stage.kind} {stage.names}"

    def _question(self, brokers: frozenset[int], observed: Observed) -> AskStop:
        """Return the question whether brokers may be stopped, asked while these are alive."""
        return AskStop(brokers, self.margin, frozenset(observed.state.brokers))

    def _reorder(self, stage: Stage, observed: Observed, memory: Memory, now: float) -> Action:
        state, targets = observed.state, self._existing(stage.targets, observed.state)
        observed = _since(observed, memory.wave)
        if stage.kind is StageKind.RESTORE:
            if moving := reassigned_by_others(targets, state):
                names = name_some(each.partition for each in moving)
                reason = f"another tool reassigns {names}: waiting until that is done"
                return Wait(reason, reason)
            targets = from_any_order(targets, state)
        # A cancellation leaves some targets of the stage out.
        action = reorder((*self.waves[: memory.wave], targets), observed, memory, now)
        failed = isinstance(action, Finish) and action.state is OperationState.FAILED
        if stage.kind is StageKind.DEMOTE and failed:
            # The gate decides whether a broker that leads may be stopped.
            action = elect_scope(reordered(targets, state), observed, memory, now)
        return action or Advance(memory.wave + 1)

    def _restart(self, stage: Stage, observed: Observed, memory: Memory, now: float) -> Action:
        """Wait until each broker was stopped and started, and its replicas are in sync."""
        alive = observed.state.brokers.keys()
        gone = _gone(observed, memory)
        if new := stage.brokers - alive - gone:
            return NoteGone(memory.wave, tuple(sorted(new)))
        if to_stop := stage.brokers - gone:
            return self._await_stop(to_stop, observed, memory, now)
        if to_start := stage.brokers - alive:
            return self._await_start(to_start, observed, memory, now)
        return self._catch_up(stage, observed, memory, now) or Advance(memory.wave + 1)

    def _await_stop(
        self, brokers: frozenset[int], observed: Observed, memory: Memory, now: float
    ) -> Action:
        targets = self._existing(self.stages[memory.wave - 1].targets, observed.state)
        # A leader may have come back, because another broker was away.
        demoting, led = _since(observed, memory.wave - 1), reordered(targets, observed.state)
        if (again := elect_scope(led, demoting, memory, now)) is not None:
            return again
        ready = f"stop {brokers_in_words(brokers)} now"
        return await_stop(self._question(brokers, observed), memory, now, ready)

    def _await_start(
        self, brokers: frozenset[int], observed: Observed, memory: Memory, now: float
    ) -> Action:
        named = brokers_in_words(brokers)
        seen = stop_gate(self._question(brokers, observed), memory, now)
        if isinstance(seen, AskStop):
            return seen
        if not seen.refusing:
            them = "it" if len(brokers) == 1 else "them"
            return Wait(f"{named} stopped: start {them} when the work is done", for_person=True)
        reason = (
            f"start {named} as soon as possible: {count(len(seen.refusing), 'partition')} offline "
            f"or without enough in-sync replicas for acks=all: {name_some(seen.refusing)}"
        )
        return Wait(reason, reason, for_person=True)

    def _catch_up(
        self, stage: Stage, observed: Observed, memory: Memory, now: float
    ) -> Wait | None:
        """Wait for the replicas of a restart; None once they are in sync."""
        waiting = None
        for broker in sorted(stage.brokers):
            targets = tuple(each for each in stage.targets if each.replicas == (broker,))
            action = CatchUpWork(broker, (targets,), targets).decide(observed, memory, now)
            if isinstance(action, Wait):
                waiting = action
        return waiting

    def _cancel(self, stage: Stage, observed: Observed, memory: Memory, now: float) -> Action:
        """Go on to the restore of the round, once what it needs is in sync, or nothing changes."""
        began = _began(observed, memory.wave) or self.in_flight(observed, memory)
        if stage.kind is StageKind.DEMOTE and not began:
            return Finish(OperationState.CANCELLED, _AS_BEFORE)
        if stage.kind is StageKind.RESTORE:
            return self._restore_and_finish(stage, observed, memory, now)
        end = next(
            index
            for index in range(memory.wave, len(self.stages))
            if self.stages[index].kind is StageKind.RESTORE
        )
        to_restore = self._to_restore(end, observed.state)
        behind = self._catch_up(to_restore, observed, memory, now)
        if behind is not None and not stalled_min(memory, now):
            why = behind.warning or behind.reason
            reason = f"waiting to give {to_restore.names} its leaders back: {why}"
            return Wait(reason, reason)
        return Advance(end)

    def _restore_and_finish(
        self, stage: Stage, observed: Observed, memory: Memory, now: float
    ) -> Action:
        """Restore the order of before where no replica is dead and nobody else reassigns."""
        state, existing = observed.state, self._existing(stage.targets, observed.state)
        moving = reassigned_by_others(existing, state)
        blocked = [
            each
            for each in existing
            if order_of(each, state) is Progress.WAITING and dead_targets([each], state)
        ]
        able = tuple(each for each in existing if each not in {*blocked, *moving})
        action = self._reorder(replace(stage, targets=able), observed, memory, now)
        if not isinstance(action, Advance):
            return action
        message = _AS_BEFORE
        if blocked:
            partitions = [str(each.partition) for each in blocked]
            dead = brokers_in_words(dead_targets(blocked, state))
            message = (
                f"the order of {count(len(blocked), 'partition')} stays, because {dead} is not "
                f"alive: {name_some(partitions)}; a rollback restores it"
            )
        return Finish(OperationState.CANCELLED, message + remains_of((*able, *moving), state))

    def _to_restore(self, restore: int, state: ClusterState) -> Stage:
        """Return the restart before a restore, with what is restored and of live brokers alone."""
        restart = self.stages[restore - 1]
        restored = {each.partition for each in self.stages[restore].targets}
        targets = (each for each in restart.targets if each.partition in restored)
        return Stage(restart.kind, restart.brokers & state.brokers.keys(), tuple(targets))

    def _existing(
        self, targets: tuple[PartitionTarget, ...], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        return tuple(each for each in targets if each.partition.topic in state.topics)

    @staticmethod
    def _reordered(stages: tuple[Stage, ...]) -> bool:
        return any(each.targets for each in stages if each.kind is not StageKind.RESTART)

    def _done_in_words(self, state: ClusterState) -> str:
        brokers = frozenset[int]().union(*(each.brokers for each in self.stages))
        restored = self._existing(
            tuple(
                target
                for each in self.stages
                if each.kind is StageKind.RESTORE
                for target in each.targets
            ),
            state,
        )
        return (
            f"{brokers_in_words(brokers)} stopped, started and in sync{remains_of(restored, state)}"
        )


def _began(observed: Observed, wave: int) -> bool:
    return any(isinstance(each, WaveStep) and each.wave == wave for each in observed.steps)


def _since(observed: Observed, wave: int) -> Observed:
    """Return an observation with the steps after those of earlier stages.

    These published and elected the same partitions.
    """
    earlier = [
        index
        for index, each in enumerate(observed.steps, start=1)
        if isinstance(each, WaveStep | GoneStep) and each.wave < wave
    ]
    return replace(observed, steps=observed.steps[max(earlier, default=0) :])


def _gone(observed: Observed, memory: Memory) -> frozenset[int]:
    """Return the brokers that were seen stopped in this stage."""
    steps = (each for each in observed.steps if isinstance(each, GoneStep))
    return frozenset(
        broker for each in steps if each.wave == memory.wave for broker in each.brokers
    )


def _catch_up(target: PartitionTarget) -> CatchUpWork:
    return CatchUpWork(target.replicas[0], ((target,),), (target,))


def maintenance_work(
    plan: MaintenancePlan, replicas: Mapping[int, Mapping[TopicPartition, Replicas]]
) -> MaintenanceWork:
    """Return the work of a plan; `replicas` are those of each broker, with their assignments."""
    stages = stages_of(plan, replicas)
    return MaintenanceWork(
        stages,
        plan.margin,
        tuple(each.targets for each in stages),
        tuple(
            target for each in stages if each.kind is StageKind.RESTART for target in each.targets
        ),
    )


def _work_of(plan: MaintenancePlan, record: OperationRecord) -> MaintenanceWork:
    return maintenance_work(plan, replicas_of(plan, record.origin))


def _fields(work: MaintenanceWork, state: ClusterState) -> dict[str, Any]:
    named = {target.partition for stage in work.stages for target in stage.targets}
    return {"origin": {each: state.replicas(each) or () for each in sorted(named)}}


def _verdicts(plan: MaintenancePlan, state: ClusterState, _: PlanHistory) -> Iterator[Verdict]:
    """Judge each partition: done where its replicas have the order of before."""
    for target in plan.demotions:
        now, partition = state.replicas(target.partition), target.partition
        done = now == target.current
        detail = "" if done else f"replicas {list(now or ())}, before {list(target.current or ())}"
        progress = Progress.DONE if done else Progress.WAITING
        yield Verdict(partition.topic, partition.partition, progress, detail)


MAINTENANCE = PlanKind(
    OperationKind.MAINTENANCE,
    MaintenancePlan,
    scope=lambda plan: {target.partition.topic for target in plan.demotions},
    spec_of=_work_of,
    fields=_fields,
    verdicts=_verdicts,
)
