"""Operations on record, the same in every storage: here in znodes and in a folder; the topic's are
in tests/kraft.
"""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import pytest
from support.cluster.states import tp
from support.stores import in_folder, in_znodes

from kadmin.errors import InvalidInputError, KadminError, NotCompletedError
from kadmin.operations.events import Note
from kadmin.operations.record.codec import UndecodableError
from kadmin.operations.record.cordon import CordonRecord
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.keys import key_of
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.worlds.zookeeper.model import Create, SetData
from kadmin.worlds.zookeeper.values.paths import Paths
from kadmin.worlds.zookeeper.values.znodes import CHUNK_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.operations.events import Event
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.store import OperationStore
    from kadmin.worlds.zookeeper.wire.store import Store

IDS = OP_1, OP_2, OP_9 = tuple(f"20260101T000000Z-00000{number}" for number in (1, 2, 9))
ANN = Holder(Author("ann", "host-a", 7), OP_1, "now", 10.0)
COMPLETED = OperationStatus(OperationState.COMPLETED, "later", "3 partitions")
PATHS = Paths()


class Storage(Protocol):
    """Stores on one storage, each as another process has it; `write` is what any other client may
    write.
    """

    def open(self, tell: Callable[[Event], None] = ...) -> OperationStore: ...
    def write(self, key: str, value: bytes) -> None: ...


class Folder:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self, tell: Callable[[Event], None] = lambda _: None) -> OperationStore:
        return in_folder(self._folder, tell)

    def write(self, key: str, value: bytes) -> None:
        (self._folder / key).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / key).write_bytes(value)


class Znodes:
    def __init__(self, store: Store) -> None:
        self._store = store

    def open(self, tell: Callable[[Event], None] = lambda _: None) -> OperationStore:
        return in_znodes(self._store, PATHS, tell)

    def write(self, key: str, value: bytes) -> None:
        path = PATHS.of(key) + ("/000000" if key.endswith("/record") else "")
        node = self._store.get(path)
        self._store.multi(
            [Create(path, value) if node is None else SetData(path, value, node.version)]
        )


@pytest.fixture(params=["folder", pytest.param("znodes", marks=pytest.mark.zookeeper)])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    if request.param == "folder":
        return Folder(tmp_path / "cluster")
    return Znodes(request.getfixturevalue("store"))


@pytest.fixture
def operations(storage: Storage) -> OperationStore:
    return storage.open()


@pytest.fixture
def lease(operations: OperationStore) -> Lease:
    return operations.lock.take(ANN, 0)


def recorded(operation_id: str, partitions: int = 3) -> OperationRecord:
    origin = {tp(f"t{n * 7919 % 100_003}-{n}"): (n % 7, n % 11 + 7) for n in range(partitions)}
    kind = OperationKind.REASSIGNMENT
    return OperationRecord(
        operation_id, kind, "{}", "sha256:0", "id", "now", ANN.author, origin, ((0, 1), (2,))
    )


def test_what_is_on_record_is_read_by_another_process(
    storage: Storage, operations: OperationStore, lease: Lease
) -> None:
    operations.create(recorded(OP_1), lease, "now")
    steps = tuple(WaveStep(number, "now", number - 1) for number in range(1, 13))
    for step in steps:
        operations.write_step(step, lease)
    elsewhere = storage.open()
    assert elsewhere.steps(OP_1) == operations.steps(OP_1) == steps
    outcome = replace(steps[-1], refused={tp("a-0"): "INVALID_REPLICA_ASSIGNMENT"})
    operations.write_step(outcome, lease)
    assert operations.steps(OP_1) == storage.open().steps(OP_1) == (*steps[:-1], outcome)
    assert elsewhere.record(OP_1) == recorded(OP_1)
    assert [each.operation_id for each in elsewhere.unfinished()] == [OP_1]
    resumed = OperationStatus(OperationState.RUNNING, "later", by="ben@h2")
    operations.reopen(OP_1, resumed, lease)
    assert elsewhere.listings()[0].changes == (
        OperationStatus(OperationState.RUNNING, "now"),
        resumed,
    )
    operations.set_status(OP_1, COMPLETED, lease)
    assert elsewhere.status(OP_1) == COMPLETED
    assert elsewhere.unfinished() == ()
    with pytest.raises(KadminError, match="is completed and cannot become running"):
        operations.set_status(OP_1, resumed, lease)
    with pytest.raises(InvalidInputError, match=f"no operation {OP_9}"):
        elsewhere.status(OP_9)


