"""Runs one recorded operation: observes the cluster, decides, publishes, records."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeGuard

from kadmin.errors import KadminError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.decide import decide, recall, remember
from kadmin.operations.decide.actions import (
    Advance,
    AskEmpty,
    AskHealth,
    AskStop,
    Finish,
    HealthSeen,
    Memory,
    NoteGone,
    Observed,
    PlanRound,
    RestoreConfigs,
    RunErrand,
    Wait,
    unfinished,
)
from kadmin.operations.decide.cancel_now import decide_cancel
from kadmin.operations.decide.cancellation import CancellationWork
from kadmin.operations.decide.copies import CopyingSpec
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.leaving import LeftError, leave
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.decide.settling import settle, settles
from kadmin.operations.decide.stop_request import stopped
from kadmin.operations.execute.errands import Errands
from kadmin.operations.execute.follow import Loop, follow
from kadmin.operations.execute.leftovers import copies_left, past_deadline
from kadmin.operations.execute.losses import with_losses
from kadmin.operations.execute.pacer import Pacer
from kadmin.operations.execute.sender import Sender
from kadmin.operations.observers.health import HealthGate
from kadmin.operations.observers.other_tools import OtherTools
from kadmin.operations.reading.directories import DirectoryReader, between_disks_now
from kadmin.operations.reading.empty import see_empty
from kadmin.operations.reading.pace import Pace
from kadmin.operations.reading.replica_bytes import ReplicaBytes
from kadmin.operations.reading.stop import see_stop
from kadmin.operations.record.record import OperationState, OperationStatus
from kadmin.operations.record.steps import CancelStep, published_by
from kadmin.operations.record.stop_request import Stop, StoppedByRequestError
from kadmin.operations.throttles.late_brokers import LateBrokers
from kadmin.operations.throttles.operation import Throttling

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import Action
    from kadmin.operations.record.record import OperationRecord
    from kadmin.operations.record.steps import Step
    from kadmin.operations.record.stop_request import StopRequest
    from kadmin.operations.session import Session


class Runner:
    """Runs a recorded operation under a lease until it is finished, stopped, or out of time.

    `leaves`: it ends outside the hours of the operation, too.
    """

    def __init__(self, session: Session, record: OperationRecord, *, leaves: bool = False) -> None:
        self._leaves = leaves
        self._session = session
        self._context = session.context
        self._record = record
        self._memory = Memory()
        self._steps = session.steps()
        self._answered: StopRequest | None = None
        self._noted = ""
        self._equip(self._steps)

    def _equip(self, steps: tuple[Step, ...]) -> None:
        """Make all that depends on the work, which a further round of a decommission extends."""
        context, record, work = self._context, self._record, spec_of(self._record, steps)
        self._work = work
        self._other_tools = OtherTools(context, work)
        self._health_gate = HealthGate(context, record, self._other_tools)
        between_disks = partial(between_disks_now, context, record.operation_id, work)
        self._throttling = Throttling(context, record, work, between_disks)
        self._late_brokers = LateBrokers(context, work, self._throttling)
        self._replica_bytes = ReplicaBytes(
            work, context.backend.brokers, context.clock, context.tell
        )
        self._directories = DirectoryReader(
            work, context.backend.brokers, context.clock, context.tell
        )
        self._pace = Pace(work)
        self._pacer = Pacer(context, work, self._throttling)

    def run(self, seen: ClusterState | None = None, warning: str | None = None) -> str:
        """Run the operation to its end and return the success message.

        Raises the error that ended it. `seen` is the reading from which a new operation was
        recorded; `warning` names facts that it lacked.

        At the command's end, or on a signal, the operation can be resumed. The throttle is set
        before the first wave, except by a run that only stops the operation. It is removed at the
        end unless partitions are in flight.
        """
        operation_id = self._record.operation_id
        loop: Loop[Observed, Action] = Loop(
            self._observe,
            self._decide,
            self._act,
            self._on_wait,
            self._past_deadline,
            "copies in progress continue",
            command("resume", operation_id),
        )
        self._context.tell(events.OperationStarted(operation_id, self._record.cluster_id))
        if warning is not None:
            self._note(f"warning: {warning}")
        try:
            if self._session.request() is None:
                self._session.write(self._throttling.set_up)
            self._context.backend.check()
            self._memory = recall(self._steps, seen)
            finish, observed = follow(loop, self._context)
            return self._finish(finish, observed)
        except KadminError as error:
            self._throttling.leave(error, self._session.lease)
            raise
        finally:
            self._close()

    def _close(self) -> None:
        self._pacer.close()
        self._replica_bytes.close()
        self._directories.close()

    def _observe(self) -> Observed:
        context, request = self._context, self._session.request()
        self._answer(request)
        if isinstance(self._work, CopyingSpec):
            self._session.write(self._throttling.take_up)
            self._session.write(self._throttling.reconcile)
        cancelling = self._cancelling(request)
        topics = self._work.topics(None if cancelling else self._memory.wave)
        state = context.backend.read(topics)
        pending = state.requests.reassignment
        superseding = cancelling or isinstance(self._work, CancellationWork)
        named = (
            {each.topic for each in pending.entries or ()}
            if superseding and pending is not None
            else set()
        )
        if not named <= topics:
            state = context.backend.read(topics | named)
        self._steps = self._session.steps()
        steps = published_by(self._steps)
        observed = Observed(state, steps, context.backend.capabilities, request)
        if not cancelling:
            observed = self._replica_bytes.measure(observed, self._memory)
        observed = self._directories.look(observed, self._memory)
        self._remember(observed)
        if request is None:
            self._session.write(partial(self._late_brokers.look, state))
            self._watch_others()
        # A run that only stops the operation before its first wave sets no throttle.
        if request is None or (not cancelling and self._work.in_flight(observed, self._memory)):
            self._keep_pace(observed)
        return observed

    @staticmethod
    def _cancelling(request: StopRequest | None) -> TypeGuard[StopRequest]:
        return request is not None and request.stop is Stop.CANCEL_NOW

    def _remember(self, observed: Observed) -> None:
        last_epoch, controller = self._memory.epoch, observed.state.controller
        self._memory = remember(self._memory, observed, self._context.clock.now())
        if last_epoch not in {None, self._memory.epoch} and controller is not None:
            self._note(f"the active controller is now {controller.broker_id}")

    def _answer(self, request: StopRequest | None) -> None:
        # The requester waits for this answer, and no longer than for an outage of the cluster.
        if request is None or request == self._answered:
            return
        self._answered = request
        self._note(request.asked)
        self._session.set_status(replace(self._running(str(request)), answered=request))

    def _running(self, message: str) -> OperationStatus:
        now = self._context.clock.timestamp()
        return OperationStatus(OperationState.RUNNING, now, message, leaves=self._leaves)

    def _decide(self, observed: Observed) -> Action:
        action, memory, now = self._next(observed), self._memory, self._context.clock.now()
        if not settles(action, observed):
            if memory.ends_since is not None:
                self._note("a request that got no answer was applied late")
            self._memory = replace(memory, ends_since=None)
        elif memory.ends_since is None:
            self._memory = replace(memory, ends_since=now)
        return settle(action, observed, self._memory, now)

    def _next(self, observed: Observed) -> Action:
        request = observed.request
        if not self._cancelling(request):
            action = decide(self._work, observed, self._memory, self._context.clock.now())
            if not self._leaves:
                return action
            return leave(action, self._work, observed, self._memory, self._pacer.until)
        if not isinstance(self._work, ReassignmentWork):
            again = command("cancel", self._record.operation_id)
            text = f"A running {self._record.kind} cannot be taken back."
            return unfinished(NotCompletedError(text, next_step=again))
        memory, now = self._memory, self._context.clock.now()
        return decide_cancel(self._work, observed, memory, now, allow_foreign=request.allow_foreign)

    def _act(self, action: Action, observed: Observed) -> str | None:
        match action:
            case Advance():
                self._memory = replace(self._memory, wave=action.wave)
                self._progress(observed, "")
            case AskHealth():
                self._compare_health(action)
            case AskStop():
                self._memory = replace(self._memory, stop=see_stop(self._context, action))
            case AskEmpty():
                self._look_whether_empty(action)
            case NoteGone() | PlanRound() | RunErrand() | RestoreConfigs():
                return self._run_errand(action)
            case Wait() | Finish():
                return None
            case _:
                sender = Sender(self._session, self._memory, self._steps)
                reason = sender.send(action, observed)
                self._memory = sender.memory
                return reason
        return None

    def _compare_health(self, action: AskHealth) -> None:
        trouble, note = self._health_gate.look(action.waves)
        if note is not None:
            self._note(note)
        self._memory = replace(
            self._memory, health=HealthSeen(self._memory.wave, self._context.clock.now(), trouble)
        )

    def _look_whether_empty(self, action: AskEmpty) -> None:
        seen = see_empty(self._context, action)
        self._memory = replace(self._memory, empty=seen)
        if not seen.landed and not seen.why_not:
            # A broker that is gone cannot have its own values back.
            again = command("resume", self._record.operation_id)
            self._session.write(lambda lease: self._throttling.take_down(lease, again))

    def _run_errand(self, action: NoteGone | PlanRound | RunErrand | RestoreConfigs) -> str | None:
        context, steps = self._context, self._session.steps()
        reason = self._session.write(lambda lease: Errands(context, steps, lease).run(action))
        if reason is not None:
            return reason
        if isinstance(action, RunErrand):
            errands = self._memory.errands | {action.errand}
            self._memory = replace(self._memory, errands=errands)
        if isinstance(action, PlanRound):
            self._close()
            self._equip(self._session.steps())
            self._memory = replace(self._memory, empty=None)
        if isinstance(action, NoteGone | PlanRound):
            self._session.write(self._throttling.set_up)
        return None

    def _finish(self, finish: Finish, observed: Observed) -> str:
        if self._cancelling(observed.request):
            if finish.state is OperationState.RUNNING and finish.error is not None:
                self._forget_request(finish.error)
                raise finish.error
            work = self._work if isinstance(self._work, ReassignmentWork) else None
            left = copies_left(self._context, () if work is None else work.targets, observed)
            rollback = None if work is None else work.undone_by(observed, None)
            finish = replace(finish, message=finish.message + left)
            finish = (
                finish
                if finish.error is not None
                else stopped(observed.request, rollback, finish.message)
            )
        elif isinstance(self._work, CancellationWork) and finish.error is None:
            left = copies_left(self._context, self._work.ended, observed)
            finish = replace(finish, message=finish.message + left)
        if finish.state is not OperationState.RUNNING:
            finish = with_losses(self._context, self._record, finish, observed, self._memory)
            # First: while the operation is unfinished, any machine can still remove the throttle.
            ends, leaves = finish.state.finished, isinstance(finish.error, LeftError)
            again = command("resume", self._record.operation_id)
            remains = self._session.write(
                lambda lease: (
                    self._throttling.take_down(lease, again)
                    if leaves
                    else self._throttling.end(lease, finishes=ends)
                )
            )
            if remains is not None:
                self._note(f"{remains.message} {remains.cause}")
                stopped_well = finish.error is None or isinstance(
                    finish.error, StoppedByRequestError
                )
                error = remains if stopped_well else finish.error
                finish = replace(
                    finish, message=f"{finish.message}; {remains.message}", error=error
                )
            now, removed = self._context.clock.timestamp(), self._throttling.removed
            status = OperationStatus(finish.state, now, finish.message, throttle_removed=removed)
            self._session.set_status(replace(status, leaves=leaves))
            self._context.tell(
                events.StateChanged(finish.state.value, finish.message, finish.lost_records)
            )
        if finish.error is not None:
            raise finish.error
        return finish.message

    def _forget_request(self, refusal: KadminError) -> None:
        """Drop a request to cancel that was refused before any effect: `resume` then resumes."""
        if not any(isinstance(step, CancelStep) for step in published_by(self._steps)):
            why = f"the request to cancel was refused: {refusal.message}"
            self._session.reopen(self._running(why))

    def _on_wait(self, wait: Wait, observed: Observed) -> None:
        if not self._cancelling(observed.request):
            self._progress(observed, wait.reason)
        elif wait.reason != self._noted:
            self._noted = wait.reason
            self._note(wait.reason)

    def _watch_others(self) -> None:
        if (note := self._other_tools.look()) is not None:
            self._note(note)
            # `status` reads the topics of the operation alone.
            self._session.set_status(self._running(self._other_tools.message))

    def _keep_pace(self, observed: Observed) -> None:
        cluster, memory = self._other_tools.cluster, self._memory
        note = self._session.write(lambda lease: self._pacer.look(observed, memory, cluster, lease))
        if note is not None:
            self._note(note)
        adds = not observed.capabilities.publish.waits
        self._memory = replace(memory, at_once=self._pacer.at_once(adds=adds))

    def _progress(self, observed: Observed, reason: str) -> None:
        now, throttle = self._context.clock.now(), self._throttling.current
        rate = None if throttle is None else throttle.rate
        found = self._pace.progress(observed, self._memory, now, rate, reason)
        found = replace(found, throttle=rate, signals=self._pacer.signals)
        self._context.tell(self._pace.reckoned(found, throttle, self._context.clock.utc()))

    def _note(self, text: str) -> None:
        self._context.tell(events.Note(text))

    def _past_deadline(self, reason: str | None, observed: Observed) -> KadminError:
        left = None
        if not self._cancelling(observed.request):
            left = self._work.left_to_do(observed, self._memory)
        return past_deadline(self._record.operation_id, left, reason)
