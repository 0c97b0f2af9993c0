"""Matches topic names against a request's globs: `*`, `?` and `[ab]`, on whole names."""

from __future__ import annotations

import fnmatch
import re
from typing import TYPE_CHECKING, TypeVar

from kadmin.errors import InvalidInputError, name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Value = TypeVar("Value")


def matching(names: Sequence[str], patterns: Iterable[str]) -> list[bool]:
    """Whether each name matches any of the patterns."""
    tests = [re.compile(fnmatch.translate(pattern)).match for pattern in patterns]
    return [any(test(name) for test in tests) for name in names]


def value_by_name(names: Sequence[str], values: Mapping[str, Value], field: str) -> list[Value | None]:
    """Return the value of the pattern that each name matches, None where it matches none.

    Raises InvalidInputError where patterns with different values match one name; `field` is the field in the message.
    """
    chosen: list[Value | None] = [None] * len(names)
    by: dict[int, str] = {}
    for pattern, value in values.items():
        test = re.compile(fnmatch.translate(pattern)).match
        for index in (each for each, name in enumerate(names) if test(name)):
            if index in by and chosen[index] != value:
                raise InvalidInputError(
                    f"spec.{field}: topic {names[index]} matches both {by[index]} and {pattern}.",
                    cause=f"{name_some([chosen[index], value])} cannot both hold",
                )
            chosen[index], by[index] = value, pattern
    return chosen
