"""Copies operations between both sides' stores: to the brokers' on the way to KRaft, and back.

Every operation is written whole before it counts, and one that is equal on both sides is left
alone: a copy that was cut short starts again from its beginning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.errors import BusyError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.context import POLL_S
from kadmin.operations.execute.takeover import patience
from kadmin.operations.reading.status import StatusReader
from kadmin.operations.record.record import Imported, OperationState, OperationStatus
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.session import held
from kadmin.worlds.zookeeper.reader import read_migration
from kadmin.worlds.zookeeper.to_kraft.preflight import require_one_cluster
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader

if TYPE_CHECKING:
    from kadmin.operations.context import Context
    from kadmin.operations.port import Backend
    from kadmin.operations.record.record import Listing
    from kadmin.operations.session import Session
    from kadmin.worlds.kafka.context import KafkaContext
    from kadmin.worlds.zookeeper.context import ZooKeeperContext

PURPOSE = "history-import"
"""The purpose for which both locks are held, in place of an operation's id."""


def direction(zookeeper: ZooKeeperContext, kafka: KafkaContext) -> tuple[Context, Context]:
    """Return the source and the target of the copy.

    The target is the side that is served in the phase. Raises NotCompletedError while neither is
    served, and StalePlanError where the sides are of two clusters.
    """
    require_one_cluster(zookeeper.backend.read(()), kafka.backend.read(()))
    nodes = read_migration(ZnodeReader(zookeeper.store))
    if not nodes.led_by_kraft:
        return kafka, zookeeper
    if nodes.brokers:
        raise NotCompletedError(
            "In phase dual-write, operations are copied to neither side.",
            cause="brokers are in ZooKeeper mode, and a KRaft controller leads",
            next_step="restart brokers in KRaft mode, or roll the migration back; then "
            + command("history import"),
        )
    return zookeeper, kafka


def import_history(source: Context, target: Context, lock_timeout_s: float = 0.0) -> Imported:
    """Copy the operations on record that the target lacks, or has in an older state.

    A running operation is asked to pause first; one whose runner has ended is paused here. No
    cluster is changed. Raises BusyError where a runner does not answer, or a lock is held.
    """
    if source.operations.lock.to_create():  # there is no record, and locking it would create one
        return Imported((), 0)
    _await_runner(source)
    with (
        held(source, source.new_holder(PURPOSE), lock_timeout_s) as source_session,
        held(target, target.new_holder(PURPOSE), lock_timeout_s) as target_session,
    ):
        imported = {each.operation_id: each for each in target.operations.listings()}
        carried, already = [], 0
        for listing in source.operations.listings():
            if not listing.status.state.has_record:
                continue
            if _is_newer(listing, imported.get(listing.operation_id)):
                _pause(source_session, listing, target.backend)
                target.operations.adopt(
                    source.operations.export(listing.operation_id), target_session.lease
                )
                carried.append(listing.operation_id)
            else:
                already += 1
    return Imported(tuple(carried), already)


def _is_newer(listing: Listing, other: Listing | None) -> bool:
    """Whether an operation changed later on the source's side.

    An incomplete copy counts for nothing.
    """
    if other is None or not other.status.state.has_record:
        return True
    # Times are in seconds: of two changes in one second, the later one has more before it.
    return _age(listing) > _age(other)


def _age(listing: Listing) -> tuple[str, int]:
    return listing.status.updated_at, len(listing.changes)


def _pause(session: Session, listing: Listing, served: Backend) -> None:
    """Pause an operation whose runner is gone.

    Its progress is read from the side that is `served`.
    """
    if listing.status.state is OperationState.RUNNING:
        source = session.context
        progress = (
            StatusReader(replace(source, backend=served)).read_one(listing.operation_id).progress
        )
        done = "" if progress is None else f", {progress.done}/{progress.total} done"
        message = f"paused for history import{done}"
        status = OperationStatus(OperationState.PAUSED, source.clock.timestamp(), message)
        source.operations.set_status(listing.operation_id, status, session.lease)


def _await_runner(source: Context) -> None:
    """Ask the runner of an operation to pause, and wait until it has released the lock."""
    holder, give_up = source.operations.lock.holder(), None
    running = {each.operation_id for each in source.operations.unfinished()}
    while holder is not None and holder.operation_id in running:
        if give_up is None:
            give_up = min(source.clock.now() + patience(holder), source.clock.until)
            request = StopRequest(Stop.PAUSE, str(source.author), source.clock.timestamp())
            source.operations.ask(holder.operation_id, request)
            source.tell(
                events.Note(
                    f"operation {holder.operation_id} is asked to pause; its runner is {holder}"
                )
            )
        elif source.clock.now() >= give_up:
            raise BusyError(
                f"Operation {holder.operation_id} is still run by {holder}; it pauses when its "
                "wave is done.",
                next_step=command("history import") + ", again when it is paused",
            )
        source.clock.stop_if_asked(
            "the request to pause stays on record", command("history import")
        )
        source.clock.wait(POLL_S)
        holder = source.operations.lock.holder()
