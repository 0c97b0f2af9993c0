from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError, KadminError, NotCompletedError
from kadmin.operations.context import Clock
from kadmin.operations.events import Note
from kadmin.operations.record.codec import UndecodableError, encode_step
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import Author, OperationKind, OperationRecord, OperationState, OperationStatus
from kadmin.operations.record.steps import WaveStep
from kadmin.worlds.zookeeper.model import Create, SetData
from kadmin.worlds.zookeeper.values.journal import CHUNK_BYTES, Journal
from kadmin.worlds.zookeeper.values.lock import Lock
from kadmin.worlds.zookeeper.values.paths import Paths

if TYPE_CHECKING:
    from kadmin.operations.events import Event
    from kadmin.operations.record.holder import Lease
    from kadmin.worlds.zookeeper.wire.store import Store

pytestmark = pytest.mark.zookeeper

PATHS = Paths()
AUTHOR = Author("ann", "host-a", 7)


@pytest.fixture
def lease(store: Store) -> Lease:
    return Lock(store, PATHS, Clock()).take(Holder(AUTHOR, "op", "now", 10.0), 0)


def record(operation_id: str, partitions: int = 3) -> OperationRecord:
    origin = {TopicPartition(f"t-{n * 7919 % 100_003}", n): (n % 7, n % 11 + 7) for n in range(partitions)}
    return OperationRecord(
        operation_id, OperationKind.REASSIGNMENT, "{}", "sha256:0", "id", "now", AUTHOR, origin, ((0, 1), (2,))
    )


def test_a_large_record_is_read_back_whole_and_no_znode_passes_the_cap(store: Store, lease: Lease) -> None:
    journal, large = Journal(store, PATHS), record("op-1", partitions=60_000)
    journal.create(large, lease, "now")
    assert journal.record("op-1") == large
    chunks = store.children(PATHS.record("op-1")) or ()
    assert len(chunks) > 1
    sizes = [
        len(node.data or b"") for node in store.get_many(f"{PATHS.record('op-1')}/{name}" for name in chunks) if node
    ]
    assert max(sizes) <= CHUNK_BYTES
    assert journal.status("op-1").state is OperationState.RUNNING


def test_an_operation_that_cannot_be_decoded_costs_no_other(store: Store, lease: Lease) -> None:
    """Its status is left out of the history with one note; it may be unfinished, so that nothing new begins."""
    told: list[Event] = []
    journal = Journal(store, PATHS, told.append)
    journal.create(record("op-1"), lease, "now")
    store.multi([Create(PATHS.operation("op-2"), b"[" * 100_000, store.acl("/admin"))])
    for _ in range(2):
        assert [listing.operation_id for listing in journal.listings()] == ["op-1"]
    place = PATHS.operation("op-2")
    left_out = f"operation op-2 is left out: {place} cannot be decoded; another version of kadmin wrote it, or another"
    assert told == [Note(f"{left_out} program.")]
    with pytest.raises(UndecodableError, match=PATHS.operation("op-2")):
        journal.unfinished()


def test_unfinished_operations_are_found_and_finished_ones_are_not(store: Store, lease: Lease) -> None:
    journal = Journal(store, PATHS)
    for name in ("op-1", "op-2"):
        journal.create(record(name), lease, "now")
    journal.set_status("op-1", OperationStatus(OperationState.COMPLETED, "later", "3 partitions"), lease)
    assert [listing.operation_id for listing in journal.unfinished()] == ["op-2"]
    assert [listing.operation_id for listing in journal.listings()] == ["op-1", "op-2"]
    assert journal.listings()[0].status.message == "3 partitions"
    journal.reopen("op-2", resumed := OperationStatus(OperationState.RUNNING, "later", by="ben@h2"), lease)
    assert journal.listings()[1].changes == (OperationStatus(OperationState.RUNNING, "now"), resumed)


def test_an_operation_that_a_successor_ended_is_a_lost_lock_and_no_bug(store: Store, lease: Lease) -> None:
    """The fence is judged before the transition."""
    journal, completed = Journal(store, PATHS), OperationStatus(OperationState.COMPLETED, "later")
    journal.create(record("op"), lease, "now")
    lock = Lock(store, PATHS, Clock())
    lock.release_by_hand("op")
    successor = lock.take(Holder(AUTHOR, "op", "now", 10.0), 0)
    journal.set_status("op", completed, successor)
    with pytest.raises(LostLockError):
        journal.set_status("op", completed, lease)
    with pytest.raises(KadminError, match="is completed and cannot become completed"):
        journal.set_status("op", completed, successor)


def test_an_operation_that_is_not_there_is_told_by_name(store: Store, lease: Lease) -> None:
    del lease
    with pytest.raises(InvalidInputError, match="op-9"):
        Journal(store, PATHS).status("op-9")


def test_the_oldest_finished_operations_are_pruned_the_unfinished_never(
    store: Store, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadmin.operations.record.record.KEPT_OPERATIONS", 2)
    journal = Journal(store, PATHS)
    for number in range(6):
        journal.create(record(f"op-{number}"), lease, "now")
        if number:
            journal.set_status(f"op-{number}", OperationStatus(OperationState.FAILED, "later"), lease)
    journal.prune(lease)
    assert [listing.operation_id for listing in journal.listings()] == ["op-0", "op-4", "op-5"]


def test_steps_are_read_in_order(store: Store, lease: Lease) -> None:
    journal = Journal(store, PATHS)
    journal.create(record("op-1"), lease, "now")
    steps = [WaveStep(number, "now", number - 1) for number in range(1, 13)]
    for step in steps:
        store.multi([Create(PATHS.step("op-1", step.number), encode_step(step))])
    assert journal.steps("op-1") == tuple(steps)


@pytest.mark.parametrize(
    "path",
    [PATHS.operation("op-1"), f"{PATHS.record('op-1')}/000000", PATHS.step("op-1", 1), PATHS.request("op-1")],
)
@pytest.mark.parametrize("damage", [b"{", b"[]", b"{}", b"\xff"])
def test_what_somebody_overwrote_is_told_by_its_path(store: Store, lease: Lease, path: str, damage: bytes) -> None:
    journal = Journal(store, PATHS)
    journal.create(record("op-1"), lease, "now")
    node = store.get(path)
    store.multi([Create(path, damage) if node is None else SetData(path, damage, node.version)])
    reads = (journal.status, journal.record, journal.steps, journal.request)
    with pytest.raises(NotCompletedError) as told:
        _ = [read("op-1") for read in reads]
    assert "/op-1" in told.value.message
    replaced = path == PATHS.request("op-1")
    assert ("which ask anew" if replaced else "by hand") in (told.value.next_command or "")
