"""What makes a problem the same one after lines have moved: programs that compare two runs ask for it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.documents import Problem


def fingerprints(problems: Sequence[Problem]) -> list[str]:
    """Return one digest per problem, of its file, code, path and message; equal ones are numbered."""
    times: Counter[tuple[str, ...]] = Counter()
    found = []
    for problem in problems:
        key = (problem.file, problem.code, problem.path, problem.message)
        times[key] += 1
        text = "\0".join((*key, str(times[key])))
        found.append(hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest())
    return found
