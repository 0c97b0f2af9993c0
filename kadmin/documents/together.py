"""Checks several documents for conflicts, and sorts their diagnostics in one order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.documents.placing import by_place
from kadmin.documents.text import printable
from kadmin.plan.model import Switch
from kadmin.plan.rules import check_side_by_side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.documents.check import Checked
    from kadmin.plan.model import Policy


def check_together(documents: Sequence[Checked]) -> tuple[Diagnostic, ...]:
    """Return the conflicts of each document with those before it.

    Files that hold no document are skipped.
    """
    readable = {
        each.source: (each, each.document) for each in documents if each.document is not None
    }
    found = check_side_by_side(
        [(printable(source), document) for source, (_, document) in readable.items()]
    )
    pairs = zip(readable.values(), found, strict=True)
    return tuple(diagnostic for (checked, _), one in pairs for diagnostic in checked.place(one))


def switched(problems: Iterable[Diagnostic], policy: Policy) -> Iterator[Diagnostic]:
    """Yield the diagnostics with the severity that the policy gives their codes.

    Leave out those that it switches off.
    """
    for problem in problems:
        switch = policy.codes.get(problem.code)
        if switch is None:
            yield problem
        elif switch is not Switch.OFF:
            yield replace(problem, severity="error" if switch is Switch.ERROR else "warning")


def in_order(problems: Iterable[Diagnostic], files: Sequence[str]) -> list[Diagnostic]:
    """Return each diagnostic once, in the order of the files, then by location."""
    order = {file: index for index, file in enumerate(files)}
    return sorted(set(problems), key=lambda each: (order[each.location.file], *by_place(each)))
