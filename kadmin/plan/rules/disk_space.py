"""The rule on disk space: it needs the waves of a plan, and so is checked when they are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.rules.refusals import warning_or_error
from kadmin.plan.units import format_percent
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.plan.disk_forecast import DiskForecasts
    from kadmin.plan.model import Policy

_BROKERS = command("inspect brokers") + ", to choose brokers with room"
_DISKS = command("inspect disks") + ", to choose disks with room"


def check_disk_space(
    found: DiskForecasts, most: float, policy: Policy | None = None
) -> Iterator[Diagnostic]:
    """Yield the brokers and disks that lack room for waves, and disks that are filled above `most`.

    The policy may make the latter an error.
    """
    for each in found.shortages:
        yield Diagnostic(
            codes.NO_ROOM,
            str(each),
            _DISKS if each.paths else _BROKERS,
            partition=each.partitions[0],
            broker=each.broker_id,
        )
    severity = warning_or_error(codes.DISK_FILLS, policy)
    short = {(each.broker_id, each.paths) for each in found.shortages}
    for disk in found.disks if severity is not None else ():
        highest = disk.highest_fill
        if highest is None or highest <= most or disk.wave == 0 or disk.least_bytes < 0:
            continue
        if (disk.broker_id, disk.paths) not in short:
            message = (
                f"{name_some(disk.paths)} of broker {disk.broker_id} would be {highest:.0%} full "
                f"in wave {disk.wave}, above {format_percent(most)}"
            )
            yield Diagnostic(
                codes.DISK_FILLS, message, _DISKS, severity or "warning", broker=disk.broker_id
            )
