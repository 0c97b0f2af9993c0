"""Rules on a Policy, and on globs over topic names in any document: each must match some name."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.globs import matches
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.diagnostics import Field
    from kadmin.plan.model import Policy
    from kadmin.plan.rules.world import ClusterView

_PIECE = re.compile(r"\[!?\]?[^\]]*\]|.")
_IN_NAMES = string.ascii_letters + string.digits + "._-"


def check_policy(
    policy: Policy, _world: ClusterView | None, _policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield patterns of a policy that match nothing: such a guard is a mistake."""
    deletion, unclean = ("spec", "deletion"), ("spec", "unclean_election")
    yield from futile(
        (
            *listed((*deletion, "deny"), policy.deny),
            *listed((*deletion, "allow"), policy.allow),
            *listed((*unclean, "deny"), policy.never_unclean),
        )
    )


def listed(field: Field, patterns: Iterable[str]) -> Iterator[tuple[Field, str]]:
    """Pair each pattern of a list with its field."""
    return (((*field, index), each) for index, each in enumerate(patterns))


def futile(written: Iterable[tuple[Field, str]]) -> Iterator[Diagnostic]:
    """Yield patterns that match no name that a topic can have."""
    for field, pattern in written:
        piece = next(
            (each for each in _PIECE.findall(pattern) if not _matches_something(each)), None
        )
        if piece is not None:
            message = f"{pattern} matches no topic: no character of a name matches {piece}"
            next_step = "close the bracket, with characters in it: [ab], [0-9], [!x]"
            yield Diagnostic(codes.MALFORMED, message, next_step, field=field)


def _matches_something(piece: str) -> bool:
    """Whether `*`, a character or a bracket matches a character.

    `[` is itself where it is not closed.
    """
    return any(matches(char, piece) for char in _IN_NAMES)
