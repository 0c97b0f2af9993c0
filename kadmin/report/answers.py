"""JSON answers: one function per command, one schema each under schemas/answers/."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.plan.model import ReassignmentPlan

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.errors import KadminError
    from kadmin.operations.decide.examine import Examination
    from kadmin.operations.execute.apply import Outcome
    from kadmin.operations.reading.snapshot import Snapshot
    from kadmin.operations.reading.verify import Status, Verification
    from kadmin.operations.record.holder import Holder
    from kadmin.operations.record.record import Listing
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import BrokerLoad, PlanDiff
    from kadmin.plan.election import ElectionProposal
    from kadmin.plan.model import Plan
    from kadmin.plan.waves import Wave


def diff_answer(plan: Plan, examination: Examination) -> dict[str, Any]:
    """Answer `diff`: what would change, wave by wave with the exact payload, and what would stop an apply."""
    change = examination.change
    return {
        "changes": examination.work is not None,
        "refusals": [_error(error) for error in examination.refusals],
        "reassignment": None if change is None or not isinstance(plan, ReassignmentPlan) else _change(change),
        "targets": list(examination.targets),
        "lost_bytes": examination.lost_bytes,
        "warnings": list(examination.warnings),
        "throttle": None if examination.throttle is None else _throttle(examination.throttle),
    }


def outcome_answer(outcome: Outcome) -> dict[str, Any]:
    """Answer `apply` and `resume`."""
    return asdict(outcome)


def verification_answer(verification: Verification) -> dict[str, Any]:
    """Answer `verify`: one row per partition (of a deletion: per topic, `partition` null)."""
    rows = [
        {"topic": v.topic, "partition": v.partition, "status": v.progress.value, "detail": v.detail}
        for v in verification.verdicts
    ]
    return {"done": verification.done, "partitions": rows}


def status_answer(status: Status) -> dict[str, Any]:
    """Answer `status`."""
    operations = [
        {**listing_answer(listing), "progress": None if tally is None else asdict(tally)}
        for listing, tally in status.operations
    ]
    return {"operations": operations, "lock": lock_answer(status.holder)["lock"]}


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


def lock_answer(holder: Holder | None) -> dict[str, Any]:
    """Answer `lock show`."""
    if holder is None:
        return {"lock": None}
    return {
        "lock": {
            "operation_id": holder.operation_id,
            "started_at": holder.started_at,
            "session_timeout_s": holder.session_timeout_s,
            "author": asdict(holder.author),
        }
    }


def snapshot_answer(taken: Snapshot, folder: Path) -> dict[str, Any]:
    """Answer `snapshot`."""
    return {
        "inventory": str(folder),
        "brokers": taken.brokers,
        "topics": taken.topics,
        "partitions": taken.partitions,
        "unsettled": list(taken.unsettled),
        "no_sizes": taken.no_sizes,
        "unavailable": list(taken.unavailable),
    }


def election_answer(proposal: ElectionProposal, path: Path) -> dict[str, Any]:
    """Answer `propose election`."""
    return {
        "plan": str(path),
        "partitions": [{"topic": p.topic, "partition": p.partition} for p in proposal.plan.partitions],
        "impossible": [
            {"topic": p.topic, "partition": p.partition, "reason": reason} for p, reason in proposal.impossible
        ],
    }


def _change(change: PlanDiff) -> dict[str, Any]:
    return {
        "partitions": [
            {
                "topic": target.partition.topic,
                "partition": target.partition.partition,
                "current": list(target.current or ()),
                "replicas": list(target.replicas),
                "size_bytes": target.size_bytes,
            }
            for target in change.pending
        ],
        "replicas_added": change.replicas_added,
        "moved_bytes": change.moved_bytes,
        "waves": [_wave(wave) for wave in change.waves],
        "brokers": [
            {"broker_id": broker, "before": _load(load), "after": _load(change.after[broker])}
            for broker, load in sorted(change.before.items())
        ],
    }


def _throttle(throttle: Throttle) -> dict[str, Any]:
    return {
        "rate": throttle.rate,
        "entities": sorted(throttle.values),
        "wave_seconds": list(throttle.wave_seconds),
        "warnings": list(throttle.warnings),
    }


def _wave(wave: Wave) -> dict[str, Any]:
    return {
        "wave": wave.index + 1,
        "partitions": len(wave.reassignments),
        "payload_bytes": len(wave.payload),
        "payload": wave.payload.decode(),
        "moved_bytes": wave.moved_bytes,
        "moves_in": {str(broker): number for broker, number in wave.moves_in.items()},
        "moves_out": {str(broker): number for broker, number in wave.moves_out.items()},
    }


def _load(load: BrokerLoad) -> dict[str, Any]:
    return {"replicas": load.replicas, "leaders": load.leaders, "size_bytes": load.size_bytes}


def _error(error: KadminError) -> dict[str, Any]:
    return {
        "exit_code": error.exit_code,
        "message": error.message,
        "cause": error.cause,
        "next_command": error.next_command,
    }
