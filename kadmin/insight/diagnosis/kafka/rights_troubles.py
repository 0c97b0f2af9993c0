"""Finds rights that the user of kadmin lacks, where brokers check rights."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from kadmin.errors import name_some
from kadmin.insight.diagnosis.finding import Finding, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.diagnostics import Severity
    from kadmin.insight.diagnosis.kafka.evidence import KafkaEvidence


class _Use(NamedTuple):
    """What a right is for; without one whose absence is an error no operation can begin."""

    what: str
    severity: Severity = "warning"


_DESCRIBE = "Describe"
_CLUSTER = {
    _DESCRIBE: _Use("reassignments in flight, sizes and the quorum", "error"),
    "Alter": _Use("reassignments and elections", "error"),
    "AlterConfigs": _Use("throttles"),
    "DescribeConfigs": _Use("throttles"),
}
_TOPICS = {"AlterConfigs": _Use("throttles"), "DescribeConfigs": _Use("throttles"), "Delete": _Use("deletions")}
_RECORD = {"Read": _Use("lock and record", "error"), "Write": _Use("lock and record", "error")}
_MOST_NAMED = 5


def rights_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find each missing right of those that docs/kraft.md lists; those on topics only for topics that are seen."""
    rights = evidence.rights
    if rights is None:
        return
    # Brokers tell rights on the cluster only to those who may describe it.
    cluster = _CLUSTER if _DESCRIBE in rights.cluster else {_DESCRIBE: _CLUSTER[_DESCRIBE]}
    for operation, use in cluster.items():
        if operation not in rights.cluster:
            yield _missing(evidence, operation, use, ())
    for operation, use in _TOPICS.items():
        if lacking := [name for name, granted in rights.topics.items() if operation not in granted]:
            yield _missing(evidence, operation, use, lacking)
    record = evidence.record_topic
    if record is not None and record.name in rights.topics:
        for operation, use in _RECORD.items():
            if operation not in rights.topics[record.name]:
                yield _missing(evidence, operation, use, [record.name])


def _missing(evidence: KafkaEvidence, operation: str, use: _Use, topics: Sequence[str]) -> Finding:
    named = topics if len(topics) <= _MOST_NAMED else ["*"]
    resource = " ".join(f"--topic {shlex.quote(each)}" for each in named) or "--cluster"
    where = f"on {'topic' if len(topics) == 1 else 'topics'} {name_some(topics)}" if topics else "on the cluster"
    return Finding(
        Trouble.MISSING_RIGHT,
        f"The right {operation} {where} is missing.",
        f"kafka-acls.sh {evidence.tool_options} --add --allow-principal {evidence.principal} "
        f"--operation {operation} {resource}",
        severity=use.severity,
        evidence=(f"needed for {use.what}",),
    )
