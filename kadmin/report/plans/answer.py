"""The answer of `diff`: the changes that a plan would make."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from kadmin.answers.diff import (
    ApplyRefusal,
    ChangedBroker,
    ChangedDisk,
    ChangedPartition,
    DiffAnswer,
    ElectedLeader,
    NewPartition,
    PlannedDiskMove,
    PlannedGrowth,
    PlannedThrottle,
    PlannedWave,
    ReassignmentChange,
)
from kadmin.answers.hours import hours_answer, utc_text
from kadmin.cluster.model import NO_LEADER
from kadmin.schema.shapes import ABSENT

if TYPE_CHECKING:
    from kadmin.operations.decide.examination import Examination
    from kadmin.plan.copying import Throttle
    from kadmin.plan.diff import PlanDiff
    from kadmin.plan.disk_forecast import DiskForecast
    from kadmin.plan.growth import NewPartitions
    from kadmin.plan.waves import Wave


def diff_answer(examination: Examination) -> DiffAnswer:
    """Answer `diff`: the changes by wave with the exact payload, and the refusals of an apply."""
    return DiffAnswer(
        examination.work is not None,
        refusals=tuple(
            ApplyRefusal(error.exit_code, error.message, error.cause, error.next_command)
            for error in examination.refusals
        ),
        reassignment=None if examination.change is None else _change(examination.change),
        targets=tuple(examination.targets),
        leaders=tuple(
            ElectedLeader(name, _leader(before), _leader(after))
            for name, (before, after) in zip(examination.targets, examination.leaders, strict=False)
        ),
        lost_bytes=examination.lost_bytes,
        warnings=tuple(examination.warnings),
        throttle=None if examination.throttle is None else _throttle(examination.throttle),
        growth=ABSENT if examination.new is None else _growth(examination.new),
        tiered=ABSENT if examination.tiered is None else examination.tiered,
    )


def _growth(new: NewPartitions) -> PlannedGrowth:
    return PlannedGrowth(
        tuple(
            NewPartition(**asdict(partition), replicas=replicas)
            for partition, replicas in new.assignment.items()
        ),
        changed_brokers(new),
    )


def changed_brokers(found: PlanDiff | NewPartitions) -> tuple[ChangedBroker, ...]:
    """Return every broker before and after a change."""
    return tuple(
        ChangedBroker(broker, load, found.after[broker])
        for broker, load in sorted(found.before.items())
    )


def _leader(broker: int) -> int | None:
    return None if broker == NO_LEADER else broker


def _change(change: PlanDiff) -> ReassignmentChange:
    return ReassignmentChange(
        tuple(
            ChangedPartition(
                **asdict(target.partition),
                current=target.current or (),
                replicas=target.replicas,
                size_bytes=target.size_bytes,
            )
            for target in change.pending
        ),
        change.replicas_added,
        change.moved_bytes,
        tuple(map(_wave, change.waves)),
        changed_brokers(change),
        tuple(
            PlannedDiskMove(
                **asdict(each.partition),
                broker_id=each.broker_id,
                from_=each.source,
                to=each.path,
                size_bytes=each.size_bytes,
            )
            for each in change.disk_moves
        ),
        tuple(map(_disk, change.disks.disks)),
    )


def _disk(disk: DiskForecast) -> ChangedDisk:
    return ChangedDisk(
        disk.broker_id,
        disk.paths,
        disk.total_bytes,
        disk.usable_bytes,
        disk.least_bytes,
        disk.wave,
        disk.final_bytes,
    )


def _throttle(throttle: Throttle) -> PlannedThrottle:
    return PlannedThrottle(
        throttle.rate,
        tuple(map(str, sorted(throttle.values))),
        tuple(throttle.wave_seconds),
        throttle.makespan_seconds,
        throttle.bound_seconds,
        tuple(throttle.warnings),
        **_hours(throttle),
    )


def _hours(throttle: Throttle) -> dict[str, Any]:
    ending = throttle.ending
    if throttle.hours is None:
        return {}
    found: dict[str, Any] = {
        "hours": hours_answer(throttle.hours),
        "done_at": None if ending is None else utc_text(ending.latest),
    }
    if throttle.spec.most is not None:
        found["done_at_most"] = None if ending is None else utc_text(ending.earliest)
    return found


def _wave(wave: Wave) -> PlannedWave:
    return PlannedWave(
        wave.index + 1,
        len(wave.reassignments),
        len(wave.payload),
        wave.payload.decode(),
        wave.moved_bytes,
        wave.moves_in,
        wave.moves_out,
    )
