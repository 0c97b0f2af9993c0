"""Rules of the log directories that a plan names, around those of its reassignment.

Directories are requests to single brokers. A replica that its broker does not have yet is asked for
before the wave is published, and looked at when it is there; one that is elsewhere is moved between
the broker's disks. The first row that matches counts.

====================================================  =============================================
seen, and the next action without directories         action
====================================================  =============================================
PublishWave, a new replica not asked for yet          PublishLogDirs, then the same
PublishWave, a directory refused, or failed           the rest of the wave; Finish: failed, where it
                                                      is all, and nothing is in flight
Wait or Advance, a replica elsewhere, and there is    PublishLogDirs: the broker moves it
room by moves_per_disk (1)
Advance, a replica on its way, or not known           Wait: names it (2)
Advance, a directory refused, or failed               Finish: failed, with the reason
Advance, a move was accepted and is gone              Finish: failed, another client ended it
completed, a replica not in its directory             Wait, or Finish: failed, changed by others
anything else                                         the same
====================================================  =============================================

A Wait names directories that failed, and whose replicas are lost to their brokers until a repair.

(1) A new replica that still copies has few bytes to move, and no limit.
(2) PublishLogDirs with its present directory where nothing of it has come for STALLED_S; then it is
asked for again. A broker of 2.8.2 gives a copy up whose partition gets another leader meanwhile
("Offset mismatch for the future replica"), and lists it for ever.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    STALLED_S,
    Advance,
    Finish,
    PublishLogDirs,
    PublishWave,
    Wait,
    failed,
)
from kadmin.operations.decide.common import overdue
from kadmin.operations.decide.wave import COPYING, health_gate, published
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import Sending, log_dirs_of
from kadmin.plan.directories import DirectoryPlace, placements
from kadmin.plan.progress import in_flight
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.operations.decide.actions import Action, Memory, Observed
    from kadmin.operations.decide.copies import CopyingSpec
    from kadmin.operations.record.steps import LogDirsStep, Step
    from kadmin.plan.model import PartitionTarget

AT_ONCE = 1_000
"""Replicas in one request."""


@dataclass(frozen=True, slots=True)
class DirectoryOfReplica:
    """A replica for which a plan names a directory, with the last request for it, if any."""

    target: PartitionTarget
    broker: int
    path: str
    place: DirectoryPlace
    asked: LogDirsStep | None
    failed: tuple[str, ...]
    """The directories that the broker cannot read."""

    @property
    def partition(self) -> TopicPartition:
        """The partition."""
        return self.target.partition

    @property
    def refused(self) -> str | None:
        """The reason for which the directory takes nothing; None where none is known."""
        if self.path in self.failed:
            return f"log directory {self.path} of broker {self.broker} failed"
        return None if self.asked is None else self.asked.refused.get(self.partition)

    @property
    def unreadable(self) -> tuple[str, ...]:
        """The directories that failed, one of which has the replica; none where it can be read."""
        if self.place is not DirectoryPlace.ABSENT:
            return ()
        is_new = self.broker in self.target.added
        return tuple(each for each in self.failed if each == self.path or not is_new)

    def __str__(self) -> str:
        return f"{self.partition} on broker {self.broker}"


class DirectoryLook:
    """The replicas of targets, compared with the directories that these name for them."""

    def __init__(
        self, targets: Iterable[PartitionTarget], observed: Observed, memory: Memory, most: int
    ) -> None:
        self._observed = observed
        self._memory = memory
        self._most = most
        asked = last_requests(observed.steps)
        self.seen = [
            DirectoryOfReplica(
                target,
                broker,
                path,
                place,
                asked.get((target.partition, broker)),
                observed.directories.failed(broker),
            )
            for target in targets
            for broker, path, place in placements(target, observed.directories)
        ]

    def next_action(self, action: Action, now: float) -> Action:
        """Return the next action of a reassignment, from the one of its replicas on brokers."""
        if not self.seen:
            return action
        found = self._next_action(action, now)
        return self._naming_failed(found) if isinstance(found, Wait) else found

    def _next_action(self, action: Action, now: float) -> Action:
        match action:
            case PublishWave():
                return self._before(action) or action
            case Wait():
                return self._begin(now) or action
            case Advance():
                return self._begin_wave(now) or self._await_all(now) or action
            case Finish(OperationState.COMPLETED):
                return self._at_end(now) or action
        return action

    def _naming_failed(self, wait: Wait) -> Wait:
        lost = [each for each in self.seen if each.unreadable]
        if not lost:
            return wait
        failed = {f"{path} of broker {each.broker}" for each in lost for path in each.unreadable}
        text = (
            f"{name_some(lost)}: log directories failed: {name_some(sorted(failed))}; repair them "
            f"and restart the brokers, or end the operation: {command('cancel', '--now')}"
        )
        return replace(wait, warning="; ".join(filter(None, (wait.warning, text))))

    def _begin_wave(self, now: float) -> Action | None:
        first = self._begin(now)
        observed, memory = self._observed, self._memory
        if first is None or moves_begun(observed, memory) or published(observed, memory):
            return first
        wave = tuple({each.target.partition: each.target for each in self.seen}.values())
        return health_gate((wave,), observed, memory, now) or first

    def _at_end(self, now: float) -> Action | None:
        """Return what the end of the plan waits for.

        Its waves were seen done: what is elsewhere was moved away since.
        """
        away = [each for each in self.seen if each.place is DirectoryPlace.ELSEWHERE]
        return _ended(away, self._observed) if away else self._await_all(now)

    def _before(self, action: PublishWave) -> Action | None:
        """Return what comes before the publish of a wave: its new replicas' directories."""
        ours = {target.partition for target in action.targets}
        new = [
            each
            for each in self.seen
            if each.partition in ours and each.broker in each.target.added
        ]
        refused = {each.partition for each in new if each.refused is not None}
        missing = [
            each
            for each in new
            if each.partition not in refused
            and (each.asked is None or each.asked.log_dirs[each.partition] != each.path)
        ]
        if missing:
            return self._ask(missing)
        if not refused:
            return None
        if left := tuple(each for each in action.targets if each.partition not in refused):
            return replace(action, targets=left)
        if moving := refused_beside(ours, self._observed):
            return Wait(COPYING, f"directories were refused; in flight: {name_some(moving)}")
        return not_accepted([each for each in new if each.refused is not None])

    def _begin(self, now: float) -> PublishLogDirs | None:
        """Ask a broker to move replicas that are elsewhere, as many as its disks may at once."""
        paused = self._memory.at_once is not None and self._memory.at_once.pauses
        movable = [each for each in self.seen if self._may_be_asked(each, now)]
        if paused or not movable:
            return None
        admitted = self._admitted(movable)
        return self._ask(admitted) if admitted else None

    def _await_all(self, now: float) -> PublishLogDirs | Wait | Finish | None:
        """Return what keeps the wave from its end; None where every replica is in its directory."""
        if moving := [each for each in self.seen if each.place is DirectoryPlace.MOVING]:
            if given_up := [each for each in moving if self._is_given_up(each, now)]:
                return self._ask(given_up, back=True)
            return Wait(f"moving between disks: {name_some(map(self._progress, moving), most=3)}")
        if refused := [each for each in self._elsewhere() if each.refused is not None]:
            return not_accepted(refused)
        if ended := [each for each in self._elsewhere() if self._was_ended(each, now)]:
            return _ended(ended, self._observed)
        if open_ := [each for each in self.seen if each.place is not DirectoryPlace.THERE]:
            what = "to be moved between disks"
            if all(each.place is DirectoryPlace.UNKNOWN for each in open_):
                what = "log directories not known"
            return Wait(f"{what}: {name_some(open_, most=3)}")
        return None

    def _elsewhere(self) -> Iterator[DirectoryOfReplica]:
        return (each for each in self.seen if each.place is DirectoryPlace.ELSEWHERE)

    def _may_be_asked(self, each: DirectoryOfReplica, now: float) -> bool:
        if (
            each.place is not DirectoryPlace.ELSEWHERE
            or each.refused is not None
            or each.broker not in self._observed.state.brokers
        ):
            return False
        if self._accepted_move(each):
            return False
        in_doubt = each.asked is not None and each.asked.sending is Sending.UNANSWERED
        return not in_doubt or overdue(self._memory, now)

    def _accepted_move(self, each: DirectoryOfReplica) -> bool:
        """Whether the broker was asked to move the replica from where it is, and accepted."""
        asked = each.asked
        present = self._observed.directories.present(each.partition, each.broker)
        return (
            asked is not None
            and asked.sending is Sending.ANSWERED
            and asked.log_dirs[each.partition] == each.path
            and asked.present.get(each.partition) == present
        )

    def _was_ended(self, each: DirectoryOfReplica, now: float) -> bool:
        return self._accepted_move(each) and overdue(self._memory, now)

    def _admitted(self, movable: Sequence[DirectoryOfReplica]) -> list[DirectoryOfReplica]:
        directories = self._observed.directories
        busy: Counter[tuple[int, str]] = Counter()
        for broker, futures in directories.futures.items():
            for partition, future in futures.items():
                busy.update({(broker, future.path): 1})
                if (present := directories.present(partition, broker)) is not None:
                    busy.update({(broker, present): 1})
        admitted = []
        for each in movable:
            source = directories.present(each.partition, each.broker) or ""
            disks = ((each.broker, source), (each.broker, each.path))
            if self._copies(each) or all(busy[disk] < self._most for disk in disks):
                admitted.append(each)
                busy.update(disks)
        return admitted

    def _copies(self, each: DirectoryOfReplica) -> bool:
        """Whether a new replica still copies from another broker."""
        found = self._observed.state.states.get(each.partition)
        return (
            each.broker in each.target.added
            and found is not None
            and (each.broker not in found.isr)
        )

    def _progress(self, each: DirectoryOfReplica) -> str:
        directories = self._observed.directories
        future = directories.future(each.partition, each.broker)
        whole = directories.replicas[each.broker][each.partition].size_bytes
        if future is None or not whole or future.size_bytes is None:
            return str(each)
        return f"{each} {min(100 * future.size_bytes // whole, 99)} %"

    def _is_given_up(self, each: DirectoryOfReplica, now: float) -> bool:
        """Whether we asked for a copy, and nothing of it has come since, nor of any other."""
        directories = self._observed.directories
        future = directories.future(each.partition, each.broker)
        whole = directories.replicas[each.broker][each.partition].size_bytes
        since = max(self._memory.changed_at, self._memory.step_seen_at)
        return (
            each.asked is not None
            and future is not None
            and future.size_bytes == 0
            and bool(whole)
            and now - since >= STALLED_S
        )

    def _ask(self, replicas: Sequence[DirectoryOfReplica], *, back: bool = False) -> PublishLogDirs:
        """Ask a broker for the plan's directories, or to go `back` to the present ones."""
        broker = replicas[0].broker
        ours = [each for each in replicas if each.broker == broker][:AT_ONCE]
        present = self._observed.directories.replicas.get(broker, {})
        wanted = [(each, present[each.partition].path if back else each.path) for each in ours]
        paths = [(each.partition, path) for each, path in wanted]
        return ask(broker, paths, self._observed, self._memory)


