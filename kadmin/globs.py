"""Matches names against globs: `*`, `?`, `[ab]` and `[!ab]`, on whole names, with case."""

from __future__ import annotations

import fnmatch  # noqa: TID251 - here alone
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def matches(name: str, pattern: str) -> bool:
    """Whether a glob matches a name."""
    return _compiled(pattern).match(name) is not None


def first_match(name: str, patterns: Iterable[str]) -> str | None:
    """Return the first glob that matches a name."""
    return next((pattern for pattern in patterns if matches(name, pattern)), None)


# fnmatch itself keeps 256 patterns, and compiles those of a longer list again for every name.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
