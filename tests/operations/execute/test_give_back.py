"""What goes wrong while the lock is released changes nothing in how a run ended."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, cast

import pytest
from support.stores import in_folder

from kadmin.cli.deadline import alarm
from kadmin.errors import StalePlanError
from kadmin.operations.context import Clock
from kadmin.operations.events import Event, Note
from kadmin.operations.session import held
from kadmin.worlds.kafka.cluster import KafkaCluster
from kadmin.worlds.kafka.values.folder import FolderValues

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kadmin.operations.port import Backend
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


def damage(fence: Path, _: pytest.MonkeyPatch) -> None:
    fence.write_bytes(b"?")


def replace(fence: Path, _: pytest.MonkeyPatch) -> None:
    fence.unlink()
    fence.mkdir()


def hang(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take until the alarm."""

    def release(*_: object) -> None:
        with alarm(0.1):
            signal.pause()

    monkeypatch.setattr(FolderValues, "release", release)


@pytest.mark.parametrize("spoil", [damage, replace, hang])
@pytest.mark.parametrize("fails", [True, False])
def test_a_lock_that_cannot_be_released_never_replaces_the_result(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    spoil: Callable[[Path, pytest.MonkeyPatch], None],
    *,
    fails: bool,
) -> None:
    told, reached = list[Event](), list[str]()
    operations = in_folder(tmp_path, told.append)
    context = KafkaCluster(
        cast("Backend", None), operations, Clock(), told.append, cast("KafkaConnection", None)
    )

    def run() -> None:
        with held(context, context.new_holder("purpose"), 0):
            spoil(tmp_path / "fence", monkeypatch)
            if fails:
                raise StalePlanError("its own")
            reached.append("the result")

    if fails:
        with pytest.raises(StalePlanError, match="its own"):
            run()
    else:
        run()
    assert reached == ([] if fails else ["the result"])
    (note,) = told
    assert isinstance(note, Note)
    assert "the lock could not be released" in note.text
