"""Shapes of the answers of `doctor`, `doctor migration` and `history import`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.cluster.model import MigrationPhase
from kadmin.cluster.services import Service
from kadmin.insight.diagnosis.finding import MigrationTrouble, Trouble
from kadmin.insight.tables.partitions import PartitionCounts
from kadmin.schema.shapes import Count, Keywords


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """The findings of doctor."""

    stops_apply: Annotated[bool, "Whether a finding would stop an apply now (exit code 8)."]
    kafka_versions: Annotated[
        VersionRange | None,
        "Versions of Kafka that the cluster may run, inferred from its znodes; null through "
        "brokers.",
    ]
    service: Annotated[
        Service | None,
        "The managed service of the brokers, where their names or their cluster id show it; "
        "docs/managed.md has a section for each.",
    ]
    conditions: Annotated[
        PartitionCounts | None,
        "How many partitions there are, and how many in each condition; null where no controller "
        "answers.",
    ]
    findings: Annotated[
        tuple[DoctorFinding, ...], "What is wrong, in the order in which to repair it."
    ]
    not_checked: Annotated[tuple[str, ...], "What could not be checked, and why."]


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Versions of Kafka."""

    oldest: Annotated[str, "The oldest possible version, as 1.0."]
    newest: Annotated[str, "The newest possible version, as 2.6."]


@dataclass(frozen=True)
class ApplyVerdict:
    """The code of a finding, and whether it stops an apply."""

    trouble: Annotated[
        str,
        Keywords(enum=[*Trouble]),
        "Code of the finding; docs/troubles.md has a section for each.",
    ]
    stops_apply: Annotated[bool, "Whether the finding would stop an apply now."]


@dataclass(frozen=True)
class FindingDetails:
    """A finding without its code."""

    path: Annotated[str | None, "The znode concerned; null through brokers."]
    message: Annotated[str, "What is wrong."]
    evidence: Annotated[tuple[str, ...], "What was seen."]
    remedy: Annotated[str, "The next command, or what to do."]
    topic: Annotated[str | None, "The topic concerned; null for other findings."]
    partitions: Annotated[tuple[Count, ...], "The partitions of the topic that are broken."]
    version: Annotated[
        int | None, "The znode's version, where a repair would replace it; otherwise null."
    ]


@dataclass(frozen=True)
class DoctorFinding(FindingDetails, ApplyVerdict):
    """A finding of doctor."""


@dataclass(frozen=True)
class MigrationVerdict:
    """The code of a finding, and whether it stops the migration."""

    trouble: Annotated[
        str,
        Keywords(enum=[*MigrationTrouble, *Trouble]),
        "Code of the finding; docs/migration.md and docs/troubles.md describe each.",
    ]
    stops_migration: Annotated[bool, "Whether the finding stops the next phase."]


@dataclass(frozen=True)
class MigrationFinding(FindingDetails, MigrationVerdict):
    """A finding of doctor migration."""


@dataclass(frozen=True, slots=True)
class MigrationAnswer:
    """The phase of a migration, and the findings that stop the next phase."""

    phase: Annotated[MigrationPhase, "How far the migration is."]
    go: Annotated[bool, "Whether nothing stops the next phase (exit code 8 otherwise)."]
    findings: Annotated[
        tuple[MigrationFinding, ...],
        "What stops the migration or would be lost by it, and what else is wrong.",
    ]
    stays_behind: Annotated[tuple[str, ...], "Data that remains in ZooKeeper after the migration."]
    not_checked: Annotated[tuple[str, ...], "What could not be checked, and why."]


@dataclass(frozen=True, slots=True)
class ImportAnswer:
    """The operations that history import copied."""

    to: Annotated[
        str, Keywords(enum=["brokers", "zookeeper"]), "The side to which operations were copied."
    ]
    carried: Annotated[tuple[str, ...], "Ids of the copied operations, oldest first."]
    already: Annotated[Count, "How many operations were on both sides already."]
