"""Matches topic names against a request's globs: `*`, `?` and `[ab]`, on whole names."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Value = TypeVar("Value")


def matching(names: Sequence[str], patterns: Iterable[str]) -> list[bool]:
    """Whether each name matches any of the patterns."""
    tests = [re.compile(fnmatch.translate(pattern)).match for pattern in patterns]
    return [any(test(name) for test in tests) for name in names]


def value_by_name(names: Sequence[str], values: Mapping[str, Value]) -> list[Value | None]:
    """Return the value of the pattern that each name matches, None where it matches none."""
    chosen: list[Value | None] = [None] * len(names)
    for pattern, value in values.items():
        for index, matches in enumerate(matching(names, [pattern])):
            if matches:
                chosen[index] = value
    return chosen