def named_targets(work: CopyingSpec, memory: Memory) -> tuple[PartitionTarget, ...]:
    """Return the targets that name log directories: of the wave under way, or of all after it."""
    under_way = work.targets if memory.wave >= len(work.waves) else work.wave(memory)
    return tuple(target for target in under_way if target.log_dirs and target.directories)


def moves_begun(observed: Observed, memory: Memory) -> bool:
    """Whether a broker was asked to move replicas of the current wave between its disks."""
    return any(step.wave == memory.wave and step.present for step in log_dirs_of(observed.steps))


def moved_between_disks(steps: Iterable[Step]) -> bool:
    """Whether steps asked a broker to move replicas that it has."""
    return any(step.present for step in log_dirs_of(steps))


def ask(
    broker: int,
    replicas: Iterable[tuple[TopicPartition, str]],
    observed: Observed,
    memory: Memory,
) -> PublishLogDirs:
    """Return the request to a broker to have replicas in directories."""
    log_dirs = dict(replicas)
    found = {each: observed.directories.present(each, broker) for each in log_dirs}
    present = {each: path for each, path in found.items() if path is not None}
    topics = {each.topic for each in log_dirs} & observed.state.topics.keys()
    ids = {topic: observed.state.topics[topic].topic_id for topic in sorted(topics)}
    return PublishLogDirs(memory.wave, broker, log_dirs, present, ids)


