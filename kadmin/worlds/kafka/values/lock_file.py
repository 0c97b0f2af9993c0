"""The file `lock` of a folder of records.

One runner of the folder holds it alone, runners of the topic share it.
"""

from __future__ import annotations

import fcntl
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from kadmin.operations.record.codec import decode_holder, encode_holder
from kadmin.worlds.kafka.values.value_files import require_file

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.operations.record.holder import Holder

ALONE, SHARED = fcntl.LOCK_EX, fcntl.LOCK_SH


def lock_file(folder: Path, kind: int) -> IO[str] | Holder:
    """Lock the file, ALONE or SHARED, until it is closed.

    Returns it, or the holder that prevents it. Raises OSError where the file cannot be made.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError):
        require_file(folder / "lock")
    lock = (folder / "lock").open("a+", encoding="utf-8", errors="replace")
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        with lock:
            return read_holder(lock)
    return lock


def holder_of(folder: Path) -> Holder | None:
    """Return the process with the exclusive lock of the file, None if there is none.

    The file is only read.
    """
    with suppress(FileNotFoundError):
        require_file(folder / "lock")
        with (folder / "lock").open(encoding="utf-8", errors="replace") as lock:
            try:
                fcntl.flock(lock, SHARED | fcntl.LOCK_NB)
            except BlockingIOError:
                return read_holder(lock)
    return None


def read_holder(lock: IO[str]) -> Holder:
    """Return the holder that signed the file last."""
    lock.seek(0)
    return decode_holder(lock.read())


def sign(lock: IO[str], holder: Holder) -> None:
    """Write the holder into a locked file."""
    lock.truncate(0)
    lock.write(encode_holder(holder))
    lock.flush()
