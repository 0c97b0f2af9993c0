"""JSON of another tool, whole or within a text, and the error that lists its problems."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from kadmin.documents.events import assemble
from kadmin.documents.explain import code_of
from kadmin.documents.json_text import json_events, plain_value
from kadmin.documents.kafka_entries import note
from kadmin.documents.parse import refusal_of
from kadmin.documents.places import PlaceFinder
from kadmin.documents.placing import PendingDiagnostic, by_place, place
from kadmin.documents.text import UnreadableTextError, decode
from kadmin.plan.model import ElectionPlan, ReassignmentPlan
from kadmin.plan.rules import check
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.diagnostics import Diagnostic
    from kadmin.errors import InvalidInputError
    from kadmin.plan.model import RebalanceRequest

Plan = TypeVar("Plan", ReassignmentPlan, ElectionPlan)

_NOT_LINE_END = re.compile(r"[^\r\n]")


class Converted(NamedTuple):
    """A document made from another tool's, and sentences on what it means and leaves out."""

    document: ReassignmentPlan | ElectionPlan | RebalanceRequest
    notes: tuple[str, ...] = ()


class JsonSection(NamedTuple):
    """One JSON document of a file.

    It is the file's text with the rest blanked, which preserves lines and columns.
    """

    text: str
    source: str

    @classmethod
    def of(cls, text: str, source: str, start: int, end: int) -> Self:
        """Return the part of a text from `start` to `end`."""
        return cls(_blank(text[:start]) + text[start:end] + _blank(text[end:]), source)

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value; raises the error that lists the faults of the text."""
        usual, value = plain_value(self.text)
        if usual:
            return value
        reading = assemble(json_events(self.text), self.source)
        if reading.faults:
            raise conversion_refusal(self.source, sorted(reading.faults, key=by_place))
        return reading.value

    def refuse(self, found: Sequence[PendingDiagnostic]) -> None:
        """Raise the error that lists the diagnostics, where there are any."""
        if found:
            raise self.refusal(found)

    def refusal(self, found: Sequence[PendingDiagnostic]) -> InvalidInputError:
        """Return the error that lists the diagnostics with their places."""
        placed = place(found, self.source, self.text, json_events(self.text))
        return conversion_refusal(self.source, placed)


def text_of(data: bytes, source: str) -> str:
    """Decode a file; raises InvalidInputError."""
    try:
        return decode(data, source)
    except UnreadableTextError as error:
        raise conversion_refusal(source, [error.diagnostic]) from error


def schema_notes(kind: str, name: str, spec: Mapping[str, Any]) -> list[PendingDiagnostic]:
    """Return the violations of the schema of a kadmin document, with fields below its `spec`."""
    found = validate_value({"kind": kind, "spec": spec}, name)
    return [note(code_of(each), each.message, each.hint, each.path[1:]) for each in found]


def rule_notes(plan: Plan) -> list[PendingDiagnostic]:
    """Return the rules that a plan breaks, with fields below its `spec`."""
    finder = PlaceFinder(plan)
    found = []
    for each in check(plan):
        if each.severity == "error":
            first = finder.first(each)
            moved = replace(each, field=finder.find(each)[1:])
            found.append(PendingDiagnostic(moved, None if first is None else first[1:]))
    return found


def conversion_refusal(source: str, problems: Sequence[Diagnostic]) -> InvalidInputError:
    """Return the error that lists the problems of a file."""
    commands = (each.next_step for each in problems if each.names_command)
    what = f"{source} cannot be converted"
    return refusal_of(what, problems, next_step=next(commands, None))


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text)
