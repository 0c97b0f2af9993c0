"""Values by key in a folder: a file for each, written whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

from kadmin.errors import KadminError
from kadmin.operations.record.keys import leads_to_keys
from kadmin.whole_files import replaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


def require_file(path: Path) -> None:
    """Raise OSError unless the path is a regular file: opening a FIFO may never end."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))


class ValueFiles:
    """The values below `folder`, which need not exist.

    Every method raises OSError as the file system does.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """Return a value, None where there is none."""
        path = self._path(key)
        if not os.path.lexists(path):
            return None
        require_file(path)
        return path.read_bytes()

    def names(self, parent: str) -> Sequence[str]:
        """Return the names directly below a parent of keys, sorted.

        Files that are not of the record are left out.
        """
        folder = self._path(parent)
        found = (each.name for each in folder.iterdir()) if folder.is_dir() else ()
        return sorted(name for name in found if leads_to_keys(f"{parent}/{name}"))

    def below(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, sorted."""
        values = {name: self.get(f"{parent}/{name}{leaf}") for name in self.names(parent)}
        return {name: value for name, value in values.items() if value is not None}

    def put(self, values: Iterable[tuple[str, bytes | None]]) -> None:
        """Write values in this order.

        Remove those that are None, and folders that are empty then.
        """
        for key, value in values:
            path = self._path(key)
            if value is not None:
                _write(path, value)
            elif path.exists():
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()

    def _path(self, key: str) -> Path:
        if any(part in {"", ".", ".."} for part in key.split("/")):
            raise KadminError(f"{key!r} is no key: it leads out of the folder {self.folder}.")
        return self.folder / key


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with replaced(path) as file:
        file.write(data)
