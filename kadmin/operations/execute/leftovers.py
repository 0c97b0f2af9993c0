"""Copies that a cancelled reassignment leaves on disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import KadminError, name_some
from kadmin.operations.context import POLL_S
from kadmin.operations.reading.brokers import log_dirs_of
from kadmin.operations.record.record import StepKind

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Observed
    from kadmin.operations.record.record import OperationRecord

_REMOVAL_S = 5.0
_ASKING_S = 20.0
"""Longest time that asking the brokers for their disks takes."""


def copies_left(context: Context, record: OperationRecord, observed: Observed) -> str:
    """Name the added copies that are still on disk, or why that is unknown; empty where there are none.

    Kafka from 2.6 on, up to some 3.x, ignores its own request to remove a copy that had not caught up.
    """
    clock = context.clock
    origin = {p: record.origin[p] for s in observed.steps if s.kind is StepKind.CANCEL for p in s.partitions}
    if not origin or clock.until - clock.now() < _ASKING_S:
        return ""
    give_up = clock.now() + _REMOVAL_S
    while True:
        try:
            held = log_dirs_of(observed.state)
        except KadminError as error:
            return f"; unknown whether added copies are deleted from disk: {error.message}"
        left = [f"{p} on broker {b}" for b, sizes in held.items() for p in sizes if b not in origin.get(p, (b,))]
        if not left:
            return ""
        if clock.now() >= give_up:
            return f"; unused copies stay on disk: {name_some(left)}"
        clock.wait(POLL_S)
