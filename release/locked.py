"""Prints the part of requirements.lock that kadmin needs where it is installed.

It leaves out the tools of this repository.

Usage: python release/locked.py [EXTRA...] [+PACKAGE...], where +PACKAGE is one more that is needed
beside kadmin.

The lock holds everything, hashes included; what depends on what is read from the packages installed
here, so this runs in the environment of `make setup`.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
DISTRIBUTION = "kadmin-kafka"


def needed(extras: tuple[str, ...], packages: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the names of all packages that kadmin with these extras and others need.

    Those that these need are among them.
    """
    others: list[tuple[str, frozenset[str]]] = [
        (canonicalize_name(name), frozenset()) for name in packages
    ]
    waiting, seen = direct(extras) + others, set[tuple[str, frozenset[str]]]()
    while waiting:
        entry = waiting.pop()
        if entry not in seen:
            seen.add(entry)
            waiting += _requirements(*entry)
    return frozenset(name for name, _ in seen)


def direct(extras: tuple[str, ...]) -> list[tuple[str, frozenset[str]]]:
    """Return what kadmin itself requires with these extras.

    They are names, each with the extras that are asked of it.
    """
    return _requirements(DISTRIBUTION, frozenset(extras))


def locked(extras: tuple[str, ...], packages: tuple[str, ...] = ()) -> str:
    """Return the lines of requirements.lock for kadmin with these extras and for other packages.

    Leave out kadmin.
    """
    names, kept, lines = needed(extras, packages), False, []
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
        if each.marker is None
        or any(each.marker.evaluate({"extra": extra}) for extra in ("", *extras))
    ]


if __name__ == "__main__":
    given = sys.argv[1:]
    packages = tuple(word.removeprefix("+") for word in given if word.startswith("+"))
    sys.stdout.write(locked(tuple(word for word in given if not word.startswith("+")), packages))
