"""What a plan would do, as JSON (schemas/answers/diff.schema.json)."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import NO_LEADER

if TYPE_CHECKING:
    from kadmin.errors import KadminError
    from kadmin.operations.decide.examine import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.waves import Wave


def diff_answer(examination: Examination) -> dict[str, Any]:
    """Answer `diff`: what would change, wave by wave with the exact payload, and what would stop an apply."""
    change = examination.change
    return {
        "changes": examination.work is not None,
        "refusals": [_error(error) for error in examination.refusals],
        "reassignment": None if change is None else _change(change),
        "targets": list(examination.targets),
        "leaders": [
            {"name": name, "before": _leader(before), "after": _leader(after)}
            for name, (before, after) in zip(examination.targets, examination.leaders, strict=False)
        ],
        "lost_bytes": examination.lost_bytes,
        "warnings": list(examination.warnings),
        "throttle": None if examination.throttle is None else _throttle(examination.throttle),
    }


def _leader(broker: int) -> int | None:
    return None if broker == NO_LEADER else broker


def _change(change: PlanDiff) -> dict[str, Any]:
    return {
        "partitions": [
            {
                **asdict(target.partition),
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
            {"broker_id": broker, "before": asdict(load), "after": asdict(change.after[broker])}
            for broker, load in sorted(change.before.items())
        ],
    }


def _throttle(throttle: Throttle) -> dict[str, Any]:
    return {
        "rate": throttle.rate,
        "entities": sorted(throttle.values),
        "wave_seconds": list(throttle.wave_seconds),
        "makespan_s": throttle.makespan_seconds,
        "makespan_bound_s": throttle.bound_seconds,
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


def _error(error: KadminError) -> dict[str, Any]:
    return {
        "exit_code": error.exit_code,
        "message": error.message,
        "cause": error.cause,
        "next_command": error.next_command,
    }
