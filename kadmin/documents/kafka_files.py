"""Converts the JSON files of Kafka's own tools to plans and back.

A part that cannot be converted is refused.

::

    reassignment     {"version":1,"partitions":[
                         {"topic":"foo","partition":0,"replicas":[1,2],"log_dirs":["any",…]}]}
    election         {"partitions":[{"topic":"foo","partition":0}]}
    topics to move   {"version":1,"topics":[{"topic":"foo"}]}

`kafka-reassign-partitions --generate` prints two reassignments, each under a heading; that text is
read as well. Kafka's tools ignore unknown keys; here every such key is an error, with its place.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias, TypeVar

from kadmin.cluster.disks import DISK_FILL
from kadmin.cluster.payloads import encode, encode_election, encode_reassignment
from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents.events import assemble
from kadmin.documents.explain import code_of
from kadmin.documents.json_text import json_events, plain_value
from kadmin.documents.kafka_entries import (
    KafkaFile,
    kafka_file_of,
    key_notes,
    note,
    root_notes,
    topic_notes,
)
from kadmin.documents.parse import refusal_of
from kadmin.documents.places import PlaceFinder
from kadmin.documents.placing import PendingDiagnostic, by_place, place
from kadmin.documents.text import LineIndex, UnreadableTextError, decode
from kadmin.errors import InvalidInputError
from kadmin.next_step import command
from kadmin.plan import codes
from kadmin.plan.model import (
    DEFAULT_MOVES_PER_DISK,
    UNTHROTTLED,
    Elect,
    ElectionPlan,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    WaveLimits,
    WaveOrder,
)
from kadmin.plan.rules import check
from kadmin.schema import validate_value
from kadmin.schema.documents import read
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.plan.model import Document, PartitionTarget

KafkaDocument: TypeAlias = ReassignmentPlan | ElectionPlan | RebalanceRequest
"""kadmin's document of a file of Kafka's tools."""

Plan = TypeVar("Plan", ReassignmentPlan, ElectionPlan)

_CURRENT = "Current partition replica assignment"
_PROPOSED = "Proposed partition reassignment configuration"
_HEADING = re.compile(rf"^(?:{_CURRENT}|{_PROPOSED})[ \t\r]*$", re.MULTILINE)
_BEFORE_HEADINGS = re.compile(r"(?:Warning: [^\n]*\n|[ \t\r]*\n)*")
_NOT_LINE_END = re.compile(r"[^\r\n]")
_SHAPES = (
    'known are a reassignment {"version":1,'
    '"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}, '
    'an election {"partitions":[{"topic":"foo","partition":0}]}, '
    'topics to move {"version":1,"topics":[{"topic":"foo"}]}, '
    "and the output of kafka-reassign-partitions --generate"
)
_FIELDS = ("topic", "partition")
_ELECTION_SCHEMA = ("PreferredReplicaElection", "preferred-replica-election")


class _Section(NamedTuple):
    """One JSON document of a file.

    It is the file's text with the rest blanked, which preserves lines and columns.
    """

    text: str
    source: str

    def refuse(self, found: Sequence[PendingDiagnostic]) -> None:
        """Raise the error that lists the diagnostics with their places, where there are any."""
        if found:
            raise _refusal(
                self.source, place(found, self.source, self.text, json_events(self.text))
            )


def parse_kafka_file(data: bytes, source: str) -> KafkaDocument:
    """Return the document of a file of Kafka's tools.

    Raises InvalidInputError that lists every problem with its place. A reassignment or election
    becomes a plan in the file's order, topics to move become the topics of a RebalanceRequest.
    `log_dirs` of "any" alone are dropped; the output of --generate fills `current`, and the
    directories of the current replicas are dropped: `apply` reads those of its day.
    """
    try:
        text = decode(data, source)
    except UnreadableTextError as error:
        raise _refusal(source, [error.diagnostic]) from error
    headings = list(_HEADING.finditer(text))
    if headings:
        return _generated(text, headings, source)
    return _single(_Section(text, source))


def losses(plan: Document, *, current: bool) -> tuple[str, ...]:
    """Name the fields of a plan that Kafka's file cannot hold.

    With `current` it holds the `current` lists.
    """
    found = {"metadata": plan.header != PlanHeader()}
    if isinstance(plan, ReassignmentPlan):
        found |= {
            "spec.throttle": plan.throttle not in {None, UNTHROTTLED},
            "spec.hours": plan.hours is not None,
            "spec.waves": plan.limits != WaveLimits(),
            "spec.order": plan.order is not WaveOrder.SHORTEST,
            "spec.elect": plan.elect is not Elect.NONE,
            "spec.allow": plan.allow_replication_factor_change
            or plan.allow_fewer_racks
            or plan.allow_without_source
            or plan.allow_topics_deleted
            or plan.allow_failed_disks,
            "spec.limits": (plan.moves_per_disk, plan.disk_fill)
            != (DEFAULT_MOVES_PER_DISK, DISK_FILL),
            "spec.partitions[].current": not current
            and any(target.current is not None for target in plan.reassignments),
            "spec.partitions[].log_dirs": current and plan.names_directories,
            "spec.partitions[].size_bytes": any(
                target.size_bytes is not None for target in plan.reassignments
            ),
        }
    return tuple(name for name, lost in found.items() if lost)


def dump_kafka_file(plan: Document, *, current: bool) -> str:
    """Return the file of Kafka's tools, in plan order, without the fields that `losses` names.

    With `current` it has the lists that the plan was made on instead of its targets: the file that
    reverts it. Raises InvalidInputError for a plan that no such file can express.
    """
    if isinstance(plan, ReassignmentPlan):
        return _reassignment_text(plan, current=current)
    if not isinstance(plan, ElectionPlan):
        raise InvalidInputError(
            "Only a PartitionReassignment or a PreferredReplicaElection can become a file of "
            "Kafka's tools."
        )
    if current:
        raise InvalidInputError(
            "An election has no current replicas.", next_step="leave out --current"
        )
    if plan.all_partitions or plan.topics:
        raise InvalidInputError(
            f"The election names {'all partitions' if plan.all_partitions else 'whole topics'}.",
            cause="Kafka's file lists single partitions, and only a cluster can list them",
            next_step=command("propose election", "--out", "PLAN"),
        )
    if not plan.partitions:
        raise _nothing_named()
    return encode_election(plan.partitions).decode() + "\n"


def _reassignment_text(plan: ReassignmentPlan, *, current: bool) -> str:
    if not plan.reassignments:
        raise _nothing_named()
    lists = {
        target.partition: target.current if current else target.replicas
        for target in plan.reassignments
    }
    unknown = [partition for partition, replicas in lists.items() if replicas is None]
    if unknown:
        raise InvalidInputError(f"The plan has no current replicas of {name_some(unknown)}.")
    with_replicas = {
        partition: replicas for partition, replicas in lists.items() if replicas is not None
    }
    value = json.loads(encode_reassignment(with_replicas))
    for target, entry in zip(plan.reassignments, value["partitions"], strict=True):
        if target.directories and not current:
            entry["log_dirs"] = target.log_dirs
    return encode(value).decode() + "\n"


def _nothing_named() -> InvalidInputError:
    return InvalidInputError(
        "The plan names no partition.", cause="Kafka's tools refuse a file that names nothing"
    )


def _generated(text: str, headings: list[re.Match[str]], source: str) -> ReassignmentPlan:
    """Read the two reassignments that --generate prints: the current one, then the proposed one."""
    whole = [heading[0].rstrip() for heading in headings] == [_CURRENT, _PROPOSED]
    if not whole or _BEFORE_HEADINGS.fullmatch(text[: headings[0].start()]) is None:
        mark = LineIndex(text).mark(headings[0].start())
        message = "this is not the output of kafka-reassign-partitions --generate, whole and alone"
        next_step = (
            f'that is "{_CURRENT}", JSON, "{_PROPOSED}", JSON; or keep one JSON document and no '
            "other text"
        )
        location = Location(source, *mark)
        raise _refusal(
            source, [Diagnostic(codes.NOT_ONE_DOCUMENT, message, next_step, location=location)]
        )
    (_, middle), (end, start) = headings[0].span(), headings[1].span()
    first = _Section(_blank(text[:middle]) + text[middle:end], source)
    second = _Section(_blank(text[:start]) + text[start:], source)
    now, then = _under_heading(first), _under_heading(second)
    current = {target.partition: target.replicas for target in now.reassignments}
    _require_known(first, now, {target.partition for target in then.reassignments}, _PROPOSED)
    _require_known(second, then, current, _CURRENT)
    targets = (replace(target, current=current[target.partition]) for target in then.reassignments)
    return replace(then, reassignments=tuple(targets))


def _under_heading(section: _Section) -> ReassignmentPlan:
    value = _value(section)
    if _reader(value) is not _reassignment:
        section.refuse([note(codes.KIND, "a reassignment belongs under this heading", None, ())])
    return _reassignment(section, value)


def _require_known(
    section: _Section, plan: ReassignmentPlan, others: Container[TopicPartition], heading: str
) -> None:
    section.refuse(
        [
            note(
                codes.CONTRADICTION,
                f'{target.partition} is not under "{heading}"',
                None,
                ("partitions", index),
            )
            for index, target in enumerate(plan.reassignments)
            if target.partition not in others
        ]
    )


def _blank(text: str) -> str:
    return _NOT_LINE_END.sub(" ", text)


def _single(section: _Section) -> KafkaDocument:
    value = _value(section)
    return _reader(value)(section, value)


def _value(section: _Section) -> Any:  # noqa: ANN401 - any JSON value
    usual, value = plain_value(section.text)
    if usual:
        return value
    reading = assemble(json_events(section.text), section.source)
    if reading.faults:
        raise _refusal(section.source, sorted(reading.faults, key=by_place))
    return reading.value


def _reader(value: object) -> Callable[[_Section, Any], KafkaDocument]:
    """Return the function that reads the file of Kafka's tools that the value is."""
    match kafka_file_of(value):
        case KafkaFile.REASSIGNMENT:
            return _reassignment
        case KafkaFile.ELECTION:
            return _election
        case KafkaFile.TOPICS_TO_MOVE:
            return _topics_to_move
        case None:
            return _refuse


