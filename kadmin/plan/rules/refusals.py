"""Turns diagnostics of the rules into errors of commands that act.

The table is kadmin.plan.codes.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.diagnostics import NOWHERE
from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.model import Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kadmin.diagnostics import Diagnostic, Severity
    from kadmin.errors import KadminError
    from kadmin.plan.model import Policy

_MOST_NAMED = 5


def refusals_of(
    found: Iterable[Diagnostic],
    place: Callable[[Sequence[Diagnostic]], Sequence[Diagnostic]] = tuple,
) -> tuple[KadminError, ...]:
    """Return one error per code that refuses, in the order of the diagnostics.

    `place` gives them their locations.
    """
    by_code: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for each in found:
        if refuses(each):
            by_code[each.code].append(each)
    return tuple(refusal(place(listed)) for listed in by_code.values())


def refuses(diagnostic: Diagnostic) -> bool:
    """Whether a command that acts stops for a diagnostic; otherwise it is a warning there."""
    return diagnostic.severity == "error" and codes.TABLE[diagnostic.code].refusal is not None


def warning_or_error(code: str, policy: Policy | None) -> Severity | None:
    """Return the severity of a warning that a policy may make an error for commands that act.

    None where the policy switches it off.
    """
    switch = Switch.WARNING if policy is None else policy.codes.get(code, Switch.WARNING)
    return {Switch.OFF: None, Switch.ERROR: "error"}.get(switch, "warning")


def refusal(found: Sequence[Diagnostic], *, of_request: bool = False) -> KadminError:
    """Return the error for diagnostics of one code.

    `of_request` where the table has another one for requests.
    """
    code = codes.TABLE[found[0].code]
    kind = (code.of_request if of_request else None) or code.refusal or InvalidInputError
    first, rest = found[0], len(found) - _MOST_NAMED
    alike = len({each.next_step for each in found}) == 1
    shown = [
        _text(each) if alike else f"{_text(each)}{each.advice}" for each in found[:_MOST_NAMED]
    ]
    text = "; ".join([*shown, f"and {rest} more"] if rest > 0 else shown) + (
        first.advice if alike else ""
    )
    shows = command("diff", first.location.file) if _is_placed(first) else None
    return kind(
        f"{text}.",
        cause=f"{first.code}: {code.meaning}",
        next_step=first.next_step if first.names_command else shows,
    )


def _text(diagnostic: Diagnostic) -> str:
    place = f"{diagnostic.location}: " if _is_placed(diagnostic) else ""
    return f"{place}{diagnostic.message}"


def _is_placed(diagnostic: Diagnostic) -> bool:
    return diagnostic.location != NOWHERE


def require(found: Iterable[Diagnostic]) -> None:
    """Raise the first refusal, if there is one."""
    for error in refusals_of(found):
        raise error
