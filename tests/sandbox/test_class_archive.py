"""The classes of a broker are recorded once, and taken from the cache by every server that starts
later.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kadmin.java import cache_folder
from kadmin.sandbox import Sandbox, SandboxSpec, class_archive

ENDED = b"\xa8\xba\x0b\xf0 classes"


@pytest.mark.parametrize(
    ("written", "kept"), [(ENDED, True), (b"\0" * 9, False), (b"", False), (None, False)]
)
def test_only_an_archive_that_is_whole_is_kept(
    tmp_path: Path, written: bytes | None, *, kept: bool
) -> None:
    """A JVM writes the header last: one that was killed leaves zeros there, or no file."""
    archive, folder = tmp_path / "cache" / "class-archives" / "kafka.jsa", tmp_path / "broker-1"
    folder.mkdir()
    (recording,) = class_archive.options(archive, folder, record=True)
    class_archive.keep_at_end(archive, folder)
    if written is not None:
        Path(recording.partition("=")[2]).write_bytes(written)
    class_archive.keep(folder)
    assert archive.is_file() is kept
    assert not class_archive.are_kept(folder)
    assert class_archive.options(archive, folder, record=False) == (
        [f"-XX:SharedArchiveFile={archive}"] if kept else []
    )


@pytest.mark.live
@pytest.mark.matrix
def test_the_second_sandbox_of_a_version_shares_the_classes_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "jars").symlink_to(cache_folder(os.environ) / "jars")
    monkeypatch.setenv("KADMIN_CACHE", str(cache))
    spec = SandboxSpec(tmp_path / "sandbox", version="4.4.0", brokers=1, mode="kraft")
    Sandbox.up(spec).down()
    (archive,) = (cache / "class-archives").iterdir()
    assert archive.name.startswith("kafka-4.4.0-")
    second = Sandbox.up(spec)
    try:
        for process in (*second.brokers.values(), *second.controllers.values()):
            assert str(archive) in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
    finally:
        second.down()
    assert list((cache / "class-archives").iterdir()) == [archive]
