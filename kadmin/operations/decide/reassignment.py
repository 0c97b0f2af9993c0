"""Rules of a reassignment, for the current wave; the first row that matches counts.

======================================================  ===========================================
seen                                                    action
======================================================  ===========================================
in flight, for a topic that was made again since        TakeBack: that topic was not meant
every partition done                                    elect where planned, then Advance
our own probe still pending                             Wait, past the deadline Finish: not picked
                                                        up
a request with entries that are not ours                Finish: busy, names them, can be resumed
our request, no partition left that it could move       Finish: failed, a topic was deleted
our request, nothing changed, past the pickup deadline  Finish: not picked up, can be resumed
our request                                             Wait
a partition running, and others may run beside it (2)   the health gate, then PublishWave
a partition running, and no union left behind           Wait; deleted and foreign ones are named at
                                                        once
a union without a request (up to 2.3)                   PublishWave again: it repairs
a partition stale                                       Finish: failed, stale plan
published, and the cluster refused a partition          Finish: failed, with its reason
published, request gone, a partition unchanged          Finish: failed, rejected by the controller
                                                        (1)
accepted by an answer, unchanged past the deadline      Finish: failed, stale: another client
                                                        cancelled it
a partition waiting, a target broker not alive          Finish: failed, names broker and substitute
a partition waiting, new trouble or too little room     Wait: the health gate, from the second wave
                                                        on
a partition waiting                                     AskListening, then PublishWave
only settled partitions left                            Wait for the ISR
======================================================  ===========================================

(1) Where the back-end says so; through the API the same targets are sent again after the pickup
deadline.
(2) Where the partitions that are copied at once from one broker to another are limited, and a
publish adds to those in flight.
After the last wave every partition of the plan is checked again, then leaders are elected
where the plan says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.insight.diagnosis.health import health_of
from kadmin.next_step import command
from kadmin.operations.decide.actions import Advance, Finish, TakeBack, Wait
from kadmin.operations.decide.common import (
    accepted_by_controller,
    awaiting_pickup,
    foreign_request,
    made_again,
    not_picked_up,
    overdue,
    probe_unanswered,
)
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.election import elect_scope, election_result
from kadmin.operations.decide.failures import (
    any_moved,
    changed_by_others,
    dead_targets,
    undo_of,
)
from kadmin.operations.decide.log_dirs import (
    DirectoryLook,
    moved_between_disks,
    moves_begun,
    named_targets,
)
from kadmin.operations.decide.spec import PlanKind
from kadmin.operations.decide.verdicts import reassignment_verdicts
from kadmin.operations.decide.wave import (
    asked_for,
    copying,
    health_gate,
    left_behind,
    out_of_sync,
    publish,
    published,
    refused_by,
)
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import Channel, ProbeStep, waves_of
from kadmin.plan.model import DEFAULT_MOVES_PER_DISK, Elect, ReassignmentPlan
from kadmin.plan.pairs import PairLimit
from kadmin.plan.progress import Progress, judge, still_moving
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.model import Assignment, ClusterState, PendingRequest, TopicPartition
    from kadmin.next_step import NextStep
    from kadmin.operations.decide.actions import Action, Memory, Observed, RunErrand
    from kadmin.operations.decide.wave import Found
    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.plan.model import PartitionTarget


@dataclass(frozen=True, slots=True)
class ReassignmentWork(CopyingSpec):
    """A reassignment as recorded.

    It has waves of targets whose `current` is filled in, when to elect, and how to undo it.
    `skips_deleted`: what remains is reassigned where a topic was deleted meanwhile.
    """

    waves: tuple[tuple[PartitionTarget, ...], ...]
    targets: tuple[PartitionTarget, ...]
    elect: Elect
    rollback: NextStep | None = None
    skips_deleted: bool = False
    moves_per_disk: int = DEFAULT_MOVES_PER_DISK

    @property
    def channel(self) -> Channel | None:
        """Return the reassignment channel where anything is to be moved."""
        return Channel.REASSIGNMENT if self.waves else None

    def topics(self, wave: int | None = None) -> set[str]:
        """Return the topics of one wave; of all targets for None and after the last wave."""
        under_way = self.targets if wave is None or wave >= len(self.waves) else self.waves[wave]
        return {target.partition.topic for target in under_way}

    def decide(self, observed: Observed, memory: Memory, now: float) -> Action:
        """Decide the next action: of replicas on brokers, then of their log directories."""
        action = self._decide_replicas(observed, memory, now)
        named = self.existing(named_targets(self, memory), observed.state)
        look = DirectoryLook(named, observed, memory, self.moves_per_disk)
        return look.next_action(action, now)

    def _decide_replicas(self, observed: Observed, memory: Memory, now: float) -> Action:
        if memory.wave >= len(self.waves):
            return _decide_end(self, observed, memory, now)
        wave = self.existing(self.waves[memory.wave], observed.state)
        if astray := _recreated_while_moving(wave, observed):
            return TakeBack(dict.fromkeys(astray, ()))
        found = _sort(wave, observed, published=published(observed, memory))
        if len(found[Progress.DONE]) == len(wave):
            if self.elect is Elect.AFTER_EACH_WAVE:
                action = elect_scope([target.partition for target in wave], observed, memory, now)
                if action is not None:
                    return action
            return Advance(memory.wave + 1)
        pending = observed.state.requests.reassignment
        if pending is not None:
            return _with_request(self, pending, observed, memory, now, found)
        return _without_request(self, observed, memory, now, found)

    def existing(
        self, targets: tuple[PartitionTarget, ...], state: ClusterState
    ) -> tuple[PartitionTarget, ...]:
        """Return targets whose topics were read, without those that are skipped."""
        if not self.skips_deleted:
            return targets
        return tuple(target for target in targets if target.partition.topic in state.topics)

    def before_taking_back(self, _observed: Observed) -> RunErrand | None:
        """Return what comes before partitions are returned to their original replicas."""
        return None

    def in_flight(self, observed: Observed, memory: Memory) -> bool:
        """Whether the current wave was published, or a request is pending."""
        requests = observed.state.requests
        pending = requests.reassignment is not None or requests.election is not None
        return pending or published(observed, memory) or moves_begun(observed, memory)

    def undone_by(self, observed: Observed, memory: Memory | None) -> NextStep | None:
        """Return the command to undo the moves; None where nothing was moved.

        Without memory, all topics were read.
        """
        read = self.topics(None if memory is None else memory.wave)
        moved = any_moved(published_targets(self, observed.steps), observed, read)
        return self.rollback if moved or moved_between_disks(observed.steps) else None

    def progress_of(self, target: PartitionTarget, state: ClusterState) -> Progress:
        """Judge the progress of a target that was published."""
        return judge(target, state, published=True)

    def to_throttle(self, state: ClusterState) -> tuple[TopicPartition, ...]:
        """Return the partitions that are being reassigned or whose new replicas copy."""
        return still_moving(self.targets, state)


def published_targets(work: ReassignmentWork, steps: Iterable[Step]) -> list[PartitionTarget]:
    """Return the targets of the waves that steps published, in order."""
    return [target for index in sorted(set(waves_of(steps))) for target in work.waves[index]]


def _sort(targets: Iterable[PartitionTarget], observed: Observed, *, published: bool) -> Found:
    found: Found = {progress: [] for progress in Progress}
    other = made_again((target.partition for target in targets), observed)
    for target in targets:
        progress = judge(target, observed.state, published=published)
        found[Progress.STALE if target.partition in other else progress].append(target)
    return found


def _recreated_while_moving(
    wave: Iterable[PartitionTarget], observed: Observed
) -> list[TopicPartition]:
    """Return partitions in flight whose topic was deleted and recreated.

    The request was for the old topic.
    """
    running = [
        each.partition
        for each in wave
        if judge(each, observed.state, published=False) is Progress.RUNNING
    ]
    return sorted(made_again(running, observed))


def _with_request(
    work: ReassignmentWork,
    request: PendingRequest,
    observed: Observed,
    memory: Memory,
    now: float,
    found: Found,
) -> Action:
    wave = work.wave(memory)
    if request.probe and observed.steps and isinstance(observed.steps[-1], ProbeStep):
        if overdue(memory, now):
            return probe_unanswered(request.channel_name)
        return Wait("the controller has not answered the probe yet")
    entries: Assignment = request.entries or {}
    if blocked := _blocked(work, request, observed, memory, found):
        return blocked
    untouched = not request.touched and all(
        observed.state.replicas(target.partition) == target.current
        for target in wave
        if target.partition in entries
    )
    if not untouched:
        return copying(found, observed, memory, now)
    if overdue(memory, now):
        return not_picked_up(request.channel_name)
    return awaiting_pickup("waiting for the controller", memory, now)


def _blocked(
    work: ReassignmentWork,
    request: PendingRequest,
    observed: Observed,
    memory: Memory,
    found: Found,
) -> Finish | None:
    """Finish where the request is not ours, or names deleted topics alone.

    None where it is ours and can end.
    """
    if request.entries is None:
        return foreign_request(request.channel_name)
    ours = {target.partition: target.replicas for target in work.wave(memory)}
    if foreign := [
        each for each, replicas in request.entries.items() if ours.get(each) != replicas
    ]:
        return foreign_request(request.channel_name, foreign)
    if request.entries and all(observed.state.replicas(each) is None for each in request.entries):
        rollback = work.undone_by(observed, memory)
        return changed_by_others(
            found[Progress.STALE], observed, work.targets, rollback, command("heal") + "; then "
        )
    return None


def _without_request(
    work: ReassignmentWork, observed: Observed, memory: Memory, now: float, found: Found
) -> Action:
    waiting, stale = found[Progress.WAITING], found[Progress.STALE]
    if running := found[Progress.RUNNING]:
        unions = [target for target in running if left_behind(target, observed)]
        if len(unions) == len(running):
            return publish(unions, observed, memory)
        more = () if stale else _beside(running, waiting, observed, memory)
        if more:
            return _next(work, more, observed, memory, now)
        return copying(found, observed, memory, now)
    if stale:
        return changed_by_others(stale, observed, work.targets, work.undone_by(observed, memory))
    if not waiting:
        return out_of_sync()
    return refused_by(waiting, observed, memory) or _unchanged(work, waiting, observed, memory, now)


def _unchanged(
    work: ReassignmentWork,
    waiting: Sequence[PartitionTarget],
    observed: Observed,
    memory: Memory,
    now: float,
) -> Action:
    """Publish partitions that are as planned.

    Leave them out where the cluster may lag behind or another client cancelled them.
    """
    if asked_for(waiting, observed, memory) and not overdue(memory, now):
        return awaiting_pickup("waiting until the cluster shows the change", memory, now)
    if cancelled := accepted_by_controller((target.partition for target in waiting), observed):
        targets = [target for target in waiting if target.partition in cancelled]
        rollback = work.undone_by(observed, memory)
        return changed_by_others(targets, observed, work.targets, rollback, cancelled=cancelled)
    first, at_once = tuple(waiting), memory.at_once
    if at_once is not None:
        first = PairLimit(at_once, observed.state).admitted(waiting, ())
        if not first:
            return Wait(at_once.why)
    return _next(work, first, observed, memory, now)


def _beside(
    running: Sequence[PartitionTarget],
    waiting: Sequence[PartitionTarget],
    observed: Observed,
    memory: Memory,
) -> tuple[PartitionTarget, ...]:
    """Return the waiting partitions of the wave that may begin beside those that run."""
    if memory.at_once is None or asked_for(waiting, observed, memory):
        return ()
    able = [target for target in waiting if not dead_targets([target], observed.state)]
    return PairLimit(memory.at_once, observed.state).admitted(able, running)


def _next(
    work: ReassignmentWork,
    targets: tuple[PartitionTarget, ...],
    observed: Observed,
    memory: Memory,
    now: float,
) -> Action:
    to_come = (targets, *work.waves[memory.wave + 1 :])
    return health_gate(to_come, observed, memory, now) or publish(targets, observed, memory)


def _decide_end(work: ReassignmentWork, observed: Observed, memory: Memory, now: float) -> Action:
    targets = work.existing(work.targets, observed.state)
    found = _sort(targets, observed, published=True)
    lost = [*found[Progress.STALE], *found[Progress.WAITING]]
    if lost:
        return changed_by_others(lost, observed, work.targets, work.undone_by(observed, memory))
    if len(found[Progress.DONE]) < len(targets):
        return out_of_sync()
    partitions = [target.partition for target in targets]
    success = (
        f"{count(len(partitions), 'partition')} at the target{_skipped(work.targets, targets)}"
    )
    if work.elect is Elect.AT_END:
        action = elect_scope(partitions, observed, memory, now)
        if action is not None:
            return action
    if work.elect is not Elect.NONE:
        return election_result(partitions, observed, success)
    return Finish(OperationState.COMPLETED, success)


def _skipped(planned: Sequence[PartitionTarget], existing: Sequence[PartitionTarget]) -> str:
    gone = len(planned) - len(existing)
    topics = sorted(
        {each.partition.topic for each in planned} - {each.partition.topic for each in existing}
    )
    return f", {gone} skipped: deleted were {name_some(topics)}" if gone else ""


def reassignment_work(plan: ReassignmentPlan, record: OperationRecord) -> ReassignmentWork:
    """Return the work of a plan whose waves and original replicas are on record."""
    targets = tuple(
        replace(target, current=record.origin[target.partition]) for target in plan.reassignments
    )
    waves = tuple(tuple(targets[position] for position in wave) for wave in record.waves)
    rollback = undo_of(record.operation_id, plan.header)
    skips, most = plan.allow_topics_deleted, plan.moves_per_disk
    return ReassignmentWork(waves, targets, plan.elect, rollback, skips, most)


def _fields(work: ReassignmentWork, state: ClusterState) -> dict[str, Any]:
    position = {target.partition: index for index, target in enumerate(work.targets)}
    return {
        "origin": {target.partition: state.assignment[target.partition] for target in work.targets},
        "waves": tuple(tuple(position[target.partition] for target in wave) for wave in work.waves),
        "health": health_of(state),
    }


REASSIGNMENT = PlanKind(
    OperationKind.REASSIGNMENT,
    ReassignmentPlan,
    scope=lambda plan: {target.partition.topic for target in plan.reassignments},
    spec_of=reassignment_work,
    fields=_fields,
    verdicts=reassignment_verdicts,
)
