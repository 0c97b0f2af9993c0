"""Sends requests of a running operation to the cluster, and takes in what became of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.model import Listening
from kadmin.operations import events
from kadmin.operations.decide.actions import AskListening, Probe, PublishElection, TakeBack, step_of
from kadmin.operations.decide.common import not_watching, occupied
from kadmin.operations.port import Postponed, PublishOutcome
from kadmin.operations.reading.listening import listening_of
from kadmin.operations.record.steps import CancelStep, Channel, ProbeStep, published_by

if TYPE_CHECKING:
    from kadmin.operations.decide.actions import Memory, Observed, Publish
    from kadmin.operations.record.steps import Step
    from kadmin.operations.session import Session


class Sender:
    """Sends one request; `memory` is the run's, with what the answer adds.

    `steps` are those on record, after which a new one is numbered.
    """

    def __init__(self, session: Session, memory: Memory, steps: tuple[Step, ...]) -> None:
        self._session = session
        self._context = session.context
        self._steps = steps
        self.memory = memory

    def send(self, action: AskListening | TakeBack | Publish, observed: Observed) -> str | None:
        """Return the reason to wait before the next reading, None to read at once."""
        match action:
            case AskListening():
                return self._ask(action.channel, observed)
            case TakeBack():
                return self._take_back(action, observed)
            case _:
                return self._publish(action, observed)

    def _ask(self, channel: Channel, observed: Observed) -> str | None:
        if observed.state.controller is None:
            return None
        backend = self._context.backend
        answer = listening_of(backend, channel, observed.state)
        if answer is Listening.LISTENING:
            self.memory = replace(self.memory, listening=self.memory.listening | {channel})
            return None
        if answer is Listening.DEAF:
            raise not_watching(backend.channel_name(channel), probed=False)
        self._note(f"probing whether the controller watches {backend.channel_name(channel)}")
        return self._publish(Probe(channel), observed)

    def _publish(self, action: Publish, observed: Observed) -> str | None:
        step, affected = step_of(action, len(self._steps) + 1, self._context.clock.timestamp())
        result = self._context.backend.publish(step, action, observed.state, self._session.lease)
        match result:
            case Postponed():
                return result.reason
            case PublishOutcome.PUBLISHED if isinstance(step, ProbeStep):
                self.memory = replace(self.memory, probe=step)
            case PublishOutcome.PUBLISHED:
                self._context.tell(events.StepPublished(step.kind, affected, step.number))
            case PublishOutcome.UNANSWERED:
                self._note(
                    f"step {step.number} was not answered; the cluster shows what becomes of it"
                )
            case PublishOutcome.CHANGED:
                self._note("the cluster changed since it was read; reading it again")
                self.memory = replace(self.memory, attempts=self.memory.attempts + 1)
            case PublishOutcome.OCCUPIED:
                channel = (
                    Channel.ELECTION
                    if isinstance(action, PublishElection)
                    else Channel.REASSIGNMENT
                )
                raise occupied(self._context.backend.channel_name(channel))
            case PublishOutcome.LOST_LOCK:
                self._session.regain()
        return None

    def _take_back(self, action: TakeBack, observed: Observed) -> str | None:
        affected = tuple(action.origin)
        step = CancelStep(len(self._steps) + 1, self._context.clock.timestamp(), affected)
        result = self._context.backend.take_back(step, action, observed.state, self._session.lease)
        match result:
            case Postponed():
                return result.reason
            case PublishOutcome.PUBLISHED:
                attempt = 1 + sum(
                    isinstance(each, CancelStep) for each in published_by(self._steps)
                )
                self._context.tell(
                    events.StepPublished(step.kind, len(affected), step.number, attempt)
                )
            case PublishOutcome.LOST_LOCK:
                self._session.regain()
            case PublishOutcome.UNANSWERED:
                return f"step {step.number} was not answered; the cluster shows what becomes of it"
            case PublishOutcome.CHANGED | PublishOutcome.OCCUPIED:
                return "the cluster changed since it was read; reading it again"
        return None

    def _note(self, text: str) -> None:
        self._context.tell(events.Note(text))
