"""The loop: observe, decide, act, record. It is the only one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.listening import Listening
from kadmin.cluster.zookeeper.reader import read_cluster
from kadmin.cluster.zookeeper.znodes.admin import DELETE_TOPICS, PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.cluster.zookeeper.znodes.topics import topic_path
from kadmin.errors import KadminError, NotCompletedError, name_some
from kadmin.insight.diagnosis.health import health_of, new_trouble
from kadmin.operations.decide import decide, remember
from kadmin.operations.decide.actions import (
    Advance,
    AskHealth,
    AskListening,
    Finish,
    HealthSeen,
    Memory,
    Observed,
    Publish,
    PublishDeletion,
    PublishElection,
    PublishTopic,
    PublishWave,
    ReassignmentWork,
    Wait,
)
from kadmin.operations.decide.common import deaf, foreign_node
from kadmin.operations.decide.stop_request import stopped
from kadmin.operations.execute import events
from kadmin.operations.execute.cancel_now import cancel_now
from kadmin.operations.execute.progress import left_to_do, tally, topics_of
from kadmin.operations.execute.retry import outlast
from kadmin.operations.record.record import OperationState, OperationStatus, StepKind
from kadmin.operations.record.request import Stop
from kadmin.operations.throttles.operation import Throttling
from kadmin.operations.zookeeper.journal import Journal, LostLockError, lost_lock
from kadmin.operations.zookeeper.listening import look
from kadmin.operations.zookeeper.lock import take
from kadmin.operations.zookeeper.publish import Publisher, PublishOutcome, next_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.clock import Clock
    from kadmin.operations.decide.actions import Action, Work
    from kadmin.operations.execute.progress import Tally
    from kadmin.operations.record.record import OperationRecord, Paths, Step
    from kadmin.operations.record.request import StopRequest
    from kadmin.operations.zookeeper.lock import Holder, Lease

POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Context:
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

    def __init__(self, context: Context, record: OperationRecord, work: Work, holder: Holder, lease: Lease) -> None:
        self._context = context
        self._record = record
        self._work = work
        self._holder = holder
        self._lease = lease
        self._publisher = Publisher(context.store, context.paths, record.operation_id)
        self._steps: tuple[Step, ...] = ()
        self._heard: StopRequest | None = None
        self._throttling = Throttling(context, record, work)
        self._started_at = context.clock.now()

    @property
    def lease(self) -> Lease:
        """The lease as it is now: a session that expired brings a new one."""
        return self._lease

    def run(self, deadline: float | None) -> str:
        """Follow the operation to its end and return the success message; raises the error that ended it otherwise.

        `deadline` is on the context's clock. Past it, or on a signal, the operation stays as it is and can be resumed.
        The throttle is on before the first wave, and off at every way out that finds nothing in flight.
        """
        try:
            self._under_lock(lambda lease: self._throttling.set_up(lease, deadline))
            return self._follow(deadline)
        except KadminError as error:
            self._throttling.leave(error, self._lease)
            raise

    def _follow(self, deadline: float | None) -> str:
        memory = Memory()
        self._context.store.sync("/")
        while True:
            observed = outlast(partial(self._observe, memory), self._context, self._record.operation_id)
            memory = self._remember(memory, observed)
            self._hear(observed.request)
            if observed.request is not None and observed.request.stop is Stop.CANCEL_NOW:
                return self._cancel_now(observed.request, deadline)
            action = decide(self._work, observed, memory, self._context.clock.now())
            if isinstance(action, Finish):
                return self._finish(action)
            if deadline is not None and self._context.clock.now() >= deadline:
                raise self._past_deadline(action, observed, memory)
            memory = outlast(partial(self._act, action, observed, memory), self._context, self._record.operation_id)

    def _observe(self, memory: Memory) -> Observed:
        self._stop_if_asked()
        topics = self._topics(memory)
        state = read_cluster(self._context.store, topics)
        self._steps = self._context.journal.steps(self._record.operation_id, self._steps)
        request = self._context.journal.request(self._record.operation_id)
        return Observed(state, self._steps, request)

    def _remember(self, memory: Memory, observed: Observed) -> Memory:
        known, controller = memory.epoch, observed.state.controller
        memory = remember(memory, observed, self._context.clock.now())
        if known not in {None, memory.epoch} and controller is not None:
            self._context.tell(
                events.Noted(f"the controller is now broker {controller.broker_id}, epoch {memory.epoch}")
            )
        return memory

    def _cancel_now(self, request: StopRequest, deadline: float | None) -> str:
        message = cancel_now(
            self._context, self._record, self._lease, allow_foreign=request.allow_foreign, deadline=deadline
        )
        return self._finish(stopped(request, message))

    def _hear(self, request: StopRequest | None) -> None:
        # Whoever asked looks for this answer: without it nobody may be there to hear.
        if request is None or request == self._heard:
            return
        self._heard = request
        self._context.tell(events.Noted(str(request)))
        self._set_status(OperationStatus(OperationState.RUNNING, self._context.clock.timestamp(), str(request)))

    def _topics(self, memory: Memory) -> set[str]:
        work = self._work
        if isinstance(work, ReassignmentWork) and memory.wave < len(work.waves):
            return {target.partition.topic for target in work.waves[memory.wave]}
        return topics_of(work)

    def _act(self, action: Action, observed: Observed, memory: Memory) -> Memory:
        if isinstance(action, Advance):
            self._progress(observed, replace(memory, wave=action.wave), "")
            return replace(memory, wave=action.wave)
        if isinstance(action, Wait):
            self._progress(observed, memory, action.reason)
            self._context.clock.wait(POLL_S)
            return memory
        if isinstance(action, AskListening):
            return self._ask(action.path, observed, memory)
        if isinstance(action, AskHealth):
            return self._look_at_health(memory)
        if isinstance(action, Publish):
            return self._publish(action, observed, memory)
        return memory

    def _ask(self, path: str, observed: Observed, memory: Memory) -> Memory:
        controller = observed.state.controller
        if controller is None:
            return memory
        answer = look(self._context.store, path, controller, self._context.clock)
        if answer is Listening.LISTENING:
            return replace(memory, listening=memory.listening | {path})
        if answer is Listening.DEAF:
            raise deaf(path, probed=False)
        step = next_step(self._steps, StepKind.PROBE, path, self._context.clock.timestamp())
        self._context.tell(events.Noted(f"probing whether the controller watches {path}"))
        published = self._publisher.probe(step, observed.state, self._lease)
        memory = self._after_publish(published, step, memory)
        return replace(memory, probe=step) if published is PublishOutcome.YES else memory

    def _look_at_health(self, memory: Memory) -> Memory:
        before, state = self._record.health, read_cluster(self._context.store, with_configs=True)
        now = health_of(state)
        ours = self._record.origin
        trouble = () if before is None else new_trouble(before, now, ours)
        known = sorted(now.offline | now.under_min_isr)
        if known and not trouble:
            self._context.tell(
                events.Noted(f"in trouble before, or of this plan, and no reason to stop: {name_some(known)}")
            )
        return replace(memory, health=HealthSeen(memory.wave, self._context.clock.now(), trouble))

    def _publish(self, action: Publish, observed: Observed, memory: Memory) -> Memory:
        publisher, state, lease, now = self._publisher, observed.state, self._lease, self._context.clock.timestamp()
        match action:
            case PublishWave():
                count, step = len(action.targets), next_step(self._steps, StepKind.WAVE, REASSIGN_PARTITIONS, now)
                step = replace(step, wave=action.wave)
                published = publisher.wave(action, step, state, lease)
            case PublishElection():
                count, path = len(action.partitions), PREFERRED_REPLICA_ELECTION
                step = replace(next_step(self._steps, StepKind.ELECTION, path, now), partitions=action.partitions)
                published = publisher.election(action, step, state, lease)
            case PublishDeletion():
                count, step = len(action.topics), next_step(self._steps, StepKind.DELETION, DELETE_TOPICS, now)
                step = replace(step, topics=action.topics)
                published = publisher.deletion(action, step, state, lease)
            case PublishTopic():
                count, topic = 1, action.recipe.topic
                step = replace(next_step(self._steps, StepKind.CREATION, topic_path(topic), now), topics=(topic,))
                published = publisher.creation(action, step, state, lease)
        if published is PublishOutcome.YES:
            self._context.tell(events.StepPublished(step.kind, count, step.number))
        return self._after_publish(published, step, memory)

    def _after_publish(self, published: PublishOutcome, step: Step, memory: Memory) -> Memory:
        if published is PublishOutcome.CHANGED:
            self._context.tell(events.Noted("the cluster changed in this moment; looking again"))
            return replace(memory, attempts=memory.attempts + 1)
        if published is PublishOutcome.NODE_PRESENT:
            self._finish(foreign_node(step.path))
        if published is PublishOutcome.LOST_LOCK:
            self._regain_lock()
        return memory

    def _regain_lock(self) -> None:
        # Our session expired: kazoo made a new one, and whoever took the lock meanwhile is named by `take`. With the
        # same session as before, a person took the lock from us, and that is final.
        if self._lease.session_id == self._context.store.session_id:
            raise lost_lock()
        self._context.tell(events.Noted("the ZooKeeper session expired; taking the lock again"))
        self._lease = take(self._context.store, self._context.paths, self._holder, self._context.clock, wait_s=0)

    def _finish(self, finish: Finish) -> str:
        if finish.state is not OperationState.RUNNING:
            # First: of an operation that is not finished yet, any machine can still take the throttle off.
            self._under_lock(lambda lease: self._throttling.take_down(lease, "kadmin throttle clear"))
            self._set_status(OperationStatus(finish.state, self._context.clock.timestamp(), finish.message))
        if finish.error is not None:
            raise finish.error
        return finish.message

    def _set_status(self, status: OperationStatus) -> None:
        self._under_lock(lambda lease: self._context.journal.set_status(self._record.operation_id, status, lease))

    def _under_lock(self, write: Callable[[Lease], None]) -> None:
        try:
            write(self._lease)
        except LostLockError:
            self._regain_lock()
            write(self._lease)

    def _progress(self, observed: Observed, memory: Memory, reason: str) -> None:
        found: Tally = tally(self._work, observed, memory)
        elapsed = self._context.clock.now() - self._started_at
        self._context.tell(
            events.Progressed(found.done, found.total, found.done_bytes, found.total_bytes, elapsed, reason)
        )

    def _stop_if_asked(self) -> None:
        operation_id = self._record.operation_id
        self._context.clock.stop_if_asked(f"operation {operation_id} is kept as it is", f"kadmin resume {operation_id}")

    def _past_deadline(self, action: Action, observed: Observed, memory: Memory) -> KadminError:
        left = left_to_do(self._work, observed, memory)
        return NotCompletedError(
            f"The deadline passed with {len(left)} not done: {name_some(left)}; what runs, runs on.",
            cause=action.reason if isinstance(action, Wait) else None,
            next_command=f"kadmin resume {self._record.operation_id}",
        )
