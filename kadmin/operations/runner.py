"""The loop: observe, decide, act, record. It is the only one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.cluster.listening import Listening
from kadmin.cluster.reader import read_cluster
from kadmin.cluster.znodes.admin import DELETE_TOPICS, PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.errors import NotCompletedError, StoppedError, name_some
from kadmin.operations import events
from kadmin.operations.actions import (
    Advance,
    AskListening,
    Finish,
    Memory,
    Observed,
    PublishDeletion,
    PublishElection,
    PublishWave,
    ReassignmentWork,
    Wait,
)
from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.common import deaf, foreign_node
from kadmin.operations.journal import Journal, LostLockError, lost_lock
from kadmin.operations.listening import look
from kadmin.operations.lock import take
from kadmin.operations.outage import outlast
from kadmin.operations.progress import left_to_do, tally, topics_of
from kadmin.operations.publish import Published, Publisher, next_step
from kadmin.operations.record import OperationStatus, StepKind

if TYPE_CHECKING:
    from kadmin.cluster.store import Store
    from kadmin.errors import KadminError
    from kadmin.operations.actions import Action, Work
    from kadmin.operations.clock import Clock
    from kadmin.operations.lock import Holder, Lease
    from kadmin.operations.progress import Tally
    from kadmin.operations.record import OperationRecord, Paths, Step

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Desk:
    """What every command that works on operations needs: the store, the place, the time, and somebody to tell."""

    store: Store
    paths: Paths
    clock: Clock
    tell: events.Tell

    @property
    def journal(self) -> Journal:
        """The operations of this cluster."""
        return Journal(self.store, self.paths)


class Runner:
    """Runs one recorded operation under a lease until it is finished, stopped, or past its deadline."""

    def __init__(self, desk: Desk, record: OperationRecord, work: Work, holder: Holder, lease: Lease) -> None:
        self._desk = desk
        self._record = record
        self._work = work
        self._holder = holder
        self._lease = lease
        self._publisher = Publisher(desk.store, desk.paths, record.operation_id)
        self._steps: tuple[Step, ...] = ()
        self._started_at = desk.clock.now()

    @property
    def lease(self) -> Lease:
        """The lease as it is now: a session that expired brings a new one."""
        return self._lease

    def run(self, deadline: float | None) -> str:
        """Follow the operation to its end and return the success message; raises the error that ended it otherwise.

        `deadline` is on the desk's clock. Past it, or on a signal, the operation stays as it is and can be resumed.
        """
        memory = Memory()
        self._desk.store.sync("/")
        while True:
            observed = outlast(partial(self._observe, memory), self._desk, self._record.operation_id)
            memory = remember(memory, observed, self._desk.clock.now())
            action = decide(self._work, observed, memory, self._desk.clock.now())
            if isinstance(action, Finish):
                return self._finish(action)
            if deadline is not None and self._desk.clock.now() >= deadline:
                raise self._past_deadline(action, observed, memory)
            memory = outlast(partial(self._act, action, observed, memory), self._desk, self._record.operation_id)

    def _observe(self, memory: Memory) -> Observed:
        self._stop_if_asked()
        topics = self._topics(memory)
        state = read_cluster(self._desk.store, topics)
        self._steps = self._publisher.steps(self._steps)
        return Observed(state, self._steps)

    def _topics(self, memory: Memory) -> set[str]:
        work = self._work
        if isinstance(work, ReassignmentWork) and memory.wave < len(work.waves):
            return {wish.partition.topic for wish in work.waves[memory.wave]}
        return topics_of(work)

    def _act(self, action: Action, observed: Observed, memory: Memory) -> Memory:
        if isinstance(action, Advance):
            self._progress(observed, replace(memory, wave=action.wave), "")
            return replace(memory, wave=action.wave)
        if isinstance(action, Wait):
            self._progress(observed, memory, action.reason)
            self._desk.clock.wait(POLL_S)
            return memory
        if isinstance(action, AskListening):
            return self._ask(action.path, observed, memory)
        if isinstance(action, PublishWave | PublishElection | PublishDeletion):
            return self._publish(action, observed, memory)
        return memory

    def _ask(self, path: str, observed: Observed, memory: Memory) -> Memory:
        controller = observed.state.controller
        if controller is None:
            return memory
        answer = look(self._desk.store, path, controller, self._desk.clock)
        if answer is Listening.LISTENING:
            return replace(memory, listening=memory.listening | {path})
        if answer is Listening.DEAF:
            raise deaf(path, probed=False)
        step = next_step(self._steps, StepKind.PROBE, path, self._desk.clock.timestamp())
        self._desk.tell(events.Noted(f"probing whether the controller watches {path}"))
        published = self._publisher.probe(step, observed.state, self._lease)
        memory = self._after_publish(published, step, memory)
        return replace(memory, probe=step) if published is Published.YES else memory

    def _publish(
        self, action: PublishWave | PublishElection | PublishDeletion, observed: Observed, memory: Memory
    ) -> Memory:
        publisher, state, now = self._publisher, observed.state, self._desk.clock.timestamp()
        if isinstance(action, PublishWave):
            count, step = len(action.wishes), next_step(self._steps, StepKind.WAVE, REASSIGN_PARTITIONS, now)
            step = replace(step, wave=action.wave)
            published = publisher.wave(action, step, state, self._lease)
        elif isinstance(action, PublishElection):
            count, step = (
                len(action.partitions),
                next_step(self._steps, StepKind.ELECTION, PREFERRED_REPLICA_ELECTION, now),
            )
            step = replace(step, partitions=action.partitions)
            published = publisher.election(action, step, state, self._lease)
        else:
            count, step = len(action.topics), next_step(self._steps, StepKind.DELETION, DELETE_TOPICS, now)
            step = replace(step, topics=action.topics)
            published = publisher.deletion(action, step, state, self._lease)
        if published is Published.YES:
            self._desk.tell(events.Published(step.kind, count, step.number))
        return self._after_publish(published, step, memory)

    def _after_publish(self, published: Published, step: Step, memory: Memory) -> Memory:
        if published is Published.CHANGED:
            self._desk.tell(events.Noted("the cluster changed in this moment; looking again"))
            return replace(memory, attempts=memory.attempts + 1)
        if published is Published.NODE_PRESENT:
            self._finish(foreign_node(step.path))
        if published is Published.LOST_LOCK:
            self._regain_lock()
        return memory

    def _regain_lock(self) -> None:
        # Our session expired: kazoo made a new one, and whoever took the lock meanwhile is named by `take`. With the
        # same session as before, a person took the lock from us, and that is final.
        if self._lease.session_id == self._desk.store.session_id:
            raise lost_lock()
        self._desk.tell(events.Noted("the ZooKeeper session expired; taking the lock again"))
        self._lease = take(self._desk.store, self._desk.paths, self._holder, self._desk.clock, wait_s=0)

    def _finish(self, finish: Finish) -> str:
        if finish.state.finished:
            self._set_status(OperationStatus(finish.state, self._desk.clock.timestamp(), finish.message))
        if finish.error is not None:
            raise finish.error
        return finish.message

    def _set_status(self, status: OperationStatus) -> None:
        try:
            self._desk.journal.set_status(self._record.operation_id, status, self._lease)
        except LostLockError:
            self._regain_lock()
            self._desk.journal.set_status(self._record.operation_id, status, self._lease)

    def _progress(self, observed: Observed, memory: Memory, reason: str) -> None:
        found: Tally = tally(self._work, observed, memory)
        elapsed = self._desk.clock.now() - self._started_at
        self._desk.tell(
            events.Progressed(found.done, found.total, found.done_bytes, found.total_bytes, elapsed, reason)
        )

    def _stop_if_asked(self) -> None:
        number = self._desk.clock.stop_signal
        if number is not None:
            raise StoppedError(
                f"Stopped by signal {number}; operation {self._record.operation_id} is kept as it is.",
                signal_number=number,
                next_command=f"kadmin resume {self._record.operation_id}",
            )

    def _past_deadline(self, action: Action, observed: Observed, memory: Memory) -> KadminError:
        left = left_to_do(self._work, observed, memory)
        return NotCompletedError(
            f"The deadline passed with {len(left)} not done: {name_some(left)}; what runs, runs on.",
            cause=action.reason if isinstance(action, Wait) else None,
            next_command=f"kadmin resume {self._record.operation_id}",
        )
