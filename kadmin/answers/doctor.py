"""The shape of the answer of `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.insight.diagnosis.finding import Trouble
from kadmin.insight.tables.partitions import PartitionCounts
from kadmin.schema.shapes import Count, Keywords


@dataclass(frozen=True, slots=True)
class DoctorAnswer:
    """The findings of doctor."""

    stops_apply: Annotated[bool, "Whether a finding would stop an apply now (exit code 8)."]
    kafka_versions: Annotated[
        VersionRange | None,
        "Versions of Kafka that the cluster may run, inferred from its znodes; null through brokers.",
    ]
    conditions: Annotated[
        PartitionCounts | None,
        "How many partitions there are, and how many in each condition; null where no controller answers.",
    ]
    findings: Annotated[tuple[DoctorFinding, ...], "What is wrong, in the order in which to repair it."]
    not_checked: Annotated[tuple[str, ...], "What could not be checked, and why."]


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Versions of Kafka."""

    oldest: Annotated[str, "The oldest possible version, as 1.0."]
    newest: Annotated[str, "The newest possible version, as 2.6."]


@dataclass(frozen=True)
class ApplyVerdict:
    """The code of a finding, and whether it stops an apply."""

    trouble: Annotated[str, Keywords(enum=[*Trouble]), "Code of the finding; docs/troubles.md has a section for each."]
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
    version: Annotated[int | None, "The znode's version, where a repair would replace it; otherwise null."]


@dataclass(frozen=True)
class DoctorFinding(FindingDetails, ApplyVerdict):
    """A finding of doctor."""
