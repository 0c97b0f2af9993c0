"""Matches names against globs: `*`, `?`, `[ab]` and `[!ab]`, on whole names, with case."""

from __future__ import annotations

import fnmatch  # noqa: TID251 - here alone
import re
from functools import cache


def matches(name: str, pattern: str) -> bool:
    """Whether a glob matches a name."""
    return _compiled(pattern).match(name) is not None


# fnmatch itself keeps 256 patterns, and compiles those of a longer list again for every name.
@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
