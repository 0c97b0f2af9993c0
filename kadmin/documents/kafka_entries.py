"""Files of Kafka's own tools: a value's kind, and problems beyond the schema of a plan."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from kadmin.diagnostics import Diagnostic
from kadmin.documents.placing import PendingDiagnostic
from kadmin.plan import codes
from kadmin.schema import show

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.diagnostics import Field
    from kadmin.next_step import NextStep

_OF_REASSIGNMENTS = frozenset({"replicas", "log_dirs"})


class KafkaFile(StrEnum):
    """The kind of a JSON file of Kafka's tools."""

    REASSIGNMENT = "a reassignment"
    ELECTION = "an election"
    TOPICS_TO_MOVE = "topics to move"


def kafka_file_of(value: object) -> KafkaFile | None:
    """Return the kind of a value that is a file of Kafka's tools, None for every other value."""
    if not isinstance(value, dict) or "kind" in value:
        return None
    if "topics" in value:
        return KafkaFile.TOPICS_TO_MOVE
    entries = value.get("partitions")
    if not isinstance(entries, list):
        return None
    replicas = any(
        isinstance(entry, dict) and not entry.keys().isdisjoint(_OF_REASSIGNMENTS)
        for entry in entries
    )
    return KafkaFile.REASSIGNMENT if replicas else KafkaFile.ELECTION


def note(
    code: str,
    message: str,
    next_step: NextStep | str | None,
    field: Field,
    *,
    at_key: bool = False,
) -> PendingDiagnostic:
    """Return a diagnostic about a field of the file."""
    return PendingDiagnostic(Diagnostic(code, message, next_step, field=field), at_key=at_key)


def root_notes(value: Mapping[str, Any], items: str) -> Iterator[PendingDiagnostic]:
    """Find the problems of the outermost object, whose list is called `items`."""
    for key in value:
        if key not in {"version", items}:
            next_step = f"allowed here: version, {items}"
            yield note(
                codes.UNKNOWN_FIELD, f"unknown field {show(key)}", next_step, (key,), at_key=True
            )
    version = value.get("version", 1)
    if type(version) is not int or version != 1:
        yield note(
            codes.NOT_ALLOWED,
            f"version is {show(version)}",
            "the only known version is 1",
            ("version",),
        )
    if value[items] == []:
        yield note(
            codes.EMPTY,
            f"{items} is empty",
            "Kafka's tools refuse a file that names nothing",
            (items,),
        )


def key_notes(
    items: str, entries: Sequence[Any], allowed: Sequence[str]
) -> Iterator[PendingDiagnostic]:
    """Find keys that no entry of the list `items` may have.

    Entries that are no objects are passed.
    """
    for index, entry in enumerate(entries):
        for key in entry if isinstance(entry, dict) else ():
            if key not in allowed:
                next_step, path = f"allowed here: {', '.join(allowed)}", (items, index, key)
                yield note(
                    codes.UNKNOWN_FIELD, f"unknown field {show(key)}", next_step, path, at_key=True
                )


def topic_notes(entries: object) -> Iterator[PendingDiagnostic]:
    """Find entries other than objects with the one key `topic`."""
    if not isinstance(entries, list):
        yield note(codes.WRONG_TYPE, f"{show(entries)} is not a list", None, ("topics",))
        return
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            yield note(codes.WRONG_TYPE, f"{show(entry)} is not a mapping", None, ("topics", index))
        elif "topic" not in entry:
            yield note(codes.MISSING_FIELD, "the field topic is missing", None, ("topics", index))
    yield from key_notes("topics", entries, ("topic",))