def refused_beside(
    partitions: Iterable[TopicPartition], observed: Observed
) -> list[TopicPartition]:
    """Return the partitions in flight beside those that are not published."""
    return sorted(set(in_flight(observed.state)).difference(partitions))


def not_accepted(refused: Sequence[DirectoryOfReplica]) -> Finish:
    """Finish: brokers refused log directories."""
    return failed(
        NotCompletedError(
            f"Log directories were not accepted for {name_some(refused)}.",
            cause="; ".join(dict.fromkeys(each.refused or "" for each in refused)),
            next_step=command("inspect disks")
            + ", then "
            + command("apply", "FILE")
            + ", with directories that take replicas",
        )
    )


def _ended(ended: Sequence[DirectoryOfReplica], observed: Observed) -> Finish:
    where = {str(each): observed.directories.present(each.partition, each.broker) for each in ended}
    return failed(
        StalePlanError(
            f"Moves between disks were ended or undone by others: {name_some(ended)}.",
            cause=", ".join(f"{name} is in {path}" for name, path in list(where.items())[:3]),
            next_step=command("diff", "FILE") + ", to see what changed",
        )
    )


def last_requests(steps: Iterable[Step]) -> dict[tuple[TopicPartition, int], LogDirsStep]:
    """Return the last request for each replica, by partition and broker."""
    return {
        (partition, step.broker_id): step
        for step in log_dirs_of(steps)
        for partition in step.log_dirs
    }
