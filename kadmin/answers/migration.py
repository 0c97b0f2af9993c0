"""Shapes of the answers of `doctor migration` and `history import`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.doctor import FindingDetails
from kadmin.cluster.model import MigrationPhase
from kadmin.insight.diagnosis.finding import MigrationTrouble, Trouble
from kadmin.schema.shapes import Count, Keywords


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

    to: Annotated[str, Keywords(enum=["brokers", "zookeeper"]), "The side to which operations were copied."]
    carried: Annotated[tuple[str, ...], "Ids of the copied operations, oldest first."]
    already: Annotated[Count, "How many operations were on both sides already."]
