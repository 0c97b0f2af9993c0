"""Operations in a folder of one machine: the lock, the fence, and what is on record."""

from __future__ import annotations

import fcntl
import os
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.stores import ignore, in_folder

from kadmin.errors import BusyError, InvalidInputError, KadminError, NotCompletedError
from kadmin.operations.context import Clock, new_operation_id
from kadmin.operations.record.codec import UndecodableError
from kadmin.operations.record.holder import Holder, LostLockError
from kadmin.operations.record.keys import is_key, key_of
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import WaveStep
from kadmin.worlds.kafka.values.folder import FolderValues
from kadmin.worlds.kafka.values.value_files import ValueFiles

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


OP_1, OP_2, OP_9 = (f"20260101T000000Z-00000{number}" for number in (1, 2, 9))
ANN = Holder(Author("ann", "host-a", 7), OP_1, "now", 0.0)
BEN = Holder(Author("ben", "host-b", 8), OP_2, "now", 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cluster"


class Watched(FolderValues):
    """The values of the usual place: another folder, whose holder is known at once."""

    watched_holder = FolderValues.holder


def beside(folder: Path, usual: Path) -> FolderValues:
    return FolderValues(folder, Clock(), Watched(usual, Clock(), None, ignore), ignore)


def recorded(operation_id: str) -> OperationRecord:
    origin = {tp("a-0"): (1, 2)}
    return OperationRecord(
        operation_id, OperationKind.ELECTION, "{}", "sha256:0", "id", "now", ANN.author, origin
    )


def test_the_lock_is_held_once_and_names_its_holder(folder: Path) -> None:
    first, second = in_folder(folder), in_folder(folder)
    assert first.lock.holder() is None
    lease = first.lock.take(ANN, 0)
    assert second.lock.holder() == first.lock.holder() == ANN
    with pytest.raises(BusyError, match="ann@host-a"):
        second.lock.take(BEN, 0)
    first.lock.release(lease)
    assert second.lock.holder() is None
    again = second.lock.take(BEN, 0)
    assert again.token == lease.token + 1


def test_a_record_that_is_in_use_elsewhere_refuses_a_second_one(
    folder: Path, tmp_path: Path
) -> None:
    """The lock and the unfinished operations of the usual place count; a copy of an operation
    continues it.
    """
    usual = in_folder(tmp_path / "usual")
    lease = usual.lock.take(ANN, 0)
    usual.create(recorded(OP_1), lease, "now")
    values = beside(folder, tmp_path / "usual")
    with pytest.raises(BusyError, match="in use") as held:
        values.take(BEN, 0)
    assert held.value.cause == f"{ANN} holds the lock there"
    usual.lock.release(lease)
    with pytest.raises(BusyError, match="in use") as unfinished:
        values.take(BEN, 0)
    assert unfinished.value.cause == f"operation {OP_1} is not finished there"
    copytree(tmp_path / "usual" / "operations", folder / "operations")
    values.release(values.take(BEN, 0))
    again = usual.lock.take(ANN, 0)
    usual.set_status(OP_1, OperationStatus(OperationState.COMPLETED, "later"), again)
    usual.lock.release(again)
    assert beside(tmp_path / "another", tmp_path / "usual").take(BEN, 0).token == 1


def test_a_lock_that_was_released_by_hand_writes_no_more(folder: Path) -> None:
    operations, elsewhere = in_folder(folder), in_folder(folder)
    lease = operations.lock.take(ANN, 0)
    operations.create(recorded(OP_1), lease, "now")
    with pytest.raises(BusyError, match=f"{OP_1}, not {OP_9}"):
        elsewhere.lock.release_by_hand(OP_9)
    assert elsewhere.lock.release_by_hand(OP_1) == ANN
    writes: tuple[Callable[[], None], ...] = (
        lambda: operations.write_step(WaveStep(1, "now", 0), lease),
        lambda: operations.set_status(
            OP_1, OperationStatus(OperationState.COMPLETED, "now"), lease
        ),
        lambda: operations.create(recorded(OP_2), lease, "now"),
    )
    for write in writes:
        with pytest.raises(LostLockError):
            write()
    assert operations.steps(OP_1) == ()
    operations.lock.release(lease)
    with pytest.raises(InvalidInputError, match="The lock is free"):
        elsewhere.lock.release_by_hand(OP_1)


def test_no_key_leads_out_of_the_folder(folder: Path) -> None:
    files = ValueFiles(folder)
    for key in (
        "../evil",
        "operations/../../evil",
        "/evil",
        "operations//evil",
        "operations/./evil",
        "",
    ):
        with pytest.raises(KadminError, match="leads out of the folder"):
            files.put([(key, b"evil")])
        with pytest.raises(KadminError, match="leads out of the folder"):
            files.get(key)
    assert not folder.exists()


def test_files_that_are_not_of_the_record_are_left_out(folder: Path) -> None:
    operations = in_folder(folder)
    lease = operations.lock.take(ANN, 0)
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
    asked = operations.lock.holder if name == "lock" else operations.listings
    with pytest.raises(
        NotCompletedError, match=f"{path} keeps lock and record, and cannot be used"
    ):
        asked()


def test_the_holder_that_a_foreign_lock_names_is_unknown(folder: Path) -> None:
    folder.mkdir()
    (folder / "lock").write_bytes(b"\xff\xfe")
    with (folder / "lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        holder = in_folder(folder).lock.holder()
    assert holder is not None
    assert holder.author.user == "unknown"


def test_a_fence_that_is_no_number_is_named(folder: Path) -> None:
    folder.mkdir()
    (folder / "fence").write_bytes(b"nine")
    with pytest.raises(UndecodableError, match=f"{folder / 'fence'} cannot be decoded"):
        in_folder(folder).lock.take(ANN, 0)
