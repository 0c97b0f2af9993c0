"""Reads the unfinished operations: progress, obstacles and runners."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.errors import NotAuthorizedError, NotZooKeeperModeError, UnreachableError
from kadmin.operations.decide import decide, recall, remember
from kadmin.operations.decide.actions import Observed
from kadmin.operations.decide.kinds import spec_of
from kadmin.operations.decide.settling import settle
from kadmin.operations.reading.directories import with_directories
from kadmin.operations.reading.late_requests import late_requests
from kadmin.operations.reading.next_action import advanced, obstacle_of
from kadmin.operations.reading.pace import Pace
from kadmin.operations.reading.rate_history import changed_rates
from kadmin.operations.reading.replica_bytes import ReplicaBytes
from kadmin.operations.reading.timeline import last_event
from kadmin.operations.record.codec import UndecodableError
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.record import OperationKind, OperationState
from kadmin.operations.record.steps import drains_of, published_by
from kadmin.operations.record.throttle_steps import current_hours, current_throttle
from kadmin.plan.pairs import paused

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kadmin.insight.diagnosis.operations import LateRequest
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Memory
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.events import Progressed
    from kadmin.operations.reading.rate_history import RateHistory
    from kadmin.operations.reading.timeline import TimelineEvent
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing, OperationRecord, ThrottleRecord


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An unfinished operation.

    Record and progress are None for a heal, and while the record is incomplete. The progress has a
    rate once it was read again, a time left while a runner is at work: without one no later wave
    begins. `throttle` is the present one. `waits_for` is the reason for which a runner would wait
    or stop on the present cluster; empty where the next request can be published. `unknown` is the
    reason that the cluster was not read. `read_at` is the time at which it was. `rates` are those
    of its throttle so far, None where it did not change. `last_event` is the last one on record.
    """

    listing: Listing
    record: OperationRecord | None = None
    progress: Progressed | None = None
    throttle: ThrottleRecord | None = None
    waits_for: str = ""
    unknown: str = ""
    read_at: datetime | None = None
    rates: RateHistory | None = None
    last_event: TimelineEvent | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The unfinished operations and the holder of the lock.

    Requests of finished operations that arrived late are beside them. `holder_died`: the holder's
    process was on this machine, and is not there any more; its lock is not free yet. `undecodable`
    are the errors of what is on record and cannot be decoded.
    """

    operations: tuple[Unfinished, ...]
    holder: Holder | None
    late: tuple[LateRequest, ...] = ()
    holder_died: bool = False
    undecodable: tuple[UndecodableError, ...] = ()

    def runner_of(self, listing: Listing) -> Holder | None:
        """Return the holder of the lock that runs an operation now, None where none does."""
        return self.holder if is_run_by(listing.operation_id, self.holder) else None


class StatusReader:
    """Reads the status again and again: each record once.

    A stall is known once nothing has changed for its time.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        # By operation and number of its further rounds, which add to its work.
        self._known: dict[
            tuple[str, int], tuple[OperationRecord, OperationSpec, ReplicaBytes, Pace]
        ] = {}
        self._memories: dict[str, Memory] = {}

    def read(self) -> Status:
        """Read every unfinished operation and the cluster.

        What is on record is read first: it is shown where brokers answer and controllers do not.
        """
        listings, undecodable = self._unfinished()
        holder = self._context.operations.lock.holder()
        died = self._context.died_here(holder)

        def decoded(read: Callable[[Listing], Unfinished], listing: Listing) -> Unfinished:
            try:
                return read(listing)
            except UndecodableError as error:
                undecodable.append(error)
                return Unfinished(listing, unknown=error.message)

        try:
            self._context.backend.check()
        except (NotAuthorizedError, NotZooKeeperModeError):
            raise
        except UnreachableError as lost:
            if not listings:
                raise
            on_record = partial(self._on_record, unknown=lost.message)
            found = tuple(decoded(on_record, listing) for listing in listings)
            return Status(found, holder, (), died, tuple(undecodable))
        found = tuple(decoded(partial(self._read, holder=holder), listing) for listing in listings)
        return Status(found, holder, late_requests(self._context), died, tuple(undecodable))

    def _unfinished(self) -> tuple[tuple[Listing, ...], list[UndecodableError]]:
        operations = self._context.operations
        try:
            return operations.unfinished(), []
        except UndecodableError as error:
            return tuple(
                each for each in operations.listings() if not each.status.state.finished
            ), [error]

    def read_one(self, operation_id: str) -> Unfinished:
        """Read one operation that is unfinished.

        What is on record alone where the cluster does not answer.
        """
        found = next(
            each
            for each in self._context.operations.listings()
            if each.operation_id == operation_id
        )
        try:
            return self._read(found, None)
        except UnreachableError as lost:
            if type(lost) is not UnreachableError:
                raise
            return self._on_record(found, lost.message)

    def _on_record(self, listing: Listing, unknown: str) -> Unfinished:
        if listing.status.state is OperationState.PREPARING or listing.kind is OperationKind.HEAL:
            return Unfinished(listing, unknown=unknown)
        listing = self._with_request(listing)
        record = self._context.operations.record(listing.operation_id)
        steps = self._context.operations.steps(listing.operation_id)
        throttle = current_throttle(record, steps)
        rates = changed_rates(record, steps, self._context.clock.utc())
        last = last_event(record, listing, steps)
        return Unfinished(
            listing, record, throttle=throttle, unknown=unknown, rates=rates, last_event=last
        )

    def _with_request(self, listing: Listing) -> Listing:
        """Return the listing with a request that no runner confirmed yet: the next one obeys it."""
        request = self._context.operations.request(listing.operation_id)
        if request is None or request.asked in listing.status.message:
            return listing
        message = "; ".join(filter(None, (listing.status.message, str(request))))
        return replace(listing, status=replace(listing.status, message=message))

    def _replica_bytes(self, work: OperationSpec) -> ReplicaBytes:
        # The runner notes brokers that do not answer: a note here would break the drawing on a
        # terminal.
        context = self._context
        return ReplicaBytes(work, context.backend.brokers, context.clock, lambda _: None)

    def _read(self, listing: Listing, holder: Holder | None) -> Unfinished:
        if listing.status.state is OperationState.PREPARING or listing.kind is OperationKind.HEAL:
            return Unfinished(listing)
        listing = self._with_request(listing)
        operation_id = listing.operation_id
        steps = self._context.operations.steps(operation_id)
        key = operation_id, len(drains_of(steps))
        if key not in self._known:
            record = self._context.operations.record(operation_id)
            work = spec_of(record, steps)
            self._known[key] = record, work, self._replica_bytes(work), Pace(work)
        record, work, replica_bytes, pace = self._known[key]
        backend = self._context.backend
        state = backend.read(work.topics())
        observed = Observed(state, published_by(steps), capabilities=backend.capabilities)
        now, at = self._context.clock.now(), self._context.clock.utc()
        throttle = current_throttle(record, steps)
        memory = self._memories.get(operation_id, recall(steps))
        memory = replace(memory, at_once=paused(current_hours(throttle), at))
        observed = with_directories(self._context, work, observed)
        memory = advanced(self._context, work, observed, memory, now)
        with replica_bytes:
            observed = replica_bytes.measure(observed, memory)
        self._memories[operation_id] = memory = remember(memory, observed, now)
        action = settle(decide(work, observed, memory, now), observed, memory, now)
        progress = pace.progress(
            observed, memory, now, None if throttle is None else throttle.rate, ""
        )
        if is_run_by(operation_id, holder):
            progress = pace.reckoned(progress, throttle, at)
        else:
            progress = replace(progress, eta_s=None)
        rates, waits_for = changed_rates(record, steps, at), obstacle_of(action)
        found = Unfinished(listing, record, progress, throttle, waits_for, read_at=at, rates=rates)
        return replace(found, last_event=last_event(record, listing, steps))
