"""Operations, plans and verdicts as text for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kadmin.errors import name_some
from kadmin.operations.record.record import OperationKind
from kadmin.plan.progress import Progress
from kadmin.plan.units import format_rate
from kadmin.report.text import SHOWN_ROWS, change, count, duration, replicas, shortened, size_text, table

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.decide.actions import Verdict
    from kadmin.operations.decide.examine import Examination
    from kadmin.operations.execute.apply import Outcome
    from kadmin.operations.reading.snapshot import Snapshot
    from kadmin.operations.reading.verify import Status, Verification
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.election import ElectionProposal


def examination_text(examination: Examination) -> str:
    """Show what a plan would do and what would stop it."""
    blocks = []
    if examination.change is not None:
        blocks.append(_diff_text(examination.change, examination.throttle))
    if examination.throttle is not None:
        blocks.append(_throttle_text(examination.throttle))
    if examination.targets:
        blocks.append(
            shortened(
                table(["would touch"], [[name] for name in examination.targets[:SHOWN_ROWS]]), len(examination.targets)
            )
        )
    if examination.lost_bytes is not None:
        blocks.append(f"{size_text(examination.lost_bytes)} would be destroyed, all copies counted")
    if examination.warnings:
        shown = "\n\n".join(f"warning: {warning}" for warning in examination.warnings[:SHOWN_ROWS])
        blocks.append(shortened(shown, len(examination.warnings)))
    if examination.work is None and not examination.refusals:
        blocks.append("nothing to do")
    blocks += [f"apply would stop with exit code {e.exit_code}: {e.message}" for e in examination.refusals]
    return "\n\n".join(blocks)


def outcome_text(outcome: Outcome) -> str:
    """Show what an apply or resume came to."""
    return outcome.message if outcome.operation_id is None else f"{outcome.message} (operation {outcome.operation_id})"


def verification_text(verification: Verification) -> str:
    """Show what is not done yet, and the counts."""
    open_rows = [verdict for verdict in verification.verdicts if verdict.progress is not Progress.DONE]
    counts = Counter(verdict.progress for verdict in verification.verdicts)
    summary = ", ".join(f"{counts[progress]} {progress.value}" for progress in Progress if counts[progress])
    if not open_rows:
        return summary or "nothing to verify"
    rows = [[_subject(v), v.progress.value, v.detail] for v in open_rows[:SHOWN_ROWS]]
    return shortened(table(["not done", "status", "seen"], rows), len(open_rows)) + f"\n{summary}"


def status_text(status: Status) -> str:
    """Show unfinished operations and the lock."""
    lines = []
    for listing, tally in status.operations:
        healing = listing.kind is OperationKind.HEAL
        unknown = "one step at a time" if healing else "its record was never whole"
        done = unknown if tally is None else f"{tally.done}/{tally.total} done"
        at_work = status.holder is not None and status.holder.operation_id == listing.operation_id
        named = listing.operation_id
        onward = "kadmin heal" if healing else f"kadmin resume {named}, or kadmin cancel {named}"
        lines.append(f"operation {named} ({listing.kind}, {listing.status.state}): {done}")
        if listing.status.message:
            lines.append(f"  {listing.status.message}")
        lines.append(f"  runner: {status.holder}" if at_work else f"  no runner; next: {onward}")
    return "\n".join(lines) or "no operation is unfinished"


def history_text(listings: tuple[Listing, ...]) -> str:
    """Show every operation on record."""
    rows = [
        [
            found.operation_id,
            found.kind,
            found.status.state,
            f"{found.author.user}@{found.author.host}",
            found.status.message,
        ]
        for found in listings
    ]
    return table(["operation", "kind", "state", "by", "result"], rows) if rows else "no operations on record"


def lock_text(holder: Holder | None) -> str:
    """Show who holds the lock."""
    return "nobody holds the lock" if holder is None else f"operation {holder.operation_id}, {holder}"


def snapshot_text(taken: Snapshot, folder: Path) -> str:
    """Show what a snapshot holds."""
    counts = (count(taken.brokers, "broker"), count(taken.topics, "topic"), count(taken.partitions, "partition"))
    line = f"{folder}: {', '.join(counts)}"
    lines = [line]
    if taken.no_sizes is not None:
        lines.append(f"without sizes: {taken.no_sizes}")
    lines += taken.unavailable
    if taken.unsettled:
        lines.append(f"kept changing while they were read: {name_some(taken.unsettled)}")
    return "\n".join(lines)


def election_text(proposal: ElectionProposal, path: Path) -> str:
    """Show what a proposed election holds and what it had to leave out."""
    lines = [f"{path}: {count(len(proposal.plan.partitions), 'partition')} to elect"]
    lines += [f"cannot be elected: {partition}: {reason}" for partition, reason in proposal.impossible[:SHOWN_ROWS]]
    return "\n".join(lines)


def _diff_text(found: PlanDiff, throttle: Throttle | None) -> str:
    rows = [
        [str(w.partition), replicas(w.current), replicas(w.replicas), size_text(w.size_bytes)]
        for w in found.pending[:SHOWN_ROWS]
    ]
    waves = [
        [
            w.index + 1,
            len(w.reassignments),
            len(w.payload),
            size_text(w.moved_bytes),
            _busiest(w.moves_in),
            _busiest(w.moves_out),
            *([] if throttle is None else [_seconds(throttle.wave_seconds[w.index])]),
        ]
        for w in found.waves
    ]
    brokers = [
        [
            broker,
            change(load.replicas, found.after[broker].replicas),
            change(load.leaders, found.after[broker].leaders),
            change(size_text(load.size_bytes), size_text(found.after[broker].size_bytes)),
        ]
        for broker, load in sorted(found.before.items())
    ]
    head = (
        f"{count(len(found.pending), 'partition')} to reassign, {count(len(found.settled), 'partition')} at the target "
        f"already, {count(found.replicas_added, 'replica')} to copy, {size_text(found.moved_bytes)}"
    )
    if not found.pending:
        return head
    headers = ["wave", "partitions", "payload bytes", "bytes", "most in", "most out"]
    headers += [] if throttle is None else ["takes at least"]
    return "\n\n".join(
        [
            head,
            shortened(table(["partition", "current", "target", "bytes"], rows), len(found.pending)),
            table(headers, waves),
            table(["broker", "replicas", "preferred leaders", "bytes"], brokers),
        ]
    )


def _throttle_text(throttle: Throttle) -> str:
    topics = sum(entity.startswith("topics/") for entity in throttle.values)
    extent = f"{count(len(throttle.values) - topics, 'broker')} and {count(topics, 'topic')}"
    known = [seconds for seconds in throttle.wave_seconds if seconds is not None]
    whole = f", {duration(sum(known))} at least" if len(known) == len(throttle.wave_seconds) else ""
    lines = [f"throttle: {format_rate(throttle.rate)} on {extent}{whole}"]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in throttle.warnings)])


def _seconds(seconds: float | None) -> str:
    return "?" if seconds is None else duration(seconds)


def _busiest(moves: dict[int, int]) -> str:
    if not moves:
        return "-"
    most = max(moves.values())
    return f"{most} (broker {min(broker for broker, number in moves.items() if number == most)})"


def _subject(verdict: Verdict) -> str:
    return verdict.topic if verdict.partition is None else f"{verdict.topic}-{verdict.partition}"
