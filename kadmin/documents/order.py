"""Diagnostics of several documents: switched by a policy, each once, in the order of files and places."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.plan.model import Switch

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.plan.model import Policy


def switched(problems: Iterable[Diagnostic], policy: Policy) -> Iterator[Diagnostic]:
    """Yield the diagnostics with the severity that the policy gives their codes, without those that it switches off."""
    for problem in problems:
        switch = policy.codes.get(problem.code)
        if switch is None:
            yield problem
        elif switch is not Switch.OFF:
            yield replace(problem, severity="error" if switch is Switch.ERROR else "warning")


def in_order(problems: Iterable[Diagnostic], files: Sequence[str]) -> list[Diagnostic]:
    """Return each diagnostic once, by file as given, then by place."""
    order = {file: index for index, file in enumerate(files)}
    return sorted(
        set(problems),
        key=lambda each: (
            order[each.location.file],
            each.location.line,
            each.location.column,
            each.code,
            each.message,
        ),
    )
