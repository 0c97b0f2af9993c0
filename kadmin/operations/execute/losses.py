"""Notes of an operation on records that others may have lost, when it begins and when it ends."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import KadminError
from kadmin.operations import events
from kadmin.operations.decide.actions import Finish
from kadmin.operations.decide.leaders import leaders_in_words
from kadmin.operations.decide.lost_records import lost_error, lost_in_words, lost_records
from kadmin.operations.reading.log_ends import read_epoch_ends, read_high_watermarks
from kadmin.operations.record.steps import elected_uncleanly
from kadmin.operations.record.stop_request import StoppedByRequestError

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Context
    from kadmin.operations.decide.actions import Memory, Observed
    from kadmin.operations.record.record import OperationRecord


def with_high_watermarks(
    context: Context, record: OperationRecord, state: ClusterState
) -> tuple[OperationRecord, str | None]:
    """Return the record of a new operation, and a warning.

    The record is completed by the high watermarks of its partitions. The warning names the unknown
    ones; it is None where there are none, and where the brokers are not to be asked.
    """
    if record.health is None or context.backend.brokers(state).servers.unasked:
        return record, None
    found, warning = read_high_watermarks(context, record.origin, state), None
    if found.unknown:
        warning = f"a loss of records by other tools would not be seen: {'; '.join(found.unknown)}"
    return replace(record, high_watermarks=found.by_partition), warning


def with_losses(
    context: Context, record: OperationRecord, finish: Finish, observed: Observed, memory: Memory
) -> Finish:
    """Return the end of an operation with the losses and elections that others caused.

    Each is also a note. Where records are lost, an operation that succeeded or was stopped by a
    request ends with an error.
    """
    lost, unknown = _losses(context, record, observed)
    offline = () if record.health is None else record.health.offline
    ours = elected_uncleanly(observed.steps)
    others = record.origin.keys() - {each.partition for each in lost} - ours
    said = [lost_in_words(lost), leaders_in_words(others, offline, memory, observed.state), unknown]
    for words in filter(None, said):
        context.tell(events.Note(f"warning: {words}"))
    stopped_well = finish.error is None or isinstance(finish.error, StoppedByRequestError)
    error = lost_error(lost, record.operation_id) if lost and stopped_well else finish.error
    return Finish(finish.state, "; ".join(filter(None, (finish.message, *said))), error, lost)


def _losses(
    context: Context, record: OperationRecord, observed: Observed
) -> tuple[tuple[events.LostRecords, ...], str]:
    """Return the lost records, and a sentence on partitions where a loss is unknown."""
    if not record.high_watermarks:
        return (), ""
    try:
        ends = read_epoch_ends(context, record.high_watermarks, observed.steps)
        unknown = ends.unknown
        lost = lost_records(record.high_watermarks, ends.offsets, ends.state)
    except KadminError as error:
        lost, unknown = (), (error.message,)
    return lost, f"whether records are gone is not known: {'; '.join(unknown)}" if unknown else ""
