"""The rule on disk space: it needs the waves of a plan, and so is checked when they are cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.disk_space import shortages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.plan.model import PartitionTarget

_NEXT_STEP = command("inspect brokers") + ", to choose brokers with room"


def check_disk_space(
    waves: Sequence[Sequence[PartitionTarget]], usable: Mapping[int, int | None]
) -> Iterator[Diagnostic]:
    """Yield the brokers that lack disk space for the waves."""
    for each in shortages(waves, usable):
        yield Diagnostic(
            codes.NO_ROOM,
            str(each),
            _NEXT_STEP,
            partition=each.partitions[0],
            broker=each.broker_id,
        )
