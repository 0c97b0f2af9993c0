"""Finds what an operation that ends early leaves: copies on disk, and targets that are open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import KadminError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.reading.brokers import log_dirs_of, unused_copies
from kadmin.operations.record.steps import returned_by
from kadmin.plan.units import readable_size
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Observed
    from kadmin.plan.model import PartitionTarget

_REMOVAL_S = 5.0
_UNKNOWN_COPIES = "; unknown whether added copies are deleted from disk: "
_ASKING_S = 20.0
"""Seconds that asking the brokers for their disks takes, at most."""


def copies_left(context: Context, targets: Sequence[PartitionTarget], observed: Observed) -> str:
    """Name the added copies that are still on disk, or why that is unknown.

    Empty where there are none. Kafka from 2.6 on, up to some 3.x, ignores its own request to remove
    a copy that had not caught up. A broker that is not alive keeps its copies in every version.
    """
    clock, state = context.clock, observed.state
    cancelled = returned_by(observed.steps)
    if not cancelled or clock.until - clock.now() < _ASKING_S:
        return ""
    added = {
        broker for target in targets if target.partition in cancelled for broker in target.replicas
    }
    away = sorted(added - set(state.brokers))
    unknown = (
        f"; brokers that are not alive may keep unused copies: {name_some(away)}" if away else ""
    )
    for _ in clock.poll(_REMOVAL_S):
        try:
            disks = log_dirs_of(state, context.backend.brokers(state))
        except KadminError as error:
            return f"{_UNKNOWN_COPIES}{error.message}{unknown}"
        unused = unused_copies(state, disks.sizes)
        left = [
            f"{partition} on broker {broker} ({readable_size(size_bytes)})"
            for broker, sizes in unused.items()
            for partition, size_bytes in sizes.items()
            if partition in cancelled
        ]
        if not left:
            unread = [
                error.message
                for broker in sorted(added)
                for error in disks.failed_dirs.get(broker, ())
            ]
            return f"{_UNKNOWN_COPIES}{' '.join(unread)}{unknown}" if unread else unknown
    return f"; unused copies stay on disk, see {command('doctor')}: {name_some(left)}{unknown}"


def past_deadline(
    operation_id: str, left: Sequence[str] | None, reason: str | None
) -> NotCompletedError:
    """Build the error of a command whose time is over.

    `left` names what is not done; None where the operation was being cancelled.
    """
    if left is None:
        return NotCompletedError(
            "The deadline passed before everything was taken back.",
            cause=reason,
            next_step=command("cancel", operation_id, "--now"),
        )
    text = "The deadline passed with every target reached, before the operation could end."
    if left:
        text = (
            f"The deadline passed with {count(len(left), 'target')} open: {name_some(left)}. "
            "Copies in progress continue."
        )
    return NotCompletedError(text, cause=reason, next_step=command("resume", operation_id))
