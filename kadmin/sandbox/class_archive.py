"""Class data sharing.

A JVM that finds its classes in an archive of an earlier run starts in half the processor time. The
first broker of the first sandbox of a version records its classes. It writes them when it ends by
SIGTERM, and they are kept in the cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.whole_files import replaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.java import JavaRuntime

WRITE_S = 60.0
"""Timeout for the end of a broker that recorded its classes: it writes about 50 MB."""
_WRITTEN = "classes.jsa"
_DESTINATION = "classes.txt"


def archive_of(version: str, java: JavaRuntime, class_path: str, cache: Path) -> Path:
    """Return the path of the archive of a version.

    A JVM takes it only with the same Java and the same jars.
    """
    files = [java.executable.resolve(), *map(Path, class_path.split(os.pathsep))]
    fits = "\n".join(f"{file} {file.stat().st_mtime_ns}" for file in files)
    return (
        cache
        / "class-archives"
        / f"kafka-{version}-{hashlib.sha256(fits.encode()).hexdigest()[:16]}.jsa"
    )


def options(archive: Path, folder: Path, *, record: bool) -> Sequence[str]:
    """Return the options of the JVM of a server.

    They read the archive, or with `record` write one into its folder.
    """
    if archive.is_file():
        return [f"-XX:SharedArchiveFile={archive}"]
    return [f"-XX:ArchiveClassesAtExit={folder / _WRITTEN}"] if record else []


def keep_at_end(archive: Path, folder: Path) -> None:
    """Mark the server of a folder: the classes that it records are kept when it is stopped."""
    if not archive.is_file():
        (folder / _DESTINATION).write_text(str(archive), encoding="utf-8")


def are_kept(folder: Path) -> bool:
    """Whether the classes of the server of a folder are kept when it is stopped."""
    return (folder / _DESTINATION).is_file()


def keep(folder: Path) -> None:
    """Keep the classes of a server that has ended.

    A cache that cannot be written stays without them.
    """
    archive = Path((folder / _DESTINATION).read_text(encoding="utf-8"))
    (folder / _DESTINATION).unlink()
    with contextlib.suppress(OSError), (folder / _WRITTEN).open("rb") as written:
        if not any(written.read(4)):
            return  # no header, which is written last: the server was killed before
        archive.parent.mkdir(parents=True, exist_ok=True)
        written.seek(0)
        with replaced(archive) as file:
            shutil.copyfileobj(written, file)
