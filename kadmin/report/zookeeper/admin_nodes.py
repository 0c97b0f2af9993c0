"""The admin znodes decoded, as text and as JSON (schemas/answers/inspect-admin.schema.json)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.zookeeper import (
    AdminAnswer,
    AdminNode,
    DeletionNode,
    NodeEntry,
    NodeFlaw,
    QueuedDeletion,
    WatchedNodes,
)
from kadmin.cluster.model import Listening
from kadmin.cluster.names import escaped
from kadmin.cluster.zookeeper.model import details_of
from kadmin.cluster.zookeeper.znodes.admin import DELETE_TOPICS, PREFERRED_REPLICA_ELECTION, REASSIGN_PARTITIONS
from kadmin.errors import count
from kadmin.insight.diagnosis.zookeeper.admin_nodes import deletion_findings, read_node
from kadmin.insight.diagnosis.zookeeper.admin_troubles import worst_effect
from kadmin.insight.diagnosis.zookeeper.flaw_effects import Effect
from kadmin.report.doctor import versions_answer
from kadmin.report.text import SHOWN_ROWS, replicas, shortened, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.diagnostics import Diagnostic
    from kadmin.insight.diagnosis.zookeeper.admin_nodes import Entry, NodeReading
    from kadmin.operations.zookeeper.doctor import AdminSurvey

_SHOWN_DATA = 1_000
_VERDICTS = {
    Effect.POISON: "poison: the next controller that is elected fails on it",
    Effect.IGNORED: "ignored by controllers of these versions",
    Effect.OBEYED: "obeyed",
}


def admin_text(survey: AdminSurvey) -> str:
    """Show the three nodes: raw data, entries, and flaws."""
    blocks = []
    for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION):
        reading = _reading(survey, path)
        blocks.append(_absent(survey, path) if reading is None else _node(reading, survey))
    return "\n\n".join([*blocks, _deletions(survey)])


def admin_answer(survey: AdminSurvey) -> AdminAnswer:
    """Answer `inspect admin`."""
    listening = (
        survey.listening.get(path, Listening.UNKNOWN) for path in (REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION)
    )
    queued = (
        QueuedDeletion(escaped(topic), _flaws(deletion_findings(topic, survey.state)))
        for topic in survey.look.deletions
    )
    return AdminAnswer(
        versions_answer(survey.versions),
        _node_answer(survey, REASSIGN_PARTITIONS),
        _node_answer(survey, PREFERRED_REPLICA_ELECTION),
        WatchedNodes(*listening),
        DeletionNode(_document(survey), tuple(queued)),
        tuple(escaped(each.path) for each in details_of(survey.state).unreadable if each.denied),
    )


def _reading(survey: AdminSurvey, path: str) -> NodeReading | None:
    node = survey.look.node(path)
    return None if node is None else read_node(node, survey.state)


def _absent(survey: AdminSurvey, path: str) -> str:
    denied = any(each.denied and each.path == path for each in details_of(survey.state).unreadable)
    lines = [f"{path}: {'not allowed to be read' if denied else 'absent'}"]
    return "\n".join([*lines, *_heard(survey, path)])


def _heard(survey: AdminSurvey, path: str) -> list[str]:
    """Return whether the controller watches a node; empty where the four-letter words do not show it."""
    match survey.listening.get(path, Listening.UNKNOWN):
        case Listening.LISTENING:
            return ["  watched by the controller"]
        case Listening.DEAF:
            return ["  not watched by the controller (checked twice): see kadmin doctor"]
    return []


def _node(reading: NodeReading, survey: AdminSurvey) -> str:
    size = 0 if reading.data is None else len(reading.data)
    verdict = _VERDICTS[worst_effect(reading, survey.versions)]
    entries = count(len(reading.entries), "entry", "entries")
    lines = [
        f"{reading.path}: version {reading.version}, {count(size, 'byte')}, {entries}",
        *wrapped(f"  {verdict} (Kafka {survey.versions}, inferred from the brokers' znodes)", "    "),
        *_heard(survey, reading.path),
        *wrapped(f"  data: {escaped(reading.data, _SHOWN_DATA)}", "    "),
    ]
    lines += _wrong(reading.findings, "  ")
    for entry in reading.entries[:SHOWN_ROWS]:
        lines += _entry(entry)
    return shortened("\n".join(lines), len(reading.entries), indent="  ")


def _entry(entry: Entry) -> list[str]:
    target = "" if entry.replicas is None else f" -> {replicas(entry.replicas)}"
    motion = "" if entry.motion is None else f", {entry.motion}"
    return [*wrapped(f"  {entry}{target}{motion}", "    "), *_wrong(entry.findings, "    ")]


def _wrong(findings: Iterable[Diagnostic], indent: str) -> list[str]:
    return [line for found in findings for line in wrapped(f"{indent}wrong: {found.message}", f"{indent}  ")]


def _deletions(survey: AdminSurvey) -> str:
    topics, document = survey.look.deletions, _document(survey)
    lines = [f"{DELETE_TOPICS}: {count(len(topics), 'topic')} queued"]
    if document is not None:
        lines += wrapped(f"  data: {document} (no controller reads the data of this node)", "    ")
    for topic in topics[:SHOWN_ROWS]:
        lines += wrapped(f"  {topic}", "    ")
        lines += _wrong(deletion_findings(topic, survey.state), "    ")
    return shortened("\n".join(lines), len(topics), indent="  ")


def _document(survey: AdminSurvey) -> str | None:
    parent = survey.look.deletion_parent
    return escaped(parent.data, _SHOWN_DATA) if parent is not None and parent.data else None


def _node_answer(survey: AdminSurvey, path: str) -> AdminNode | None:
    reading = _reading(survey, path)
    if reading is None:
        return None
    return AdminNode(
        path,
        reading.version,
        0 if reading.data is None else len(reading.data),
        escaped(reading.data, _SHOWN_DATA),
        worst_effect(reading, survey.versions).name.lower(),
        _flaws(reading.findings),
        tuple(map(_entry_answer, reading.entries)),
    )


def _entry_answer(entry: Entry) -> NodeEntry:
    topic = None if entry.topic is None else escaped(entry.topic)
    return NodeEntry(topic, entry.partition, entry.replicas, entry.motion, _flaws(entry.findings))


def _flaws(findings: Iterable[Diagnostic]) -> tuple[NodeFlaw, ...]:
    return tuple(NodeFlaw(found.code, found.message) for found in findings)