def test_requests_are_left_without_the_lock_and_a_weaker_one_replaces_none(
    storage: Storage, operations: OperationStore, lease: Lease
) -> None:
    operations.create(recorded(OP_1), lease, "now")
    elsewhere, rate = storage.open(), ThrottleRequest(5000, "ben", "now")
    pause, cancel = (StopRequest(stop, "ben", "now") for stop in (Stop.PAUSE, Stop.CANCEL))
    assert [elsewhere.ask(OP_1, each) for each in (pause, cancel, pause)] == [pause, cancel, cancel]
    elsewhere.ask_throttle(OP_1, rate)
    assert (operations.request(OP_1), operations.throttle_request(OP_1)) == (cancel, rate)
    operations.reopen(OP_1, OperationStatus(OperationState.RUNNING, "later"), lease)
    assert (operations.request(OP_1), operations.throttle_request(OP_1)) == (None, rate)


def test_an_operation_that_a_successor_ended_is_a_lost_lock_and_no_bug(
    storage: Storage, operations: OperationStore, lease: Lease
) -> None:
    """The fence is judged before the transition."""
    operations.create(recorded(OP_1), lease, "now")
    storage.open().lock.release_by_hand(OP_1)
    with pytest.raises(LostLockError):
        operations.set_status(OP_1, COMPLETED, lease)
    operations.lock.release(lease)
    successor = operations.lock.take(ANN, 0)
    operations.set_status(OP_1, COMPLETED, successor)
    with pytest.raises(KadminError, match="is completed and cannot become completed"):
        operations.set_status(OP_1, COMPLETED, successor)
    operations.lock.release(successor)
    other = storage.open().lock.take(ANN, 0)
    with pytest.raises(LostLockError):
        operations.set_status(OP_1, COMPLETED, lease)
    assert other.token > successor.token > lease.token


