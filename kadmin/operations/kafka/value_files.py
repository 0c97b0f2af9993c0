"""Values by key in a folder: a file for each, written whole to a temporary file beside it, then renamed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_TEMPORARY = ".tmp"


class ValueFiles:
    """The values below `folder`, which need not exist; every method raises OSError as the file system does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """Return a value, None where there is none."""
        path = self.folder / key
        return path.read_bytes() if path.exists() else None

    def names(self, parent: str) -> Sequence[str]:
        """Return the names directly below a key, sorted."""
        folder = self.folder / parent
        return sorted(each.name for each in folder.iterdir() if each.suffix != _TEMPORARY) if folder.is_dir() else ()

    def values(self, parent: str, leaf: str = "") -> Mapping[str, bytes]:
        """Return the values of `<parent>/<name><leaf>` by name, sorted."""
        values = {name: self.get(f"{parent}/{name}{leaf}") for name in self.names(parent)}
        return {name: value for name, value in values.items() if value is not None}

    def put(self, values: Mapping[str, bytes | None]) -> None:
        """Write values in this order; remove those that are None, and folders that are empty then."""
        for key, value in values.items():
            path = self.folder / key
            if value is not None:
                _write(path, value)
            elif path.exists():
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + _TEMPORARY)
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
