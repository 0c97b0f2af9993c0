"""The policy of an organisation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, TypeAlias

from kadmin.plan.codes import TABLE
from kadmin.plan.model.field_types import POSITIVE, TopicPattern
from kadmin.plan.model.header import PlanHeader
from kadmin.schema.shapes import At, Dumped, FieldGroup, Keywords

_DELETION = FieldGroup("deletion", "Guards of every deletion.")
_UNCLEAN = FieldGroup("unclean_election", "Guards of every unclean leader election.")


class Switch(StrEnum):
    """The severity that a policy gives to a code; OFF: not reported."""

    OFF = "off"
    WARNING = "warning"
    ERROR = "error"


STANDARD_DENY = ("_*",)
"""The topics that are guarded without a policy."""
CodeName: TypeAlias = Annotated[
    str, Keywords(title="code", enum=list(TABLE), x_hint="docs/codes.md lists the codes")
]


@dataclass(frozen=True, slots=True)
class Policy:
    """Kind `Policy`: rules of an organisation for every plan.

    Patterns are globs, matched against whole names. A topic may be deleted without a waiver when
    `allow` matches its name and `deny` does not: deny wins. `max_topics` bounds every deletion,
    whatever the plan's own limit.
    """

    header: PlanHeader = field(default_factory=PlanHeader)
    codes: Annotated[
        Mapping[CodeName, Annotated[Switch, Keywords(title="switch"), "off, warning or error."]],
        Dumped.SORTED,
        "The severity of the problems of a code; off: not reported.",
    ] = field(default_factory=dict)
    deny: Annotated[
        tuple[TopicPattern, ...],
        At("deny", _DELETION),
        Keywords(title="denied topics"),
        "Topics that need the waiver allow.protected; deny wins over allow.",
    ] = STANDARD_DENY
    allow: Annotated[
        tuple[TopicPattern, ...],
        At("allow", _DELETION),
        Keywords(title="allowed topics"),
        "Topics that need no waiver unless they are denied; others need it.",
    ] = ("*",)
    max_topics: Annotated[
        int | None,
        At("max_topics", _DELETION),
        POSITIVE,
        Keywords(title="number of topics"),
        "The most topics that any plan may delete, whatever the plan's own limit.",
    ] = None
    never_unclean: Annotated[
        tuple[TopicPattern, ...],
        At("deny", _UNCLEAN),
        Keywords(title="denied topics"),
        "Topics of which no replica is elected that lacks records; there is no waiver.",
    ] = ()
