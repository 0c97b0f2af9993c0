"""Resume, pause and cancel: an operation on record, taken over by anybody from any machine."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from kadmin.cluster.reader import require_kafka_cluster
from kadmin.errors import InvalidInputError, NotCompletedError
from kadmin.operations.holding import give_back, new_holder
from kadmin.operations.lock import EXPIRY_GRACE_S, POLL_S, read_holder, take
from kadmin.operations.record import OperationState, OperationStatus
from kadmin.operations.request import Request, StoppedByRequestError, Wish
from kadmin.operations.runner import Runner
from kadmin.operations.service import Outcome
from kadmin.operations.work import work_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.lock import Holder, Lease
    from kadmin.operations.record import Listing
    from kadmin.operations.runner import Desk
    from kadmin.operations.service import Bounds


def find_unfinished(desk: Desk, operation_id: str | None) -> str | None:
    """Return the unfinished operation that is meant, None when there is nothing to take over."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    if operation_id is None:
        return _only_unfinished(desk.journal.unfinished())
    return None if desk.journal.status(operation_id).state.finished else operation_id


def resume(desk: Desk, operation_id: str | None, bounds: Bounds) -> Outcome:
    """Bring an unfinished operation to its end; of a finished one only say so.

    A pause that was asked for is over; a cancel that nobody was there to hear is carried out.
    """
    unfinished = find_unfinished(desk, operation_id)
    if unfinished is None:
        return _already_finished(desk, operation_id)
    other = read_holder(desk.store, desk.paths)
    wait_s = bounds.lock_timeout_s + (other.session_timeout_s + EXPIRY_GRACE_S if other is not None else 0)
    with _taken(desk, unfinished, wait_s) as runner:
        if runner is None:
            return _already_finished(desk, unfinished)
        asked = desk.journal.request(unfinished)
        if asked is None or asked.wish is Wish.PAUSE:
            desk.journal.reopen(unfinished, _running(desk), runner.lease)
        return Outcome(unfinished, runner.run(bounds.deadline))


def stop(desk: Desk, operation_id: str | None, wish: Wish, bounds: Bounds, *, allow_foreign: bool = False) -> Outcome:
    """Pause or cancel: ask the runner where there is one, else take the operation over and do it here."""
    unfinished = find_unfinished(desk, operation_id)
    if unfinished is None:
        return _already_finished(desk, operation_id)
    state = desk.journal.status(unfinished).state
    if state is OperationState.PAUSED and wish is Wish.PAUSE:
        return _already_finished(desk, unfinished)
    now = desk.clock.timestamp()
    author = new_holder(desk, unfinished, now).author
    request = Request(wish, f"{author.user}@{author.host}", now, allow_foreign)
    if state is not OperationState.PREPARING:
        desk.clock.careful = True
        request = desk.journal.ask(unfinished, request)
        if (heard := _ask(desk, unfinished, request)) is not None:
            return Outcome(unfinished, heard)
    with _taken(desk, unfinished, bounds.lock_timeout_s) as runner:
        if runner is None:
            return _already_finished(desk, unfinished)
        try:
            return Outcome(unfinished, runner.run(bounds.deadline))
        except StoppedByRequestError:
            return Outcome(unfinished, desk.journal.status(unfinished).state.value)


@contextmanager
def _taken(desk: Desk, operation_id: str, wait_s: float) -> Iterator[Runner | None]:
    """Hold the lock with a runner for the operation; None where it came to its end while we waited for the lock."""
    holder = new_holder(desk, operation_id, desk.clock.timestamp())
    lease = take(desk.store, desk.paths, holder, desk.clock, wait_s)
    runner: Runner | None = None
    try:
        state = desk.journal.status(operation_id).state
        if state is OperationState.PREPARING:
            raise _discard(desk, operation_id, lease)
        if not state.finished:
            record = desk.journal.record(operation_id)
            runner = Runner(desk, record, work_of(record), holder, lease)
        yield runner
    finally:
        give_back(desk, runner.lease if runner is not None else lease)


def _ask(desk: Desk, operation_id: str, request: Request) -> str | None:
    """Wait until the runner has heard the request, and say so; None where no runner is there (any more)."""
    give_up: float | None = None
    while True:
        holder = read_holder(desk.store, desk.paths)
        if holder is None or holder.operation_id != operation_id:
            return None
        status = desk.journal.status(operation_id)
        if status.state is not OperationState.RUNNING:
            return f"{status.state}: {status.message}"
        if status.message == str(request):
            return f"the runner {holder} has heard it and stops at its next safe point; kadmin status shows when"
        desk.clock.stop_if_asked("the wish stays on record", f"kadmin status, to see what becomes of {operation_id}")
        now = desk.clock.now()
        give_up = now + _patience(holder) if give_up is None else give_up
        if now >= give_up:
            raise NotCompletedError(
                f"The runner {holder} holds the lock and has not answered; the wish stays on record.",
                next_command=f"kadmin status; a runner that is stuck: kadmin lock release {operation_id}",
            )
        desk.clock.wait(POLL_S)


def _patience(holder: Holder) -> float:
    # A runner that died keeps its lock for one session timeout; one that lives may be reading a large cluster.
    return 2 * (holder.session_timeout_s + EXPIRY_GRACE_S)


def _running(desk: Desk) -> OperationStatus:
    return OperationStatus(OperationState.RUNNING, desk.clock.timestamp())


def _already_finished(desk: Desk, operation_id: str | None) -> Outcome:
    if operation_id is None:
        return Outcome(None, "no operation is unfinished")
    status = desk.journal.status(operation_id)
    return Outcome(operation_id, f"already {status.state}: {status.message}")


def _only_unfinished(unfinished: tuple[Listing, ...]) -> str | None:
    if len(unfinished) > 1:
        names = ", ".join(listing.operation_id for listing in unfinished)
        raise InvalidInputError(f"Several operations are unfinished: {names}.", next_command="name one")
    return unfinished[0].operation_id if unfinished else None


def _discard(desk: Desk, operation_id: str, lease: Lease) -> NotCompletedError:
    status = OperationStatus(OperationState.DISCARDED, desk.clock.timestamp(), "its record was never whole")
    desk.journal.set_status(operation_id, status, lease)
    return NotCompletedError(
        f"Operation {operation_id} died before its record was whole; nothing was published, it is discarded.",
        next_command="kadmin apply FILE, again",
    )
