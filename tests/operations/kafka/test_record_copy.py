"""What a machine keeps of the record of a topic, and what it says when the topic lacks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.stores import in_folder

from kadmin.errors import BusyError
from kadmin.operations.record.codec import decode_status, encode_status, restate
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import (
    Author,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.worlds.kafka.values.record_copy import LostRecordError, RecordCopy, operations_in

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.events import Event

RECORD = OperationRecord(
    "20260101T000000Z-000001",
    OperationKind.ELECTION,
    "{}",
    "sha256:0",
    "id",
    "now",
    Author("ann", "host-a", 7),
    {},
)
RUNNING = encode_status(OperationStatus(OperationState.RUNNING, "now"), RECORD)
COMPLETED = restate(RUNNING, OperationStatus(OperationState.COMPLETED, "later"))
STATUS, BODY, STEP, REQUEST = (
    f"operations/20260101T000000Z-000001/{name}"
    for name in ("status", "record", "steps/000001", "request")
)
OPERATION = "20260101T000000Z-000001"
ANN = Holder(Author("ann", "host-a", 7), OPERATION, "now", 20.0)
BEN = Holder(Author("ben", "host-b", 8), "20260101T000000Z-000002", "now", 0.0)
OPERATION_FOLDER = f"operations/{OPERATION}"
WHOLE = {STATUS: RUNNING, BODY: b"record", STEP: b"step"}


@pytest.fixture
def told() -> list[Event]:
    return []


@pytest.fixture
def copy(tmp_path: Path, told: list[Event]) -> RecordCopy:
    return RecordCopy(tmp_path / "records", "cluster", told.append)


def test_nothing_is_missed_where_nothing_was_kept(copy: RecordCopy) -> None:
    copy.check({})


def test_an_unfinished_operation_that_the_topic_lacks_is_told(
    copy: RecordCopy, tmp_path: Path
) -> None:
    copy.keep({"lock": b"{}", **WHOLE}, lambda _: {})
    copy.check(WHOLE)
    for lacking in WHOLE:
        with pytest.raises(LostRecordError) as lost:
            copy.check({key: value for key, value in WHOLE.items() if key != lacking})
        assert lost.value.cause is not None
        assert "operation 20260101T000000Z-000001 is not on record there" in lost.value.cause
        assert lost.value.next_command is not None
        assert f"kadmin resume --records {tmp_path / 'records'}" in lost.value.next_command
    assert sorted(each.name for each in (tmp_path / "records" / "cluster").iterdir()) == [
        "operations"
    ]


def test_a_finished_operation_may_be_gone(copy: RecordCopy) -> None:
    copy.keep(WHOLE | {STATUS: COMPLETED}, lambda _: {})
    copy.check({})


def test_an_operation_that_ended_on_another_machine_is_not_missed_later(copy: RecordCopy) -> None:
    copy.keep(WHOLE, lambda _: {})
    copy.check(WHOLE | {STATUS: COMPLETED})
    copy.check({})


def test_an_operation_of_another_machine_is_kept_whole(copy: RecordCopy, tmp_path: Path) -> None:
    copy.keep(
        {STATUS: RUNNING, REQUEST: None},
        lambda operation: {**WHOLE, f"{operation}/request": b"pause"},
    )
    folder = tmp_path / "records" / "cluster" / "operations" / "20260101T000000Z-000001"
    assert sorted(each.name for each in folder.iterdir()) == ["record", "status", "steps"]
    assert decode_status((folder / "status").read_bytes()).state is OperationState.RUNNING


def test_an_operation_that_history_forgets_is_removed_here_too(
    copy: RecordCopy, tmp_path: Path
) -> None:
    copy.keep(WHOLE, lambda _: {})
    copy.keep(
        dict.fromkeys((STEP, BODY, STATUS, "operations/20260101T000000Z-000000/status")),
        lambda _: pytest.fail("is forgotten"),
    )
    assert not list((tmp_path / "records" / "cluster" / "operations").iterdir())


def test_an_operation_is_here_whole_or_not_at_all_after_an_error(
    copy: RecordCopy, tmp_path: Path
) -> None:
    """A value that could not be written, with the disk full say, leaves no copy with a gap, and
    later ones mend it.
    """
    cluster = tmp_path / "records" / "cluster"
    folder, other = cluster / OPERATION_FOLDER, "operations/20260101T000000Z-000002/status"
    copy.keep({STATUS: RUNNING, BODY: b"record"}, lambda _: {})
    (folder / "steps").write_text("a file where a folder would be")
    copy.keep({STEP: b"step", other: RUNNING}, lambda _: {})
    assert [each.operation_id for each in operations_in(tmp_path / "records", "cluster")] == [
        "20260101T000000Z-000002"
    ]
    copy.check({other: RUNNING})
    (folder / "steps").unlink()
    copy.keep({STATUS: RUNNING}, lambda _: WHOLE)
    assert {(cluster / key).read_bytes() for key in WHOLE} == set(WHOLE.values())


def test_a_machine_that_can_keep_no_copy_says_so_once(
    copy: RecordCopy, tmp_path: Path, told: list[Event]
) -> None:
    (tmp_path / "records").write_text("a file where the folder would be")
    for _ in range(2):
        copy.keep(WHOLE, lambda _: {})
    (note,) = told
    assert "this machine keeps no copy of the record" in str(note)


def test_a_runner_of_the_topic_and_one_with_records_never_hold_one_folder(
    copy: RecordCopy, tmp_path: Path
) -> None:
    """Runners of the topic share it, one that was frozen too: their fence is the topic's."""
    records = tmp_path / "records"
    folder = in_folder(records / "cluster")
    successor = RecordCopy(records, "cluster", lambda _: None)
    for runner in (copy, successor):
        runner.hold()
    copy.sign(ANN)
    with pytest.raises(BusyError, match=f"ann@host-a.*for operation {OPERATION}"):
        folder.lock.take(BEN, 0)
    copy.let_go()
    with pytest.raises(BusyError):
        folder.lock.take(BEN, 0)
    successor.let_go()
    lease = folder.lock.take(BEN, 0)
    with pytest.raises(BusyError, match=f"ben@host-b.*with --records {records}") as held:
        copy.hold()
    assert held.value.next_command == f"kadmin status --records {records}"
    folder.lock.release(lease)
    copy.hold()


def test_a_runner_goes_on_where_no_folder_can_be_locked(
    copy: RecordCopy, tmp_path: Path, told: list[Event]
) -> None:
    (tmp_path / "records").write_text("a file where the folder would be")
    copy.hold()
    copy.sign(ANN)
    copy.let_go()
    assert "this machine keeps no copy of the record" in str(told)
