"""Identifies a problem after lines have moved, for programs that compare two runs."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.diagnostics import Diagnostic


def fingerprints(problems: Sequence[Diagnostic]) -> list[str]:
    """Return one digest per problem, of its file, code, path and message.

    Equal ones are numbered.
    """
    times: Counter[tuple[str, ...]] = Counter()
    found = []
    for problem in problems:
        key = (problem.location.file, problem.code, problem.path, problem.message)
        times[key] += 1
        text = "\0".join((*key, str(times[key])))
        found.append(hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest())
    return found
