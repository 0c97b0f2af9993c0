"""Unfinished operations, the history and the lock, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.answers import operations as answers
from kadmin.answers.hours import hours_answer, utc_text
from kadmin.cluster.names import one_line
from kadmin.next_step import command, joined
from kadmin.operations.decide.wave import COPYING
from kadmin.operations.record.holder import is_run_by
from kadmin.operations.record.record import OperationState
from kadmin.plan.hours import until
from kadmin.plan.model import hours_of
from kadmin.plan.throttle_words import hours_in_words, throttle_in_words
from kadmin.report.kinds import words_of
from kadmin.report.operations.progress_line import fields
from kadmin.report.operations.rate_lines import rate_lines, rates_answer
from kadmin.report.text import NOTHING, table
from kadmin.schema.shapes import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.next_step import Naming
    from kadmin.operations.events import Progressed
    from kadmin.operations.reading.status import Status, Unfinished
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing


def status_text(status: Status, named: Naming = str) -> str:
    """Show each unfinished operation, its runner, and the commands that finish it."""
    lines = [line for each in status.operations for line in _unfinished(each, status, named)]
    late = "applied late, of a finished operation: {}; to take it back: {}"
    taken_back = [late.format(each, named(each.next_step)) for each in status.late]
    return "\n".join([*(lines or ["no operation is unfinished"]), *taken_back])


STATUS_COLUMNS = ("operation", "kind", "state", "done")


def status_rows(status: Status) -> list[tuple[str, ...]]:
    """Return a row of STATUS_COLUMNS for each unfinished operation.

    Where there is none, return one row without values.
    """
    rows: list[tuple[str, ...]] = [
        (
            each.listing.operation_id,
            each.listing.kind.value,
            each.listing.described_state(has_runner=status.runner_of(each.listing) is not None),
            NOTHING if each.progress is None else f"{each.progress.done}/{each.progress.total}",
        )
        for each in status.operations
    ]
    return rows or [(NOTHING,) * len(STATUS_COLUMNS)]


def status_answer(status: Status) -> answers.StatusAnswer:
    """Answer `status`."""
    return answers.StatusAnswer(
        tuple(map(_unfinished_answer, status.operations)),
        lock_answer(status.holder).lock,
        tuple(
            answers.LateRequestAnswer(
                **asdict(each.partition),
                target=each.target,
                last=each.last,
                operation_id=each.operation_id,
                step=each.step,
            )
            for each in status.late
        ),
    )


def ended_text(listing: Listing) -> str:
    """Describe the end of an operation that was shown before."""
    return f"operation {listing.operation_id} {one_line(str(listing.status))}"


def history_text(
    listings: tuple[Listing, ...], holder: Holder | None, width: int | None = None
) -> str:
    """Show every operation on record; `holder` is that of the lock, `width` as in `table`."""
    rows = [
        [
            each.operation_id,
            each.kind,
            each.described_state(has_runner=is_run_by(each.operation_id, holder)),
            f"rollback of {each.rolls_back}"
            if each.rolls_back
            else one_line(each.plan_name or NOTHING),
            str(each.author),
            each.status.message,
        ]
        for each in listings
    ]
    return (
        table(["operation", "kind", "state", "plan", "by", "result"], rows, width)
        if rows
        else "no operations on record"
    )


def history_answer(listings: tuple[Listing, ...]) -> answers.HistoryAnswer:
    """Answer `history`, newest last."""
    return answers.HistoryAnswer(
        tuple(answers.RecordedOperation(**listed(each)) for each in listings)
    )


def listed(listing: Listing) -> dict[str, Any]:
    """Return the fields of the shape Operation."""
    return {
        "operation_id": listing.operation_id,
        "kind": listing.kind,
        "state": listing.status.state,
        "message": listing.status.message,
        "created_at": listing.created_at,
        "updated_at": listing.status.updated_at,
        "plan_digest": listing.plan_digest,
        "file_digest": listing.file_digest,
        "plan_name": listing.plan_name,
        "rolls_back": listing.rolls_back,
        "author": listing.author,
    }


def lock_text(holder: Holder | None) -> str:
    """Show the holder of the lock."""
    return "the lock is free" if holder is None else f"operation {holder.operation_id}, {holder}"


def lock_answer(holder: Holder | None) -> answers.LockAnswer:
    """Answer `lock show`."""
    if holder is None:
        return answers.LockAnswer(None)
    return answers.LockAnswer(
        answers.HeldLock(
            holder.operation_id, holder.started_at, holder.session_timeout_s, holder.author
        )
    )


def _unfinished_answer(found: Unfinished) -> answers.UnfinishedOperation:
    fields = listed(found.listing) | {
        "plan_name": None if found.record is None else found.record.plan_name
    }
    hours = None if found.throttle is None else found.throttle.hours
    return answers.UnfinishedOperation(
        **fields,
        progress=None if found.progress is None else _progress_answer(found.progress),
        throttle=None if found.throttle is None else found.throttle.rate,
        waits_for=found.waits_for,
        hours=ABSENT if hours is None else hours_answer(hours),
        leaves=ABSENT if hours is None else found.listing.status.leaves,
        rates=ABSENT if found.rates is None else rates_answer(found.rates),
    )


def _progress_answer(found: Progressed) -> answers.OperationProgress:
    return answers.OperationProgress(
        found.done,
        found.total,
        found.done_bytes,
        found.total_bytes,
        found.wave,
        found.waves,
        rate_bytes_per_s=found.rate,
        eta_s=found.eta_s,
        done_at=ABSENT if found.ending is None else utc_text(found.ending.latest),
    )


def _unfinished(found: Unfinished, status: Status, named: Naming) -> Iterator[str]:
    listing, record, runner = found.listing, found.record, status.runner_of(found.listing)
    words = words_of(listing.kind)
    done = (
        words.no_progress if found.progress is None else ", ".join(fields(found.progress).values())
    )
    done = f"unknown: {one_line(found.unknown)}" if found.unknown else done
    state = listing.described_state(has_runner=runner is not None)
    yield f"operation {listing.operation_id} ({listing.kind}, {state})"
    if record is not None and record.plan_name is not None:
        yield f"  plan: {one_line(record.plan_name)}"
    yield f"  progress: {done}"
    if listing.status.message:
        yield f"  {one_line(listing.status.message)}"
    if found.throttle is not None:
        # It is removed while an operation is paused, unless that was left with copies in flight.
        kept = listing.status.leaves and not listing.status.throttle_removed
        paused = listing.status.state is OperationState.PAUSED and not kept
        when = " when it is resumed" if paused else ""
        shown = throttle_in_words(found.throttle.asked, now=found.throttle.rate)
        yield f"  throttle: {shown}{when}"
        yield from _hours(found)
    if found.rates is not None:
        yield from rate_lines(found.rates)
    if found.waits_for:
        copies = found.waits_for == COPYING
        yield "  waits for copies" if copies else f"  waits for: {one_line(found.waits_for)}"
    if runner is not None:
        yield f"  runner: {runner}"
        if status.holder_died:
            yield (
                "  its process no longer runs; another runner can continue in "
                f"{runner.expires_s:.0f} s at most: "
                f"{named(command('resume', listing.operation_id))}"
            )
    else:
        steps = words.commands(listing.operation_id)
        if listing.status.leaves:
            steps = command("resume", "--due"), *steps
        yield f"  no runner; next: {named(joined(', or ', steps))}"


def _hours(found: Unfinished) -> Iterator[str]:
    spec = None if found.throttle is None else found.throttle.hours
    if spec is None:
        return
    now = ""
    if found.read_at is not None:
        hours = hours_of(spec)
        side = "inside" if hours.includes(found.read_at) else "outside"
        now = f"; {side} now{until(hours, found.read_at)}"
    yield f"  hours: {hours_in_words(spec)}{now}"
