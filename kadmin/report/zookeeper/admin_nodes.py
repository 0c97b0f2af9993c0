"""The admin znodes decoded, as text and as JSON (schemas/answers/inspect-admin.schema.json)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import Listening
from kadmin.cluster.names import escaped
from kadmin.insight.tables.admin_nodes import Effect
from kadmin.report.doctor import versions_answer
from kadmin.report.text import SHOWN_ROWS, replicas, shortened, wrapped
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.versions import KafkaVersions
    from kadmin.diagnostics import Diagnostic
    from kadmin.insight.tables.admin_nodes import AdminNode, AdminNodes, Entry

_SHOWN_DATA = 1_000
_VERDICTS = {
    Effect.POISON: "poison: the next controller that is elected fails on it",
    Effect.IGNORED: "ignored by controllers of these versions",
    Effect.OBEYED: "obeyed",
}


def admin_text(survey: AdminNodes) -> str:
    """Show the three nodes: raw data, entries, and flaws."""
    nodes = (survey.reassignment, survey.election)
    return "\n\n".join([*(_node(each, survey.versions) for each in nodes), _deletions(survey)])


def admin_answer(survey: AdminNodes) -> dict[str, Any]:
    """Answer `inspect admin`."""
    return {
        "kafka_versions": versions_answer(survey.versions),
        "reassignment": _node_answer(survey.reassignment),
        "election": _node_answer(survey.election),
        "listening": {
            "reassignment": survey.reassignment.listening.value,
            "election": survey.election.listening.value,
        },
        "deletions": {
            "data": _document(survey),
            "topics": [{"topic": escaped(topic), "flaws": _flaws(findings)} for topic, findings in survey.deletions],
        },
        "not_allowed": [escaped(path) for path in survey.denied],
    }


def _heard(node: AdminNode) -> list[str]:
    """Return whether the controller watches a node; empty where the four-letter words do not show it."""
    match node.listening:
        case Listening.LISTENING:
            return ["  watched by the controller"]
        case Listening.DEAF:
            return ["  not watched by the controller (checked twice): see kadmin doctor"]
    return []


def _node(node: AdminNode, versions: KafkaVersions) -> str:
    reading = node.reading
    if reading is None:
        absent = f"{node.path}: {'not allowed to be read' if node.denied else 'absent'}"
        return "\n".join([absent, *_heard(node)])
    size = 0 if reading.data is None else len(reading.data)
    entries = count(len(reading.entries), "entry", "entries")
    lines = [
        f"{reading.path}: version {reading.version}, {count(size, 'byte')}, {entries}",
        *wrapped(f"  {_VERDICTS[node.effect]} (Kafka {versions}, inferred from the brokers' znodes)", "    "),
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
    return [line for found in findings for line in wrapped(f"{indent}wrong: {found.message}", f"{indent}  ")]


def _deletions(survey: AdminNodes) -> str:
    topics, document = survey.deletions, _document(survey)
    lines = [f"{survey.deletions_path}: {count(len(topics), 'topic')} queued"]
    if document is not None:
        lines += wrapped(f"  data: {document} (no controller reads the data of this node)", "    ")
    for topic, findings in topics[:SHOWN_ROWS]:
        lines += wrapped(f"  {topic}", "    ")
        lines += _wrong(findings, "    ")
    return shortened("\n".join(lines), len(topics), indent="  ")


def _document(survey: AdminNodes) -> str | None:
    return escaped(survey.deletions_data, _SHOWN_DATA) if survey.deletions_data else None


def _node_answer(node: AdminNode) -> dict[str, Any] | None:
    reading = node.reading
    if reading is None:
        return None
    return {
        "path": node.path,
        "version": reading.version,
        "size_bytes": 0 if reading.data is None else len(reading.data),
        "data": escaped(reading.data, _SHOWN_DATA),
        "effect": node.effect.name.lower(),
        "flaws": _flaws(reading.findings),
        "entries": [_entry_answer(entry) for entry in reading.entries],
    }


def _entry_answer(entry: Entry) -> dict[str, Any]:
    return {
        "topic": None if entry.topic is None else escaped(entry.topic),
        "partition": entry.partition,
        "replicas": None if entry.replicas is None else list(entry.replicas),
        "motion": None if entry.motion is None else entry.motion.value,
        "flaws": _flaws(entry.findings),
    }


def _flaws(findings: Iterable[Diagnostic]) -> list[dict[str, str]]:
    return [{"flaw": found.code, "message": found.message} for found in findings]
