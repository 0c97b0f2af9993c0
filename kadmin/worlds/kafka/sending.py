"""Sends a request to the brokers once its step is on record, and then puts the outcome on record.

A step on record proves that the lock is ours for SEND_BY_S: a process that slept longer may have
lost it, and writes the step again. A request that was not answered may be applied at any later
time; its step records that. A step may have several requests: then each proves the lock anew.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from kadmin.errors import (
    KadminError,
    NotAuthorizedError,
    NotCompletedError,
    UnknownOutcomeError,
    UnreachableError,
)
from kadmin.next_step import command
from kadmin.operations.port import PublishOutcome
from kadmin.operations.record.steps import Sending
from kadmin.worlds.kafka.wire.connection import uptime_s
from kadmin.worlds.kafka.wire.errors import TooLateError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step
    from kadmin.operations.store import OperationStore

SEND_BY_S = 3.0
"""Seconds after which a step on record is no longer proof that the lock is ours."""
_ATTEMPTS = 3


def send_on_record(
    operations: OperationStore,
    step: Step,
    lease: Lease,
    send: Callable[[float], Mapping[str, Any] | None],
) -> PublishOutcome:
    """Write the step, send, and write the step with the outcome.

    `send` gets the time by which the request must be sent, in seconds of `uptime_s`. It returns the
    fields of the step that the answer fills, or None where the cluster is not as it was seen: then
    nothing was sent.
    """
    step = replace(step, sending=Sending.UNANSWERED)
    for _ in range(_ATTEMPTS):
        send_by = uptime_s() + SEND_BY_S
        operations.write_step(step, lease)
        try:
            outcome = send(send_by)
        except UnknownOutcomeError:
            return PublishOutcome.UNANSWERED
        except TooLateError:
            continue
        except UnreachableError:
            operations.write_step(replace(step, sending=Sending.NOT_APPLIED), lease)
            raise
        if outcome is None:
            operations.write_step(replace(step, sending=Sending.NOT_APPLIED), lease)
            return PublishOutcome.CHANGED
        operations.write_step(replace(step, sending=Sending.ANSWERED, **outcome), lease)
        return PublishOutcome.PUBLISHED
    operations.write_step(replace(step, sending=Sending.NOT_APPLIED), lease)
    raise NotCompletedError(
        f"The brokers took more than {SEND_BY_S:g} s to accept a request, {_ATTEMPTS} times.",
        cause="a request that is based on older readings is not sent",
        next_step=command("resume") + ", when the brokers answer faster",
    )


class RequestsOfStep:
    """The requests of one step.

    The step is on record as unanswered until every request has its answer. Without a step
    (`throttle set` without an operation), only the lock is checked before each request.
    """

    def __init__(self, operations: OperationStore, lease: Lease, step: Step | None) -> None:
        self._operations = operations
        self._lease = lease
        self._step = step
        self._is_on_record = False
        self.unanswered = False
        """Whether a request was sent and got no answer: it may be applied at any later time."""

    def prove(self) -> float:
        """Prove that the lock is ours.

        Returns the time by which the next request must be sent (`uptime_s`).
        """
        send_by = uptime_s() + SEND_BY_S
        if self._step is None:
            self._operations.confirm(self._lease)
        else:
            self._operations.write_step(
                replace(self._step, sending=Sending.UNANSWERED), self._lease
            )
            self._is_on_record = True
        return send_by

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._step is None or not self._is_on_record or self.unanswered:
            return
        answered = replace(self._step, sending=Sending.ANSWERED)
        if error is None:
            self._operations.write_step(answered, self._lease)
        elif isinstance(error, NotCompletedError | NotAuthorizedError):  # what brokers answered
            with suppress(KadminError):
                self._operations.write_step(answered, self._lease)
