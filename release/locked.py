"""Prints the part of requirements.lock that kadmin needs where it is installed, without the tools of this repository.

Usage: python release/locked.py [EXTRA...]

The lock holds everything, hashes included; what depends on what is read from the packages installed here, so this
runs in the environment of `make setup`.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
DISTRIBUTION = "kadmin-kafka"


def needed(extras: tuple[str, ...]) -> frozenset[str]:
    """Return the names of all packages that kadmin and these extras need, and those that these need."""
    waiting, seen = direct(extras), set[tuple[str, frozenset[str]]]()
    while waiting:
        entry = waiting.pop()
        if entry not in seen:
            seen.add(entry)
            waiting += _requirements(*entry)
    return frozenset(name for name, _ in seen)


def direct(extras: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    """Return what kadmin itself requires with these extras: names, each with the extras that are asked of it."""
    return _requirements(DISTRIBUTION, frozenset(extras))


def locked(extras: tuple[str, ...]) -> str:
    """Return the lines of requirements.lock for kadmin with these extras, without kadmin."""
    names, kept, lines = needed(extras), False, []
    for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith(" "):
            kept = line.partition("==")[0] in names
        if kept:
            lines.append(line)
    return "".join(lines)


def _requirements(name: str, extras: frozenset[str]) -> list[tuple[str, frozenset[str]]]:
    wanted = map(Requirement, distribution(name).requires or [])
    return [
        (canonicalize_name(each.name), frozenset(each.extras))
        for each in wanted
        if each.marker is None or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


if __name__ == "__main__":
    sys.stdout.write(locked(tuple(sys.argv[1:])))
