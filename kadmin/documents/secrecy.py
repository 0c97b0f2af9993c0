"""Keeps the text of a contexts file out of messages: a secret that was written into it must not be shown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.contexts.build import SECRETS_BELONG_ELSEWHERE, WRITE_A_REFERENCE, holds_secret
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.diagnostics import Diagnostic

_CONTEXTS = re.compile(r"""\bkind\b["']?\s*:\s*["']?Contexts\b""")
_UNREAD = {
    codes.SYNTAX: "not well-formed YAML or JSON",
    codes.FORBIDDEN_YAML: "an anchor, an alias, a tag or a directive",
    codes.ODD_NUMBER: "a number that readers understand differently",
    codes.KEY_NOT_TEXT: "a key that is not a string",
    codes.DUPLICATE_KEY: "a key is repeated",
}
"""Messages for contexts that cannot be read; they quote no text, because any part of it may be a secret."""


def may_hold_secrets(text: str) -> bool:
    """Whether a text names the kind Contexts, readable or not."""
    return _CONTEXTS.search(text) is not None


def without_secrets(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the problems of a contexts file without values that may be secrets."""
    return tuple(map(_without_secret, problems))


def _without_secret(problem: Diagnostic) -> Diagnostic:
    if holds_secret(problem.field):
        return replace(problem, message=SECRETS_BELONG_ELSEWHERE, next_step=WRITE_A_REFERENCE)
    if problem.code in _UNREAD:
        return replace(problem, message=_UNREAD[problem.code], next_step=None)
    return problem