def _refuse(section: _Section, value: object) -> NoReturn:
    ours = isinstance(value, dict) and "kind" in value
    message = "this is a document of kadmin already" if ours else "this is no file of Kafka's tools"
    found = note(codes.KIND, message, _SHAPES, ("kind",) if ours else (), at_key=ours)
    raise _refusal(
        section.source, place([found], section.source, section.text, json_events(section.text))
    )


def _reassignment(section: _Section, value: Mapping[str, Any]) -> ReassignmentPlan:
    entries = value["partitions"]
    allowed = (*_FIELDS, "replicas", "log_dirs")
    notes = [*root_notes(value, "partitions"), *key_notes("partitions", entries, allowed)]
    spec = {"partitions": _only(entries, allowed)}
    notes += _by_schema("PartitionReassignment", "partition-reassignment", spec)
    section.refuse(notes)
    plan = _sound(section, read(ReassignmentPlan, spec, header=PlanHeader()))
    return replace(plan, reassignments=tuple(map(_without_any, plan.reassignments)))


def _without_any(target: PartitionTarget) -> PartitionTarget:
    """Return a target without `log_dirs` that name none."""
    return target if target.directories else replace(target, log_dirs=None)


def _election(section: _Section, value: Mapping[str, Any]) -> ElectionPlan:
    entries = value["partitions"]
    notes = [*root_notes(value, "partitions"), *key_notes("partitions", entries, _FIELDS)]
    bare = _only(entries, _FIELDS)
    notes += _by_schema(*_ELECTION_SCHEMA, {"partitions": bare})
    section.refuse(notes)
    return _sound(section, read(ElectionPlan, {"partitions": bare}, header=PlanHeader()))


