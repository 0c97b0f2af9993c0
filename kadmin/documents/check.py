"""Checks a document: strict reading, then its schema, then the rules of its kind.

Never raises, whatever the bytes.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kadmin.contexts.build import check_contexts, words_for_secret
from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents.events import MOST_FAULTS, ReadResult, assemble
from kadmin.documents.explain import amount_problem, code_of
from kadmin.documents.json_text import json_events, plain_value
from kadmin.documents.kafka_entries import kafka_file_of
from kadmin.documents.kinds import build
from kadmin.documents.other_tools import answer_to
from kadmin.documents.places import PlaceFinder
from kadmin.documents.placing import PendingDiagnostic, place
from kadmin.documents.text import UnreadableTextError, decode
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.rules import check
from kadmin.schema import show, validate_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.diagnostics import Field
    from kadmin.documents.events import Event
    from kadmin.next_step import NextStep
    from kadmin.plan.model import Document
    from kadmin.schema import SchemaSet, SchemaViolation

CONTEXTS = "Contexts"
PROMETHEUS_NAMES = "PrometheusNames"
KINDS = {
    "PartitionReassignment": "partition-reassignment",
    "PreferredReplicaElection": "preferred-replica-election",
    "TopicDeletion": "topic-deletion",
    "TopicRecipe": "topic-recipe",
    "BrokerMaintenance": "broker-maintenance",
    "BrokerDecommission": "broker-decommission",
    "UncleanLeaderElection": "unclean-leader-election",
    "PartitionGrowth": "partition-growth",
    "RebalanceRequest": "rebalance-request",
    "Policy": "policy",
    "ClusterInventory": "cluster-inventory",
    PROMETHEUS_NAMES: "prometheus-names",
    CONTEXTS: "contexts",
}
"""Kinds of documents and the names of their schemas."""
_VALUES = {"ClusterInventory", PROMETHEUS_NAMES}
"""Kinds that are checked by their schema alone; their value is the document."""

_NUMBER_KEYS = {("spec", "brokers", "substitute"), ("spec", "brokers", "weights")}
"""Fields whose keys are broker ids, and so may be written as plain numbers."""
_NAMES_CONTEXTS = re.compile(r"""\bkind\b["']?\s*:\s*["']?Contexts\b""")
_UNREAD = {
    codes.SYNTAX: "not well-formed YAML or JSON",
    codes.FORBIDDEN_YAML: "an anchor, an alias, a tag or a directive",
    codes.ODD_NUMBER: "a number that readers understand differently",
    codes.KEY_NOT_TEXT: "a key that is not a string",
    codes.DUPLICATE_KEY: "a key is repeated",
}
"""Messages for contexts that cannot be read; they quote no text, because any part of it may be a
secret."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that was read, and its problems, in order of place.

    `document` is there when its schema holds, even where a rule is broken; an inventory's header,
    names of Prometheus and contexts have only `value`. The `text` of contexts is empty: a line of
    it may hold a secret, and is not shown.
    """

    source: str
    text: str
    value: Any
    document: Document | None
    problems: tuple[Diagnostic, ...]

    def place(self, diagnostics: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """Return diagnostics of rules with their places in this document."""
        if self.document is None or not diagnostics:
            return ()
        finder = PlaceFinder(self.document)
        found = [
            PendingDiagnostic(replace(each, field=finder.find(each)), finder.first(each))
            for each in diagnostics
        ]
        return place(found, self.source, self.text, events_of(self.text, self.source))


def examine(data: bytes, source: str, schemas: SchemaSet | None = None) -> Checked:
    """Read a document and check it by every rule that needs nothing else.

    Parameters and errors are those of `read`.
    """
    checked = read(data, source, schemas)
    return (
        checked
        if checked.document is None
        else replace(checked, problems=checked.place(check(checked.document)))
    )


def read(data: bytes, source: str, schemas: SchemaSet | None = None) -> Checked:
    """Read a document and check it by its schema; a result with a `document` has no problems yet.

    `source` names the file in locations; by its ending (.json, .yaml, .yml), else by the text's
    first character, it is read as JSON or YAML.
    `schemas` are further ones that must hold too, by the names of those of kadmin. Raises
    InvalidInputError only where one of them is no schema.
    """
    try:
        text = decode(data, source)
    except UnreadableTextError as error:
        return Checked(source, "", None, None, (error.diagnostic,))
    reading = _read(text, source)
    found = [PendingDiagnostic(each, _first(each)) for each in reading.faults]
    if (
        reading.complete
        and _is_json(text, source)
        and (kafka_file := kafka_file_of(reading.value)) is not None
    ):
        message = f"this is a JSON file of Kafka's tools ({kafka_file}), not a document of kadmin"
        next_step = command("convert", source, "--to", "plan", "--out", "plan.yaml")
        found.append(PendingDiagnostic(Diagnostic(codes.KIND, message, next_step)))
    elif reading.complete:
        found.extend(_schema_problems(reading.value, reading.unjudged_fields, schemas))
    document = None
    if not found and reading.value["kind"] == CONTEXTS:
        found.extend(map(PendingDiagnostic, check_contexts(reading.value)))
    elif not found and reading.value["kind"] not in _VALUES:
        document, bad = build(reading.value)
        found.extend(map(PendingDiagnostic, bad))
    problems = place(found, source, text, events_of(text, source)) if found else ()
    if _may_hold_secrets(text):
        problems, text = _without_secrets(problems), ""
    return Checked(source, text, reading.value, None if problems else document, problems)


def unread(source: str, cause: str, next_step: NextStep | str | None = None) -> Checked:
    """Return a file that cannot be read, with the cause as its one problem."""
    message = f"this cannot be read: {cause}"
    problem = Diagnostic(codes.UNREADABLE, message, next_step, location=Location(source, 1, 1))
    return Checked(source, "", None, None, (problem,))


def _read(text: str, source: str) -> ReadResult:
    if _is_json(text, source):
        usual, value = plain_value(text)
        if usual:
            return ReadResult(value)
    reading = assemble(events_of(text, source), source)
    if reading.complete and reading.value is None and not reading.faults:
        next_step, location = f"begin with kind: {'|'.join(KINDS)}", Location(source, 1, 1)
        empty = Diagnostic(
            codes.NOT_ONE_DOCUMENT, "the document is empty", next_step, location=location
        )
        return ReadResult(None, [empty], complete=False)
    misplaced = [each for each in reading.number_keys if each.field[:-1] not in _NUMBER_KEYS]
    reading.faults.extend(misplaced)
    reading.unjudged_fields.update(each.field for each in misplaced)
    return reading


def _is_json(text: str, source: str) -> bool:
    name = source.lower()
    return name.endswith(".json") or (
        not name.endswith((".yaml", ".yml")) and text.lstrip()[:1] in {"{", "["}
    )


def events_of(text: str, source: str) -> Iterator[Event]:
    """Return the events of a text, which is read as JSON or YAML."""
    if _is_json(text, source):
        return json_events(text)
    from kadmin.documents.yaml_text import yaml_events

    return yaml_events(text)


def _first(fault: Diagnostic) -> Field | None:
    return fault.field if fault.code == codes.DUPLICATE_KEY else None


def _schema_problems(
    value: object, unjudged: set[Field], schemas: SchemaSet | None
) -> list[PendingDiagnostic]:
    """Return violations of the schema of the value's kind, except in `unjudged` fields."""
    if not isinstance(value, dict):
        return [
            PendingDiagnostic(
                Diagnostic(codes.WRONG_TYPE, "a document is a mapping", "begin with kind and spec")
            )
        ]
    if "kind" not in value:
        answers = (answer for each in value if (answer := answer_to(each)) is not None)
        next_step = next(answers, f"one of {', '.join(KINDS)}")
        return [PendingDiagnostic(Diagnostic(codes.KIND, "the field kind is missing", next_step))]
    kind = value["kind"]
    if not isinstance(kind, str) or kind not in KINDS:
        close = difflib.get_close_matches(str(kind)[:60], KINDS, n=1)
        next_step = answer_to(kind) or (
            f"did you mean {close[0]}?" if close else f"one of {', '.join(KINDS)}"
        )
        unknown = Diagnostic(codes.KIND, f"unknown kind {show(kind)}", next_step, field=("kind",))
        return [] if ("kind",) in unjudged else [PendingDiagnostic(unknown)]
    found = validate_value(value, KINDS[kind])
    if schemas is not None and KINDS[kind] in schemas.names():
        found.extend(
            violation
            for violation in schemas.violations(value, KINDS[kind])
            if violation not in found
        )
    problems = [
        _of_schema(violation) for violation in found if not _is_unjudged(violation.path, unjudged)
    ]
    if len(found) >= MOST_FAULTS:
        message = f"the first {MOST_FAULTS} problems are listed; there may be more"
        problems.append(PendingDiagnostic(Diagnostic(codes.MORE_PROBLEMS, message)))
    return problems


def _is_unjudged(path: Field, unjudged: set[Field]) -> bool:
    return bool(unjudged) and any(path[:length] in unjudged for length in range(len(path) + 1))


def _of_schema(violation: SchemaViolation) -> PendingDiagnostic:
    amount = amount_problem(violation)
    if amount is not None:
        code, message = amount
        next_step = violation.hint if code == codes.NO_UNIT else None
        return PendingDiagnostic(Diagnostic(code, message, next_step, field=violation.path))
    at_key = violation.rule in {"additionalProperties", "propertyNames"}
    diagnostic = Diagnostic(code_of(violation), violation.message, field=violation.path)
    return PendingDiagnostic(diagnostic, at_key=at_key, schema=violation)


def _may_hold_secrets(text: str) -> bool:
    """Whether a text names the kind Contexts, readable or not."""
    return _NAMES_CONTEXTS.search(text) is not None


def _without_secrets(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the problems of a contexts file without values that may be secrets."""
    return tuple(map(_without_secret, problems))


def _without_secret(problem: Diagnostic) -> Diagnostic:
    if (words := words_for_secret(problem.field)) is not None:
        message, next_step = words
        return replace(problem, message=message, next_step=next_step)
    if problem.code in _UNREAD:
        return replace(problem, message=_UNREAD[problem.code], next_step=None)
    return problem
