"""Globs over topic names that a document writes: whether each can match a name at all. Pure."""

from __future__ import annotations

import fnmatch
import re
import string
from typing import TYPE_CHECKING

from kadmin.plan import codes
from kadmin.plan.checks import Violation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.plan.model import Policy, RebalanceRequest

    Field = tuple[str | int, ...]

_PIECE = re.compile(r"\[!?\]?[^\]]*\]|.")
_IN_NAMES = string.ascii_letters + string.digits + "._-"


def check_policy_patterns(policy: Policy) -> tuple[Violation, ...]:
    """Refuse patterns of a policy that match nothing: somebody meant to guard something."""
    deletion = ("spec", "deletion")
    written = (*_listed((*deletion, "deny"), policy.deny), *_listed((*deletion, "allow"), policy.allow))
    return tuple(_futile(written))


def check_request_patterns(request: RebalanceRequest) -> tuple[Violation, ...]:
    """Refuse patterns of a request that match nothing."""
    topics = ("spec", "topics")
    written = (
        *_listed((*topics, "include"), request.include_topics),
        *_listed((*topics, "exclude"), request.exclude_topics),
        *((("spec", "replication_factor", each), each) for each in request.replication_factor),
        *((("spec", "broker_sets", each), each) for each in request.broker_sets),
    )
    return tuple(_futile(written))


def _listed(field: Field, patterns: Iterable[str]) -> Iterator[tuple[Field, str]]:
    return (((*field, index), each) for index, each in enumerate(patterns))


def _futile(written: Iterable[tuple[Field, str]]) -> Iterator[Violation]:
    for field, pattern in written:
        piece = next((each for each in _PIECE.findall(pattern) if not _matches_something(each)), None)
        if piece is not None:
            message = f"{pattern} matches no topic: no character of a name matches {piece}"
            hint = "close the bracket, with characters in it: [ab], [0-9], [!x]"
            yield Violation(codes.MALFORMED, message, hint, field=field)


def _matches_something(piece: str) -> bool:
    """Whether `*`, a character or a bracket, which fnmatch takes for itself where it is not closed, has a use."""
    return any(fnmatch.fnmatchcase(char, piece) for char in _IN_NAMES)
