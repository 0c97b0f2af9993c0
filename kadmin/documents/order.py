"""Problems of several documents: switched as a policy says, each once, in the order of files and places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.plan.model import Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.documents.problem import Problem
    from kadmin.plan.model import Policy


def switched(problems: Iterable[Problem], policy: Policy) -> Iterator[Problem]:
    """Yield the problems as grave as the policy takes their codes, without those that it switches off."""
    for problem in problems:
        switch = policy.codes.get(problem.code)
        if switch is None:
            yield problem
        elif switch is not Switch.OFF:
            yield replace(problem, severity="error" if switch is Switch.ERROR else "warning")


def in_order(problems: Iterable[Problem], files: Sequence[str]) -> list[Problem]:
    """Return each problem once, by file as given, then by place."""
    order = {file: index for index, file in enumerate(files)}
    return sorted(set(problems), key=lambda each: (order[each.file], each.line, each.column, each.code, each.message))