def test_the_oldest_finished_operations_are_pruned_the_unfinished_never(
    operations: OperationStore, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kadmin.operations.record.record.KEPT_OPERATIONS", 2)
    ids = [f"20260101T000000Z-{number:06d}" for number in range(6)]
    for number, operation_id in enumerate(ids):
        operations.create(recorded(operation_id), lease, "now")
        operations.ask_throttle(operation_id, ThrottleRequest(5000, "ben", "now"))
        operations.write_step(WaveStep(1, "now", 0), replace(lease, operation_id=operation_id))
        if number:
            operations.set_status(operation_id, COMPLETED, lease)
    operations.prune(lease)
    assert [listing.operation_id for listing in operations.listings()] == [ids[0], ids[4], ids[5]]
    assert operations.steps(ids[1]) == ()
    assert operations.throttle_request(ids[1]) is None


def test_an_operation_of_another_store_takes_the_place_of_its_older_state(
    storage: Storage, operations: OperationStore, lease: Lease, tmp_path: Path
) -> None:
    source = in_folder(tmp_path / "source")
    held = source.lock.take(ANN, 0)
    source.create(recorded(OP_1, partitions=20_000), held, "now")
    operations.adopt(source.export(OP_1), lease)
    source.write_step(WaveStep(1, "now", 0), held)
    source.ask_throttle(OP_1, ThrottleRequest(5000, "ben", "now"))
    source.set_status(OP_1, COMPLETED, held)
    operations.adopt(source.export(OP_1), lease)
    assert storage.open().export(OP_1) == source.export(OP_1)


GARBAGE = (b"\xff", b"[]", b"{}", b"{", b'{"state":"odd"}', b"[" * 100_000, zlib.compress(b"[]"))
NEWER = (
    b'{"min_reader":99,"state":"running","updated_at":"now","message":"",'
    b'"plan_digest":"","created_at":"now"}'
)


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_cannot_be_decoded_is_named_and_costs_its_operation_alone(
    storage: Storage, garbage: bytes
) -> None:
    """It may be unfinished, so that nothing new begins; a request takes the place of one."""
    told: list[Event] = []
    operations = storage.open(told.append)
    lease = operations.lock.take(ANN, 0)
    for name in (OP_1, OP_2):
        operations.create(recorded(name), lease, "now")
    operations.write_step(WaveStep(1, "now", 0), lease)
    reads: dict[str, Callable[[OperationStore], object]] = {
        "record": lambda store: store.record(OP_1),
        "request": lambda store: store.request(OP_1),
        "throttle": lambda store: store.throttle_request(OP_1),
        "steps/000001": lambda store: store.steps(OP_1),
        "status": lambda store: store.status(OP_1),
    }
    for name, read in reads.items():
        storage.write(key_of(OP_1, name), garbage)
        with pytest.raises(UndecodableError, match=f"/{OP_1}.* cannot be decoded") as error:
            read(storage.open())
        replaced = name in {"request", "throttle"}
        assert ("anew" if replaced else "by hand") in (error.value.next_command or "")
    for _ in range(2):
        assert [each.operation_id for each in operations.listings()] == [OP_2]
    (note,) = told
    assert isinstance(note, Note)
    assert f"operation {OP_1} is left out" in note.text
    with pytest.raises(UndecodableError, match=OP_1):
        operations.unfinished()
    pause = StopRequest(Stop.PAUSE, "ben", "now")
    assert operations.ask(OP_1, pause) == operations.request(OP_1) == pause
    assert operations.record(OP_2) == recorded(OP_2)


@pytest.mark.usefixtures("lease")
def test_a_status_of_a_newer_version_names_the_way_on(
    storage: Storage, operations: OperationStore
) -> None:
    storage.write(key_of(OP_1, "status"), NEWER)
    for read in (lambda: operations.status(OP_1), operations.unfinished):
        with pytest.raises(NotCompletedError, match="was written by another version") as told:
            read()
        assert told.value.next_command == "use the version that started it"


@pytest.mark.parametrize("name", ["../../evil", "/evil", "op-1", "", "\udc80"])
def test_an_id_that_kadmin_does_not_make_is_no_operation(
    operations: OperationStore, name: str
) -> None:
    for read in (operations.status, operations.record, operations.steps, operations.request):
        with pytest.raises(InvalidInputError, match="There is no operation"):
            read(name)
    with pytest.raises(InvalidInputError, match="There is no operation"):
        operations.ask(name, StopRequest(Stop.PAUSE, "ben", "now"))


@pytest.mark.zookeeper
def test_no_znode_of_a_large_record_passes_the_cap(store: Store) -> None:
    operations, large = in_znodes(store), recorded(OP_1, partitions=60_000)
    operations.create(large, operations.lock.take(ANN, 0), "now")
    assert operations.record(OP_1) == large
    path = PATHS.of(key_of(OP_1, "record"))
    chunks = store.get_many(f"{path}/{name}" for name in store.children(path) or ())
    sizes = [len(chunk.data or b"") for chunk in chunks if chunk is not None]
    assert len(sizes) > 1
    assert max(sizes) <= CHUNK_BYTES


def test_cordons_are_read_by_another_process_until_they_are_taken_off(tmp_path: Path) -> None:
    """Cordons need KRaft mode, so no store in ZooKeeper has any."""
    storage = Folder(tmp_path / "cluster")
    operations = storage.open()
    lease = operations.lock.take(ANN, 0)
    cordons = {4: CordonRecord("ann@host", "now", None), 12: CordonRecord("ben@host", "now", "/d")}
    for broker_id, cordon in cordons.items():
        operations.set_cordon(broker_id, cordon, lease)
    assert storage.open().cordons() == cordons
    operations.set_cordon(4, None, lease)
    assert storage.open().cordons() == {12: cordons[12]}
    assert operations.listings() == ()
