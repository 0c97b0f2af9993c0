"""Operations in a folder of one machine: the lock, the fence, and what is on record."""

from __future__ import annotations

import fcntl
import os
import zlib
from dataclasses import replace
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp

from kadmin.errors import BusyError, InvalidInputError, KadminError, NotCompletedError
from kadmin.operations.context import Clock, new_operation_id
from kadmin.operations.record.codec import UndecodableError
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.record import (
    KEPT_OPERATIONS,
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import WaveStep
from kadmin.operations.record.stop_request import Stop, StopRequest
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.worlds.kafka.values.folder import FolderOperations
from kadmin.worlds.kafka.values.no_store import NoOperations
from kadmin.worlds.kafka.values.record_keys import is_key, key_of
from kadmin.worlds.kafka.values.value_files import ValueFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.operations.events import Event
    from kadmin.worlds.kafka.values.keyed import KeyedOperations

OP_1, OP_2, OP_9 = (f"20260101T000000Z-00000{number}" for number in (1, 2, 9))
ANN = Holder(Author("ann", "host-a", 7), OP_1, "now", 0.0)
BEN = Holder(Author("ben", "host-b", 8), OP_2, "now", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cluster"


def in_folder(folder: Path, topic: KeyedOperations | None = None) -> FolderOperations:
    """The folder's operations, beside those of a cluster that has none of its own."""
    return FolderOperations(folder, Clock(), topic or NoOperations(), lambda _: None)


def recorded(operation_id: str) -> OperationRecord:
    origin = {tp("a-0"): (1, 2)}
    return OperationRecord(operation_id, OperationKind.ELECTION, "{}", "sha256:0", "id", "now", ANN.author, origin)


def test_the_lock_is_held_once_and_names_its_holder(folder: Path) -> None:
    first, second = in_folder(folder), in_folder(folder)
    assert first.holder() is None
    lease = first.take(ANN, 0)
    assert second.holder() == first.holder() == ANN
    with pytest.raises(BusyError, match="ann@host-a"):
        second.take(BEN, 0)
    first.release(lease)
    assert second.holder() is None
    again = second.take(BEN, 0)
    assert again.token == lease.token + 1


def test_a_record_that_is_in_use_elsewhere_refuses_a_second_one(folder: Path, tmp_path: Path) -> None:
    """The lock and the unfinished operations of the usual place count; a copy of an operation continues it."""
    usual = in_folder(tmp_path / "usual")
    lease = usual.take(ANN, 0)
    usual.create(recorded(OP_1), lease, "now")
    beside = in_folder(folder, in_folder(tmp_path / "usual"))
    with pytest.raises(BusyError, match="in use") as held:
        beside.take(BEN, 0)
    assert held.value.cause == f"{ANN} holds the lock there"
    usual.release(lease)
    with pytest.raises(BusyError, match="in use") as unfinished:
        beside.take(BEN, 0)
    assert unfinished.value.cause == f"operation {OP_1} is not finished there"
    copytree(tmp_path / "usual" / "operations", folder / "operations")
    beside.release(beside.take(BEN, 0))
    again = usual.take(ANN, 0)
    usual.set_status(OP_1, OperationStatus(OperationState.COMPLETED, "later"), again)
    usual.release(again)
    other = in_folder(tmp_path / "another", in_folder(tmp_path / "usual"))
    assert other.take(BEN, 0).token == 1


def test_a_lock_that_was_released_by_hand_writes_no_more(folder: Path) -> None:
    operations, elsewhere = in_folder(folder), in_folder(folder)
    lease = operations.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    with pytest.raises(BusyError, match=f"{OP_1}, not {OP_9}"):
        elsewhere.release_by_hand(OP_9)
    assert elsewhere.release_by_hand(OP_1) == ANN
    writes: tuple[Callable[[], None], ...] = (
        lambda: operations.write_step(WaveStep(1, "now", 0), lease),
        lambda: operations.set_status(OP_1, OperationStatus(OperationState.COMPLETED, "now"), lease),
        lambda: operations.create(recorded(OP_2), lease, "now"),
    )
    for write in writes:
        with pytest.raises(LostLockError):
            write()
    assert operations.steps(OP_1) == ()
    operations.release(lease)
    with pytest.raises(InvalidInputError, match="The lock is free"):
        elsewhere.release_by_hand(OP_1)


def test_an_operation_that_a_successor_ended_is_a_lost_lock_and_no_bug(folder: Path) -> None:
    """The fence is judged before the transition."""
    operations, completed = in_folder(folder), OperationStatus(OperationState.COMPLETED, "later")
    lease = operations.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    operations.release_by_hand(OP_1)
    operations.set_status(OP_1, completed, replace(lease, token=lease.token + 1))
    with pytest.raises(LostLockError):
        operations.set_status(OP_1, completed, lease)


def test_what_is_on_record_is_read_again(folder: Path) -> None:
    operations = in_folder(folder)
    lease = operations.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    step = WaveStep(1, "now", 0)
    operations.write_step(step, lease)
    outcome = WaveStep(1, "now", 0, refused={tp("a-0"): "INVALID_REPLICA_ASSIGNMENT"})
    operations.write_step(outcome, lease)
    elsewhere = in_folder(folder)
    assert elsewhere.steps(OP_1) == (outcome,)
    assert elsewhere.record(OP_1) == recorded(OP_1)
    assert [each.operation_id for each in elsewhere.unfinished()] == [OP_1]
    pause, cancel = (StopRequest(stop, "ben", "now") for stop in (Stop.PAUSE, Stop.CANCEL))
    assert elsewhere.ask(OP_1, cancel) == cancel
    assert elsewhere.ask(OP_1, pause) == cancel, "a weaker request does not replace a stronger one"
    assert operations.request(OP_1) == cancel
    rate = ThrottleRequest(5000, "ben", "now")
    elsewhere.ask_throttle(OP_1, rate)
    assert operations.throttle_request(OP_1) == rate
    assert operations.request(OP_1) == cancel, "one request does not replace the other"
    for name, read in (("request", operations.request), ("throttle", operations.throttle_request)):
        written = (folder / f"operations/{OP_1}" / name).read_bytes()
        (folder / f"operations/{OP_1}" / name).write_bytes(b'{"stop":"DRAIN"}')
        with pytest.raises(NotCompletedError, match=f"{OP_1}/{name} cannot be decoded; another version of kadmin"):
            read(OP_1)
        (folder / f"operations/{OP_1}" / name).write_bytes(written)
    resumed = OperationStatus(OperationState.RUNNING, "later", by="ben@h2")
    operations.reopen(OP_1, resumed, lease)
    assert elsewhere.listings()[0].changes == (OperationStatus(OperationState.RUNNING, "now"), resumed)
    assert operations.throttle_request(OP_1) == rate
    assert operations.request(OP_1) is None
    operations.set_status(OP_1, OperationStatus(OperationState.FAILED, "later", "why"), lease)
    assert elsewhere.status(OP_1) == OperationStatus(OperationState.FAILED, "later", "why")
    with pytest.raises(KadminError, match="is failed and cannot become running"):
        operations.set_status(OP_1, OperationStatus(OperationState.RUNNING, "later"), lease)
    with pytest.raises(InvalidInputError, match=f"no operation {OP_9}"):
        elsewhere.status(OP_9)


def test_only_the_last_finished_operations_are_kept(folder: Path) -> None:
    operations = in_folder(folder)
    lease = operations.take(ANN, 0)
    for number in range(KEPT_OPERATIONS + 2):
        operations.create(recorded(f"20260101T000000Z-{number:06d}"), lease, "now")
        operations.set_status(f"20260101T000000Z-{number:06d}", OperationStatus(OperationState.COMPLETED, "now"), lease)
    operations.prune(lease)
    names = [each.operation_id for each in operations.listings()]
    assert names == [f"20260101T000000Z-{number:06d}" for number in range(2, KEPT_OPERATIONS + 2)]


GARBAGE = (b"", b"\xff", b"[]", b"{}", b'{"state":"odd"}', b"[" * 100_000, zlib.compress(b"[]"))


@pytest.mark.parametrize("garbage", GARBAGE)
def test_what_cannot_be_decoded_is_named_by_its_key_and_costs_its_operation_alone(folder: Path, garbage: bytes) -> None:
    told: list[Event] = []
    operations = FolderOperations(folder, Clock(), NoOperations(), told.append)
    lease = operations.take(ANN, 0)
    for name in (OP_1, OP_2):
        operations.create(recorded(name), lease, "now")
    operations.write_step(WaveStep(1, "now", 0), lease)
    reads: dict[str, Callable[[str], object]] = {
        "record": operations.record,
        "request": operations.request,
        "throttle": operations.throttle_request,
        "steps/000001": operations.steps,
        "status": operations.status,
    }
    for key, read in reads.items():
        (folder / "operations" / OP_1 / key).write_bytes(garbage)
        with pytest.raises(UndecodableError, match=f"operations/{OP_1}/{key} cannot be decoded"):
            read(OP_1)
    assert [each.operation_id for each in operations.listings()] == [OP_2]
    operations.listings()
    (note,) = told
    assert f"operation {OP_1} is left out" in str(note)
    with pytest.raises(UndecodableError, match=f"{OP_1}/status"):
        operations.unfinished()
    pause = StopRequest(Stop.PAUSE, "ben", "now")
    assert operations.ask(OP_1, pause) == operations.request(OP_1) == pause, "a request takes its place"
    assert operations.record(OP_2) == recorded(OP_2)


def test_no_key_and_no_operation_leads_out_of_the_folder(folder: Path) -> None:
    files = ValueFiles(folder)
    for key in ("../evil", "operations/../../evil", "/evil", "operations//evil", "operations/./evil", ""):
        with pytest.raises(KadminError, match="leads out of the folder"):
            files.put({key: b"evil"})
        with pytest.raises(KadminError, match="leads out of the folder"):
            files.get(key)
    assert not folder.exists()
    operations = in_folder(folder)
    for name in ("../../evil", "/evil", "op-1", ""):
        with pytest.raises(InvalidInputError, match="There is no operation"):
            operations.status(name)
        with pytest.raises(InvalidInputError, match="There is no operation"):
            operations.ask(name, StopRequest(Stop.PAUSE, "ben", "now"))


def test_files_that_are_not_of_the_record_are_left_out(folder: Path) -> None:
    operations = in_folder(folder)
    lease = operations.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    for name in (f"{OP_1}/steps/request", f"{OP_1}/steps/000001.tmp", "notes/status", ".DS_Store"):
        path = folder / "operations" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"not of the record")
    assert operations.steps(OP_1) == ()
    assert [each.operation_id for each in operations.listings()] == [OP_1]


def test_every_id_that_kadmin_makes_may_be_on_record() -> None:
    assert is_key(key_of(new_operation_id(Clock().timestamp()), "status"))


@pytest.mark.parametrize("name", ["lock", f"operations/{OP_1}/status"])
@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda path: path.symlink_to(path)])
def test_what_is_no_file_is_named(folder: Path, name: str, make: Callable[[Path], None]) -> None:
    """Opening a FIFO would never end, and a folder or a link to itself was a traceback."""
    path = folder / name
    path.parent.mkdir(parents=True)
    make(path)
    operations = in_folder(folder)
    asked = operations.holder if name == "lock" else operations.listings
    with pytest.raises(NotCompletedError, match=f"{path} keeps lock and record, and cannot be used"):
        asked()


def test_the_holder_that_a_foreign_lock_names_is_unknown(folder: Path) -> None:
    folder.mkdir()
    (folder / "lock").write_bytes(b"\xff\xfe")
    with (folder / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        holder = in_folder(folder).holder()
    assert holder is not None
    assert holder.author.user == "unknown"
