"""Writes files whole or not at all: to a new file beside the old one, whose place it then takes."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of `path` at the end, and is removed after an error.

    Its name cannot be foreseen, and it is made anew: where others may write to the folder, nothing
    is written through a link of theirs. Raises OSError as the file system does.
    """
    with _moved(path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial"), path) as file:
        yield file


@contextmanager
def created(path: Path) -> Iterator[IO[bytes]]:
    """Write a new file like `replaced`.

    Raises FileExistsError where the file exists or another process writes it.
    """
    with _moved(path.with_name(f".{path.name}.partial"), path) as file:
        # Only the process that made the partial file writes this one.
        if path.exists():
            raise FileExistsError
        yield file


def write_whole(path: Path, text: str) -> None:
    """Replace a file by a text; raises OSError as the file system does."""
    with replaced(path) as file:
        file.write(text.encode())


@contextmanager
def _moved(partial: Path, path: Path) -> Iterator[IO[bytes]]:
    with partial.open("xb") as file:
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
