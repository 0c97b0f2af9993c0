"""Gives diagnostics of a document their places in the text, found by the path of a value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kadmin.diagnostics import NOWHERE, Location
from kadmin.documents.events import locate
from kadmin.documents.explain import hint_of
from kadmin.documents.text import Mark, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kadmin.diagnostics import Diagnostic, Field
    from kadmin.documents.events import Event, Place
    from kadmin.schema import SchemaViolation


class PendingDiagnostic(NamedTuple):
    """A diagnostic without a place: it gets its own location if known, else its field's.

    `first` is the field that it repeats. `at_key`: the place is the field's key, not its value.
    `schema` is the violation whose next step depends on the text.
    """

    diagnostic: Diagnostic
    first: Field | None = None
    at_key: bool = False
    schema: SchemaViolation | None = None


def place(
    found: Sequence[PendingDiagnostic], source: str, text: str, events: Iterable[Event]
) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with their locations, by line and column.

    `events` are those of the text, read again.
    """
    if not found:
        return ()
    wanted = {each.diagnostic.field for each in found if each.diagnostic.location == NOWHERE}
    wanted |= {each.first for each in found if each.first is not None}
    places = locate(events, wanted) if wanted else {}
    lines = lines_of(text)
    return tuple(sorted((_placed(each, source, places, lines) for each in found), key=by_place))


def by_place(diagnostic: Diagnostic) -> tuple[int, int, str, str]:
    """Return the key that sorts the diagnostics of one file: line, column, code and message."""
    return diagnostic.location.line, diagnostic.location.column, diagnostic.code, diagnostic.message


def _placed(
    each: PendingDiagnostic, source: str, places: Mapping[Field, Place], lines: Sequence[str]
) -> Diagnostic:
    diagnostic, location = each.diagnostic, each.diagnostic.location
    mark = Mark(location.line, location.column)
    if location == NOWHERE:
        mark = _mark(diagnostic.field, places, at_key=each.at_key)
    mark = _within(mark, lines)
    first_line = None if each.first is None else _mark(each.first, places, at_key=True).line
    next_step = (
        diagnostic.next_step
        if each.schema is None
        else hint_of(each.schema, lines[mark.line - 1], mark.column)
    )
    message = (
        diagnostic.message
        if first_line is None
        else f"{diagnostic.message}; the first is on line {first_line}"
    )
    return replace(
        diagnostic,
        message=message,
        next_step=next_step,
        location=Location(source, *mark, first_line),
    )


def _mark(field: Field, places: Mapping[Field, Place], *, at_key: bool) -> Mark:
    """Return the place of a field, or of the nearest container that is in the text."""
    nearest = next(
        (field[:length] for length in range(len(field), -1, -1) if field[:length] in places), None
    )
    if nearest is None:
        return Mark(1, 1)
    return places[nearest].key if at_key else places[nearest].value


def _within(mark: Mark, lines: Sequence[str]) -> Mark:
    """Return a parser's mark, or the end of its line or of the text if the mark is behind it."""
    if mark.line > len(lines):
        return Mark(len(lines), len(lines[-1]) + 1)
    return Mark(mark.line, min(mark.column, len(lines[mark.line - 1]) + 1))
