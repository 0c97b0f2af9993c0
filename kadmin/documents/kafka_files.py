"""Converts the JSON files of Kafka's own tools to plans and back.

A part that cannot be converted is refused.

::

    reassignment     {"version":1,"partitions":[
                         {"topic":"foo","partition":0,"replicas":[1,2],"log_dirs":["any",…]}]}
    election         {"partitions":[{"topic":"foo","partition":0}]}
    topics to move   {"version":1,"topics":[{"topic":"foo"}]}

The text that `kafka-reassign-partitions` prints is read as well. Kafka's tools ignore unknown keys;
here every such key is an error, with its place.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kadmin.cluster.disks import DISK_FILL
from kadmin.cluster.payloads import encode, encode_election, encode_reassignment
from kadmin.documents.json_section import (
    Converted,
    JsonSection,
    rule_notes,
    schema_notes,
    text_of,
)
from kadmin.documents.kafka_entries import (
    KafkaFile,
    kafka_file_of,
    key_notes,
    note,
    root_notes,
    topic_notes,
)
from kadmin.documents.kafka_output import Heading, find_printed
from kadmin.documents.placing import PendingDiagnostic
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
from kadmin.schema.documents import read
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from kadmin.cluster.model import TopicPartition
    from kadmin.documents.json_section import Plan
    from kadmin.plan.model import Document, PartitionTarget

_SHAPES = (
    'known are a reassignment {"version":1,'
    '"partitions":[{"topic":"foo","partition":0,"replicas":[1,2]}]}, '
    'an election {"partitions":[{"topic":"foo","partition":0}]}, '
    'topics to move {"version":1,"topics":[{"topic":"foo"}]}, '
    "and the output of kafka-reassign-partitions --generate and --execute"
)
_FIELDS = ("topic", "partition")
_ELECTION_SCHEMA = ("PreferredReplicaElection", "preferred-replica-election")
_ROLLBACK = "this is the output of --execute: the plan restores the replicas of before it"
_WITHOUT_LOG_DIRS = "left out: log_dirs of the current replicas"


def parse_kafka_file(data: bytes, source: str) -> Converted:
    """Return the document of a file of Kafka's tools, or of the text that they print.

    Raises InvalidInputError that lists every problem with its place. A reassignment or election
    becomes a plan in the file's order, topics to move become the topics of a RebalanceRequest.
    `log_dirs` of "any" alone are dropped. The output of --generate fills `current`, and the
    directories of the current replicas are dropped: `apply` reads those of its day. The output of
    --execute becomes the plan that reverts it.
    """
    text = text_of(data, source)
    printed = find_printed(text, source)
    if printed is None:
        return Converted(_single(JsonSection(text, source)))
    if printed.proposed is None:
        return Converted(_under_heading(printed.current), (_ROLLBACK,))
    return _generated(printed.current, printed.proposed)


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


def _generated(current: JsonSection, proposed: JsonSection) -> Converted:
    """Join the two reassignments that --generate prints."""
    now, then = _under_heading(current), _under_heading(proposed)
    replicas = {target.partition: target.replicas for target in now.reassignments}
    targets = {target.partition for target in then.reassignments}
    _require_known(current, now, targets, Heading.PROPOSED)
    _require_known(proposed, then, replicas, Heading.CURRENT)
    with_current = (
        replace(target, current=replicas[target.partition]) for target in then.reassignments
    )
    plan = replace(then, reassignments=tuple(with_current))
    # Since Kafka 4.2 the tool names the log directories that hold the replicas.
    return Converted(plan, (_WITHOUT_LOG_DIRS,) if now.names_directories else ())


def _under_heading(section: JsonSection) -> ReassignmentPlan:
    value = section.value()
    if kafka_file_of(value) is not KafkaFile.REASSIGNMENT:
        section.refuse([note(codes.KIND, "a reassignment belongs under this heading", None, ())])
    return _reassignment(section, value)


def _require_known(
    section: JsonSection, plan: ReassignmentPlan, others: Container[TopicPartition], heading: str
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


def _single(section: JsonSection) -> ReassignmentPlan | ElectionPlan | RebalanceRequest:
    value = section.value()
    match kafka_file_of(value):
        case KafkaFile.REASSIGNMENT:
            return _reassignment(section, value)
        case KafkaFile.ELECTION:
            return _election(section, value)
        case KafkaFile.TOPICS_TO_MOVE:
            return _topics_to_move(section, value)
    raise section.refusal([_unknown(value, section.source)])


def _unknown(value: object, source: str) -> PendingDiagnostic:
    if isinstance(value, dict) and "proposals" in value:
        next_step = command(
            "convert", source, "--from", "cruise-control", "--to", "plan", "--out", "PLAN"
        )
        message, field = "this is an answer of Cruise Control", ("proposals",)
        return note(codes.KIND, message, next_step, field, at_key=True)
    ours = isinstance(value, dict) and "kind" in value
    message = "this is a document of kadmin already" if ours else "this is no file of Kafka's tools"
    return note(codes.KIND, message, _SHAPES, ("kind",) if ours else (), at_key=ours)


def _reassignment(section: JsonSection, value: Mapping[str, Any]) -> ReassignmentPlan:
    entries = value["partitions"]
    allowed = (*_FIELDS, "replicas", "log_dirs")
    notes = [*root_notes(value, "partitions"), *key_notes("partitions", entries, allowed)]
    spec = {"partitions": _only(entries, allowed)}
    notes += schema_notes("PartitionReassignment", "partition-reassignment", spec)
    section.refuse(notes)
    plan = _sound(section, read(ReassignmentPlan, spec, header=PlanHeader()))
    return replace(plan, reassignments=tuple(map(_without_any, plan.reassignments)))


def _without_any(target: PartitionTarget) -> PartitionTarget:
    """Return a target without `log_dirs` that name none."""
    return target if target.directories else replace(target, log_dirs=None)


def _election(section: JsonSection, value: Mapping[str, Any]) -> ElectionPlan:
    entries = value["partitions"]
    notes = [*root_notes(value, "partitions"), *key_notes("partitions", entries, _FIELDS)]
    bare = _only(entries, _FIELDS)
    notes += schema_notes(*_ELECTION_SCHEMA, {"partitions": bare})
    section.refuse(notes)
    return _sound(section, read(ElectionPlan, {"partitions": bare}, header=PlanHeader()))


def _topics_to_move(section: JsonSection, value: Mapping[str, Any]) -> RebalanceRequest:
    """Read topics to move.

    An election of whole topics has the same rules for names, so its schema is used.
    """
    entries = value["topics"]
    section.refuse([*root_notes(value, "topics"), *topic_notes(entries)])
    names = [entry["topic"] for entry in entries]
    found = schema_notes(*_ELECTION_SCHEMA, {"topics": names})
    within = [replace(each.diagnostic, field=(*each.diagnostic.field, "topic")) for each in found]
    section.refuse([PendingDiagnostic(each) for each in within])
    _sound(section, ElectionPlan(PlanHeader(), topics=tuple(names)))
    return RebalanceRequest(PlanHeader(), include_topics=tuple(names))


def _sound(section: JsonSection, plan: Plan) -> Plan:
    """Return the plan; refuses one that breaks a rule, with the places in Kafka's file."""
    section.refuse(rule_notes(plan))
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