def _topics_to_move(section: _Section, value: Mapping[str, Any]) -> RebalanceRequest:
    """Read topics to move.

    An election of whole topics has the same rules for names, so its schema is used.
    """
    entries = value["topics"]
    section.refuse([*root_notes(value, "topics"), *topic_notes(entries)])
    names = [entry["topic"] for entry in entries]
    found = _by_schema(*_ELECTION_SCHEMA, {"topics": names})
    within = [replace(each.diagnostic, field=(*each.diagnostic.field, "topic")) for each in found]
    section.refuse([PendingDiagnostic(each) for each in within])
    _sound(section, ElectionPlan(PlanHeader(), topics=tuple(names)))
    return RebalanceRequest(PlanHeader(), include_topics=tuple(names))


def _by_schema(kind: str, name: str, spec: Mapping[str, Any]) -> list[PendingDiagnostic]:
    """Return the violations of the schema of a kadmin document.

    Kafka's file has the same below `spec`.
    """
    found = validate_value({"kind": kind, "spec": spec}, name)
    return [note(code_of(each), each.message, each.hint, each.path[1:]) for each in found]


def _sound(section: _Section, plan: Plan) -> Plan:
    """Return the plan; refuses one that breaks a rule, with the places in Kafka's file."""
    finder = PlaceFinder(plan)
    found = []
    for each in check(plan):
        if each.severity == "error":
            first = finder.first(each)
            moved = replace(each, field=finder.find(each)[1:])  # Kafka's files have no `spec`
            found.append(PendingDiagnostic(moved, None if first is None else first[1:]))
    section.refuse(found)
    return plan


def _only(entries: Sequence[Any], keys: Sequence[str]) -> list[Any]:
    """Return the entries with no other keys than these, as in a plan.

    Values other than objects are kept.
    """
    return [
        {key: part for key, part in entry.items() if key in keys}
        if isinstance(entry, dict)
        else entry
        for entry in entries
    ]


def _refusal(source: str, problems: Sequence[Diagnostic]) -> InvalidInputError:
    return refusal_of(f"{source} cannot be converted", problems)
