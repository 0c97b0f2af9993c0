"""The entries of the admin nodes as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import DELETE_TOPICS
from kadmin.insight.diagnosis.zookeeper.admin_nodes import deletion_findings
from kadmin.insight.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.diagnostics import Diagnostic
    from kadmin.insight.diagnosis.zookeeper.admin_nodes import NodeReading
    from kadmin.insight.tables.table import Cell

ENTRIES = ("node", "topic", "partition", "replicas", "motion", "flaws")


def entry_table(readings: Iterable[NodeReading], deletions: Iterable[str], state: ClusterState) -> Table:
    """Return a row for each entry, and a row without a topic for each node with flaws of its own."""
    rows: list[tuple[Cell, ...]] = []
    for reading in readings:
        if reading.findings:
            rows.append((reading.path, None, None, None, None, _flaws(reading.findings)))
        rows += [
            (reading.path, each.topic, each.partition, each.replicas, each.motion and each.motion.value, flaws)
            for each in reading.entries
            for flaws in [_flaws(each.findings)]
        ]
    rows += [(DELETE_TOPICS, each, None, None, None, _flaws(deletion_findings(each, state))) for each in deletions]
    return Table.of("admin-entries", ENTRIES, rows)


def _flaws(findings: Iterable[Diagnostic]) -> tuple[str, ...]:
    return tuple(str(finding.code) for finding in findings)
