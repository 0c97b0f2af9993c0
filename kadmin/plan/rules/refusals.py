"""Diagnostics as errors: how commands that act refuse what the rules find. The table is kadmin.plan.codes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kadmin.errors import InvalidInputError
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.errors import KadminError

_MOST_NAMED = 5


def refusals_of(found: Iterable[Diagnostic]) -> tuple[KadminError, ...]:
    """Return one error per code that refuses, in the order of the diagnostics."""
    by_code: defaultdict[str, list[Diagnostic]] = defaultdict(list)
    for each in found:
        if refuses(each):
            by_code[each.code].append(each)
    return tuple(refusal(listed) for listed in by_code.values())


def refuses(diagnostic: Diagnostic) -> bool:
    """Whether a command that acts stops for it; what does not refuse is a warning there."""
    return diagnostic.severity == "error" and codes.TABLE[diagnostic.code].refusal is not None


def refusal(found: Sequence[Diagnostic], *, of_request: bool = False) -> KadminError:
    """Return the error for diagnostics of one code; `of_request` where the table has another one for requests."""
    code = codes.TABLE[found[0].code]
    kind = (code.of_request if of_request else None) or code.refusal or InvalidInputError
    text = "; ".join(each.message for each in found[:_MOST_NAMED])
    rest = len(found) - _MOST_NAMED
    hint = next((each.hint for each in found if each.hint), None)
    return kind(
        f"{text}; and {rest} more." if rest > 0 else f"{text}.",
        cause=f"{found[0].code}: {code.meaning}",
        next_command=hint,
    )


def require(found: Iterable[Diagnostic]) -> None:
    """Raise the first refusal, if there is one."""
    for error in refusals_of(found):
        raise error
