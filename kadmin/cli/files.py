"""Finds the documents of FILE...: names, folders with all below them, globs, standard input."""

from __future__ import annotations

import os
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
_SUFFIXES = {".yaml", ".yml", ".json"}

Found: TypeAlias = tuple[str, InvalidInputError | None]
"""The name of a file, and the error where it is known that it cannot be read."""


def find_files(names: Iterable[str]) -> Iterator[Found]:
    """Yield each file once; an unreadable folder or a pattern without documents has an error."""
    reached: set[str] = set()
    for name, refusal in (found for given in names for found in _found(given)):
        real_path = name if name == STANDARD_INPUT else os.path.realpath(name)
        if real_path not in reached:  # twice, as through a link, it is one file
            reached.add(real_path)
            yield name, refusal


def path_of(name: str) -> Path:
    """Return the path to read: `-` alone is standard input, `./-` is a file.

    Path makes no difference between them.
    """
    return Path(name) if name == STANDARD_INPUT else Path(name).absolute()


def _found(name: str) -> list[Found]:
    try:
        return _expand(name)
    except OSError as error:  # a name too long
        return [(name, _unreadable(name, error))]


def _expand(name: str) -> list[Found]:
    """Return the files of a name, folder or glob, sorted; pipes in folders are left out."""
    if name == STANDARD_INPUT or Path(name).is_file():
        return [(name, None)]
    if Path(name).is_dir() and name:
        found = list(_below(name))
    elif has_magic(name):
        paths = glob(name, recursive=True)  # noqa: PTH207 - absolute patterns, too
        found = [(_as_file(path), None) for path in paths if _may_be_read(path)]
    else:
        return [(name, None)]
    if not found:
        cause = "no document is there; they end in .yaml, .yml or .json"
        return [(name, InvalidInputError(f"There is no document in {name}.", cause=cause))]
    return sorted(found, key=lambda each: each[0])


def _below(name: str) -> Iterator[Found]:
    """Yield the documents in a folder and below it, without hidden folders (.git, .venv)."""
    waiting, entered = [Path(name)], set()
    while waiting:
        folder = waiting.pop()
        real_path = os.path.realpath(folder)
        if real_path in entered:  # a link to a folder above
            continue
        entered.add(real_path)
        try:
            inside = list(folder.iterdir())
            waiting += [path for path in inside if path.is_dir() and not path.name.startswith(".")]
            yield from (
                (str(path), None)
                for path in inside
                if path.suffix.lower() in _SUFFIXES and _may_be_read(path)
            )
        except OSError as error:  # a folder that may not be entered
            yield str(folder), _unreadable(str(folder), error)


def _may_be_read(path: str | Path) -> bool:
    return Path(path).is_file() or not Path(path).exists()  # a broken link is reported


def _as_file(path: str) -> str:
    return os.path.join(os.curdir, path) if path == STANDARD_INPUT else path  # noqa: PTH118 - Path drops the dot


def _unreadable(name: str, error: OSError) -> InvalidInputError:
    return InvalidInputError(f"Cannot read {name}.", cause=error.strerror)
