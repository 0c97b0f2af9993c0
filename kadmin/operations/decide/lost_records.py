"""Finds records that existed when an operation began, and are gone at its end.

Goals: to distinguish a loss from the effects of moves, retention and compaction on a log, for any
number of new records.
Constraints: the high watermark at the beginning was in every in-sync replica, and a clean election
never goes back behind it. So in the log of every later leader that epoch, with all before it, ends
there or later (KIP-320).
Example: 7,100 records existed in epoch 4, which ends at offset 100 in the present leader's log:
7,000 are gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError
from kadmin.next_step import command
from kadmin.operations.events import LostRecords
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.record.record import HighWatermark


def lost_records(
    before: Mapping[TopicPartition, HighWatermark],
    ends: Mapping[TopicPartition, int],
    state: ClusterState,
) -> tuple[LostRecords, ...]:
    """Return the lost records.

    `ends` are the end offsets of the epochs of `before` in the present leaders' logs.
    """
    return tuple(
        LostRecords(
            partition,
            mark.offset,
            ends[partition],
            mark.leader_epoch,
            found.leader_epoch,
            found.leader,
        )
        for partition, mark in sorted(before.items())
        if partition in ends
        and ends[partition] < mark.offset
        and (found := state.states.get(partition)) is not None
    )


def lost_in_words(lost: Sequence[LostRecords]) -> str:
    """Name the partitions, the most records that each may have lost, and its leader.

    Empty where there are none.
    """
    named = name_some(
        f"{each.partition} up to {count(each.offset_before - each.offset, 'record')} from offset "
        f"{each.offset} on, led by broker {each.leader} (leader epoch {each.leader_epoch_before} "
        f"-> {each.leader_epoch})"
        for each in lost
    )
    return f"records that were there when the operation began are gone: {named}" if lost else ""


def lost_error(lost: Sequence[LostRecords], operation_id: str) -> NotCompletedError:
    """Build the error for an operation that succeeded while partitions lost records."""
    words = lost_in_words(lost)
    return NotCompletedError(
        f"{words[0].upper()}{words[1:]}.",
        cause=(
            "an unclean election that was not kadmin's, or a leader whose disk was lost; a clean "
            "election loses none"
        ),
        next_step=command("history", operation_id),
    )
