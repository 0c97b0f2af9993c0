"""The file of --metrics: replaced whole, and a nuisance to nobody when it can no longer be
written.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest

from kadmin.cli.metrics_file import MetricsFile
from kadmin.errors import NotCompletedError
from kadmin.operations import events

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "textfile").mkdir()
    return tmp_path / "textfile"


def test_a_failure_after_the_first_write_is_told_once_and_the_next_write_is_tried(
    folder: Path,
) -> None:
    complaints: list[str] = []
    written = MetricsFile(folder / "kadmin.prom", complaints.append)
    shutil.rmtree(folder)
    written(events.OperationStarted("op-1"))
    written(events.StateChanged("completed", "done"))
    (complaint,) = complaints
    assert complaint.startswith(f"warning: Cannot write {folder / 'kadmin.prom'}. No such file")
    folder.mkdir()
    written(events.Ended(0, "done"))
    text = (folder / "kadmin.prom").read_text()
    assert 'state="completed"} 1\n' in text
    assert [each.name for each in folder.iterdir()] == ["kadmin.prom"]


@pytest.mark.parametrize("place", ["pipe", ".", "missing/kadmin.prom"])
def test_what_is_no_place_for_a_file_is_refused(folder: Path, place: str) -> None:
    """A pipe without a reader would be waited for, and a device must not be replaced."""
    os.mkfifo(folder / "pipe")
    with pytest.raises(NotCompletedError):
        MetricsFile(folder / place, list[str]().append)


def test_a_reader_never_sees_half_a_file(folder: Path) -> None:
    """A write makes another file and renames it: what a reader has open stays whole."""
    path = folder / "kadmin.prom"
    written = MetricsFile(path, list[str]().append)
    with path.open() as reading:
        before, inode = path.read_text(), path.stat().st_ino
        written(events.OperationStarted("op-1", "id"))
        assert reading.read() == before
    assert path.stat().st_ino != inode


def test_progress_is_written_once_a_second_and_everything_else_at_once(folder: Path) -> None:
    path = folder / "kadmin.prom"
    written = MetricsFile(path, list[str]().append)
    written(events.OperationStarted("op-1", "id"))
    inode = path.stat().st_ino
    written(events.Note("x"))
    written(events.ServerRequestLogged("x"))
    assert path.stat().st_ino == inode
    written(events.Ended(8, "x"))
    assert "kadmin_operation_exit_code{" in path.read_text()
