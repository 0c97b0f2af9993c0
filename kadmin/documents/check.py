"""Checks a document: strict reading, then its schema, then its meaning. Never raises, whatever the bytes."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.documents.build import build
from kadmin.documents.events import MOST_FAULTS, Complaint, Fault, Reading, assemble, locate
from kadmin.documents.explain import amount_problem, code_of, hint_of
from kadmin.documents.json_text import json_events, plain_value
from kadmin.documents.places import PlaceFinder
from kadmin.documents.problem import Mark, Problem, json_path
from kadmin.documents.text import UnreadableTextError, decode, lines_of
from kadmin.plan import codes
from kadmin.plan.checks import check_alone
from kadmin.plan.model import Policy, RebalanceRequest
from kadmin.plan.patterns import check_policy_patterns
from kadmin.plan.request_checks import check_request
from kadmin.schema import show, validate_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kadmin.documents.events import Event
    from kadmin.documents.problem import Path
    from kadmin.plan.checks import Violation
    from kadmin.plan.model import Document
    from kadmin.schema import SchemaSet, SchemaViolation

KINDS = {
    "PartitionReassignment": "partition-reassignment",
    "PreferredReplicaElection": "preferred-replica-election",
    "TopicDeletion": "topic-deletion",
    "TopicRecipe": "topic-recipe",
    "RebalanceRequest": "rebalance-request",
    "Policy": "policy",
    "ClusterInventory": "cluster-inventory",
}
"""Kinds of documents and the names of their schemas."""

_NUMBER_KEYS = {("spec", "brokers", "substitute"), ("spec", "brokers", "weights")}
"""Where keys are broker ids, and so may be written as plain numbers."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that was read: what it says as far as it can be told, and every problem in order of place.

    `document` is there when its schema holds, even where its meaning is wrong; an inventory's header has only `value`.
    """

    source: str
    text: str
    value: Any
    document: Document | None
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return all(problem.severity != "error" for problem in self.problems)

    def place(self, violations: Sequence[Violation]) -> tuple[Problem, ...]:
        """Return violations that were found elsewhere as problems of this document, with their places."""
        if self.document is None or not violations:
            return ()
        return _place(_notes_of(violations, PlaceFinder(self.document)), self.text, self.source)


def check_document(data: bytes, source: str) -> tuple[Document | None, tuple[Problem, ...]]:
    """Return the document, None where there is any error, and every problem; never raises.

    `source` names the file in problems; by its ending (.json, .yaml, .yml), else by the text's first character, it is
    read as JSON or YAML.
    """
    checked = examine(data, source)
    return (checked.document if checked.valid else None), checked.problems


def examine(data: bytes, source: str, schemas: SchemaSet | None = None) -> Checked:
    """Read and check a document; `schemas` are further ones that must hold too, by the names of those of kadmin.

    Raises InvalidInputError only where one of those `schemas` is no schema.
    """
    try:
        text = decode(data)
    except UnreadableTextError as error:
        problem = Problem(error.code, error.message, source, error.mark.line, error.mark.column, "$", error.hint)
        return Checked(source, "", None, None, (problem,))
    reading = _read(text, source)
    notes = [_note_of(fault) for fault in reading.faults]
    if reading.complete:
        notes.extend(_schema_notes(reading.value, _blind_paths(reading), schemas))
    document = None
    if not notes and reading.value["kind"] != "ClusterInventory":
        document, bad = build(reading.value)
        notes.extend(_Note(codes.MALFORMED, amount.message, None, amount.path) for amount in bad)
        if not bad:
            notes.extend(_notes_of(_check_meaning(document), PlaceFinder(document)))
        document = None if bad else document
    return Checked(source, text, reading.value, document, _place(notes, text, source))


def unread(source: str, cause: str, hint: str | None = None) -> Checked:
    """Return what is to be said of a file that cannot be read: one problem, with the cause."""
    problem = Problem(codes.UNREADABLE, f"this cannot be read: {cause}", source, 1, 1, "$", hint)
    return Checked(source, "", None, None, (problem,))


@dataclass(frozen=True, slots=True)
class _Note:
    """A problem whose place is not looked up yet. `mark` is the place where it is known already."""

    code: str
    message: str
    hint: str | None
    path: Path
    mark: Mark | None = None
    first: Path | None = None
    at_key: bool = False
    warning: bool = False
    violation: SchemaViolation | None = None


def _read(text: str, source: str) -> Reading:
    if _is_json(text, source):
        usual, value = plain_value(text)
        if usual:
            return Reading(value)
    reading = assemble(_events(text, source))
    if reading.complete and reading.value is None and not reading.faults:
        complaint = Complaint(codes.NOT_ONE_DOCUMENT, "the document is empty", f"begin with kind: {'|'.join(KINDS)}")
        return Reading(None, [Fault(complaint, (), Mark(1, 1))], complete=False)
    misplaced = [fault for fault in reading.number_keys if fault.path[:-1] not in _NUMBER_KEYS]
    return replace(reading, faults=[*reading.faults, *misplaced])


def _is_json(text: str, source: str) -> bool:
    name = source.lower()
    return name.endswith(".json") or (not name.endswith((".yaml", ".yml")) and text.lstrip()[:1] in {"{", "["})


def _events(text: str, source: str) -> Iterator[Event]:
    if _is_json(text, source):
        return json_events(text)
    from kadmin.documents.yaml_text import yaml_events

    return yaml_events(text)


def _schema_notes(value: object, blind: set[Path], schemas: SchemaSet | None) -> list[_Note]:
    """Return what the schema of the value's kind forbids, less what concerns stand-ins for unreadable values."""
    if not isinstance(value, dict):
        return [_Note(codes.WRONG_TYPE, "a document is a mapping", "begin with kind and spec", ())]
    if "kind" not in value:
        return [_Note(codes.KIND, "the field kind is missing", f"one of {', '.join(KINDS)}", ())]
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        close = difflib.get_close_matches(str(kind)[:60], KINDS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"one of {', '.join(KINDS)}"
        return [] if ("kind",) in blind else [_Note(codes.KIND, f"unknown kind {show(kind)}", hint, ("kind",))]
    found = validate_value(value, KINDS[kind])
    if schemas is not None and KINDS[kind] in schemas.names():
        found.extend(violation for violation in schemas.violations(value, KINDS[kind]) if violation not in found)
    notes = [_note_of_schema(violation) for violation in found if not _is_blind(violation.path, blind)]
    if len(found) >= MOST_FAULTS:
        notes.append(
            _Note(codes.MORE_PROBLEMS, f"the first {MOST_FAULTS} problems are listed; there may be more", None, ())
        )
    return notes


def _blind_paths(reading: Reading) -> set[Path]:
    return {fault.path for fault in reading.faults if fault.complaint.blind}


def _is_blind(path: Path, blind: set[Path]) -> bool:
    return bool(blind) and any(path[:length] in blind for length in range(len(path) + 1))


def _check_meaning(document: Document) -> tuple[Violation, ...]:
    if isinstance(document, RebalanceRequest):
        return check_request(document)
    return check_policy_patterns(document) if isinstance(document, Policy) else check_alone(document)


def _note_of(fault: Fault) -> _Note:
    complaint = fault.complaint
    first = fault.path if complaint.code == codes.DUPLICATE_KEY else None
    return _Note(complaint.code, complaint.message, complaint.hint, fault.path, fault.mark, first)


def _note_of_schema(violation: SchemaViolation) -> _Note:
    at_key = violation.rule in {"additionalProperties", "propertyNames"}
    amount = amount_problem(violation)
    if amount is not None:
        code, message = amount
        return _Note(code, message, violation.hint if code == codes.NO_UNIT else None, violation.path)
    return _Note(code_of(violation), violation.message, None, violation.path, at_key=at_key, violation=violation)


def _notes_of(violations: Iterable[Violation], finder: PlaceFinder) -> list[_Note]:
    return [
        _Note(
            violation.code,
            violation.message,
            violation.hint,
            finder.find(violation),
            first=finder.first(violation),
            warning=violation.severity == "warning",
        )
        for violation in violations
    ]


def _place(notes: Sequence[_Note], text: str, source: str) -> tuple[Problem, ...]:
    """Turn notes into problems, by a second reading of the text for the paths whose places are wanted."""
    if not notes:
        return ()
    wanted = {path for note in notes for path in (None if note.mark else note.path, note.first) if path is not None}
    places = locate(_events(text, source), wanted) if wanted else {}
    lines = lines_of(text)

    def mark_of(path: Path, pick: Callable[[Any], Mark]) -> Mark:
        known = next((path[:length] for length in range(len(path), -1, -1) if path[:length] in places), None)
        return Mark(1, 1) if known is None else pick(places[known])

    problems = []
    for note in notes:
        mark = note.mark or mark_of(note.path, lambda place: place.key if note.at_key else place.value)  # noqa: B023 - called at once
        first_line = None if note.first is None else mark_of(note.first, lambda place: place.key).line
        mark = _within(mark, lines)
        problems.append(_problem(note, mark, first_line, lines[mark.line - 1], source))
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column, problem.code, problem.message)))


def _within(mark: Mark, lines: Sequence[str]) -> Mark:
    """Return the mark, or the end of the text where a parser means what is missing behind it."""
    if mark.line > len(lines):
        return Mark(len(lines), len(lines[-1]) + 1)
    return Mark(mark.line, min(mark.column, len(lines[mark.line - 1]) + 1))


def _problem(note: _Note, mark: Mark, first_line: int | None, line: str, source: str) -> Problem:
    return Problem(
        code=note.code,
        message=note.message if first_line is None else f"{note.message}; the first is on line {first_line}",
        file=source,
        line=mark.line,
        column=mark.column,
        path=json_path(note.path),
        hint=hint_of(note.violation, line, mark.column) if note.violation is not None else note.hint,
        severity="warning" if note.warning else "error",
        first_line=first_line,
    )
