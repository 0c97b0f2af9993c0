"""Unfinished operations, the history and the lock, as text and JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.report.kinds import words_of
from kadmin.report.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.operations.decide.actions import Tally
    from kadmin.operations.reading.verify import Status
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing


def status_text(status: Status) -> str:
    """Show each unfinished operation, who runs it, and the commands that finish it."""
    lines = [line for listing, tally in status.operations for line in _unfinished(listing, tally, status.holder)]
    return "\n".join(lines) or "no operation is unfinished"


def status_answer(status: Status) -> dict[str, Any]:
    """Answer `status`."""
    operations = [
        {**listing_answer(listing), "progress": None if tally is None else asdict(tally)}
        for listing, tally in status.operations
    ]
    return {"operations": operations, "lock": lock_answer(status.holder)["lock"]}


def history_text(listings: tuple[Listing, ...]) -> str:
    """Show every operation on record."""
    rows = [
        [each.operation_id, each.kind, each.status.state, f"{each.author.user}@{each.author.host}", each.status.message]
        for each in listings
    ]
    return table(["operation", "kind", "state", "by", "result"], rows) if rows else "no operations on record"


def history_answer(listings: tuple[Listing, ...]) -> dict[str, Any]:
    """Answer `history`, newest last."""
    return {"operations": [listing_answer(listing) for listing in listings]}


def listing_answer(listing: Listing) -> dict[str, Any]:
    """Describe one operation."""
    return {
        "operation_id": listing.operation_id,
        "kind": listing.kind.value,
        "state": listing.status.state.value,
        "message": listing.status.message,
        "created_at": listing.created_at,
        "updated_at": listing.status.updated_at,
        "plan_digest": listing.plan_digest,
        "author": asdict(listing.author),
    }


def lock_text(holder: Holder | None) -> str:
    """Show who holds the lock."""
    return "the lock is free" if holder is None else f"operation {holder.operation_id}, {holder}"


def lock_answer(holder: Holder | None) -> dict[str, Any]:
    """Answer `lock show`."""
    lock = holder and {
        "operation_id": holder.operation_id,
        "started_at": holder.started_at,
        "session_timeout_s": holder.session_timeout_s,
        "author": asdict(holder.author),
    }
    return {"lock": lock}


def _unfinished(listing: Listing, tally: Tally | None, holder: Holder | None) -> Iterator[str]:
    words = words_of(listing.kind)
    done = words.no_progress if tally is None else f"{tally.done}/{tally.total} done"
    has_runner = holder is not None and holder.operation_id == listing.operation_id
    state = listing.described_state(has_runner=has_runner)
    yield f"operation {listing.operation_id} ({listing.kind}, {state}): {done}"
    if listing.status.message:
        yield f"  {listing.status.message}"
    if has_runner:
        yield f"  runner: {holder}"
    else:
        yield f"  no runner; next: {', or '.join(words.commands(listing.operation_id))}"
