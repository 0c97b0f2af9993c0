"""Rules on the topic patterns of a rebalance request against a cluster."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.globs import matches
from kadmin.plan import codes
from kadmin.plan.rules.names import nearest
from kadmin.plan.rules.policy import futile, listed
from kadmin.plan.rules.refusals import warning_or_error

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from kadmin.diagnostics import Field
    from kadmin.plan.model import Policy, RebalanceRequest

_WILDCARD = re.compile(r"[*?]|\[!?\]?[^\]]*\]")


def written_patterns(request: RebalanceRequest) -> Iterator[tuple[Field, str]]:
    """Yield each pattern of a request with its field."""
    topics = ("spec", "topics")
    yield from listed((*topics, "include"), request.include_topics)
    yield from listed((*topics, "exclude"), request.exclude_topics)
    yield from ((("spec", "replication_factor", each), each) for each in request.replication_factor)
    yield from ((("spec", "broker_sets", each), each) for each in request.broker_sets)


def unmatched_patterns(
    request: RebalanceRequest, topics: Collection[str], policy: Policy | None
) -> Iterator[Diagnostic]:
    """Yield the patterns that match none of the topics, with the nearest name.

    "*" is never one of them; patterns that match no name at all are left to `futile`.
    """
    severity = warning_or_error(codes.UNMATCHED_PATTERN, policy)
    if severity is None:
        return
    for field, pattern in written_patterns(request):
        matched = pattern == "*" or any(matches(topic, pattern) for topic in topics)
        if matched or any(futile([(field, pattern)])):
            continue
        where = ".".join(map(str, field[:3] if field[1] == "topics" else field[:2]))
        near = _nearest(pattern, topics)
        yield Diagnostic(
            codes.UNMATCHED_PATTERN,
            f"{where}: {pattern} matches no topic of the inventory",
            None if near is None else f"did you mean {near}?",
            severity=severity,
            field=field,
        )


def _nearest(pattern: str, topics: Collection[str]) -> str | None:
    """Return the topic whose beginning and end are most like those that a pattern spells out."""
    spelled_out = _WILDCARD.split(pattern)
    if len(spelled_out) == 1:
        return nearest(pattern, topics)
    start, end = spelled_out[0], spelled_out[-1]
    parts: dict[str, str] = {}
    for topic in topics if start or end else ():
        parts.setdefault(topic[: len(start)] + topic[max(len(topic) - len(end), 0) :], topic)
    near = nearest(start + end, parts)
    return None if near is None else parts[near]
