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
from kadmin.insight.tables.admin_nodes import Effect
from kadmin.next_step import command
from kadmin.report.doctor import versions_answer
from kadmin.report.text import SHOWN_ROWS, replicas, shortened, wrapped
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.versions import KafkaVersions
    from kadmin.diagnostics import Diagnostic
    from kadmin.insight.tables.admin_nodes import AdminSurvey, Entry, NodeSurvey

_SHOWN_DATA = 1_000
_VERDICTS = {
    Effect.POISON: "poison: the next controller that is elected fails on it",
    Effect.IGNORED: "ignored by controllers of these versions",
    Effect.OBEYED: "obeyed",
}


def admin_text(survey: AdminSurvey) -> str:
    """Show the three nodes: raw data, entries, and flaws."""
    nodes = (survey.reassignment, survey.election)
    return "\n\n".join([*(_node(each, survey.versions) for each in nodes), _deletions(survey)])


def admin_answer(survey: AdminSurvey) -> AdminAnswer:
    """Answer `inspect admin`."""
    queued = (
        QueuedDeletion(escaped(topic), _flaws(findings)) for topic, findings in survey.deletions
    )
    return AdminAnswer(
        versions_answer(survey.versions),
        _node_answer(survey.reassignment),
        _node_answer(survey.election),
        WatchedNodes(survey.reassignment.listening, survey.election.listening),
        DeletionNode(_document(survey), tuple(queued)),
        tuple(escaped(path) for path in survey.denied),
    )


def _heard(node: NodeSurvey) -> list[str]:
    """Return whether the controller watches a node.

    Empty where the four-letter words do not show it.
    """
    match node.listening:
        case Listening.LISTENING:
            return ["  watched by the controller"]
        case Listening.DEAF:
            return [f"  not watched by the controller (checked twice): see {command('doctor')}"]
    return []


def _node(node: NodeSurvey, versions: KafkaVersions) -> str:
    reading = node.reading
    if reading is None:
        absent = f"{node.path}: {'not allowed to be read' if node.denied else 'absent'}"
        return "\n".join([absent, *_heard(node)])
    size = 0 if reading.data is None else len(reading.data)
    entries = count(len(reading.entries), "entry", "entries")
    lines = [
        f"{reading.path}: version {reading.version}, {count(size, 'byte')}, {entries}",
        *wrapped(
            f"  {_VERDICTS[node.effect]} (Kafka {versions}, inferred from the brokers' znodes)",
            "    ",
        ),
        *_heard(node),
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
    return [
        line
        for found in findings
        for line in wrapped(f"{indent}wrong: {found.message}", f"{indent}  ")
    ]


def _deletions(survey: AdminSurvey) -> str:
    topics, document = survey.deletions, _document(survey)
    lines = [f"{survey.deletions_path}: {count(len(topics), 'topic')} queued"]
    if document is not None:
        lines += wrapped(f"  data: {document} (no controller reads the data of this node)", "    ")
    for topic, findings in topics[:SHOWN_ROWS]:
        lines += wrapped(f"  {topic}", "    ")
        lines += _wrong(findings, "    ")
    return shortened("\n".join(lines), len(topics), indent="  ")


def _document(survey: AdminSurvey) -> str | None:
    return escaped(survey.deletions_data, _SHOWN_DATA) if survey.deletions_data else None


def _node_answer(node: NodeSurvey) -> AdminNode | None:
    reading = node.reading
    if reading is None:
        return None
    return AdminNode(
        node.path,
        reading.version,
        0 if reading.data is None else len(reading.data),
        escaped(reading.data, _SHOWN_DATA),
        node.effect.name.lower(),
        _flaws(reading.findings),
        tuple(map(_entry_answer, reading.entries)),
    )


def _entry_answer(entry: Entry) -> NodeEntry:
    topic = None if entry.topic is None else escaped(entry.topic)
    return NodeEntry(topic, entry.partition, entry.replicas, entry.motion, _flaws(entry.findings))


def _flaws(findings: Iterable[Diagnostic]) -> tuple[NodeFlaw, ...]:
    return tuple(NodeFlaw(found.code, found.message) for found in findings)
