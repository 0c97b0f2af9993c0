"""The reports of `doctor` on one cluster, and of `doctor migration` on both sides of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import MigrationPhase
    from kadmin.cluster.services import Service
    from kadmin.cluster.versions import KafkaVersions
    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.insight.tables.partitions import PartitionCounts


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The findings, the unchecked parts, and the versions of Kafka where znodes show them.

    `counts` are partitions by condition, None where configs were not read. `service` is the managed
    service of the brokers, None for Apache Kafka or unknown.
    """

    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]
    versions: KafkaVersions | None
    counts: PartitionCounts | None
    service: Service | None = None

    @property
    def worth_showing(self) -> bool:
        """Whether there is a finding, an unchecked part, or an under-replicated partition."""
        return bool(
            self.findings or self.unchecked or (self.counts and self.counts.under_replicated)
        )

    @property
    def stops_apply(self) -> int:
        """The number of findings that stop an apply."""
        return sum(each.stops_apply for each in self.findings)


@dataclass(frozen=True, slots=True)
class Preflight:
    """The phase, the findings, the data that stays in ZooKeeper, and the missing checks."""

    phase: MigrationPhase
    findings: tuple[Finding, ...]
    stays_behind: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def go(self) -> bool:
        """Whether nothing stops the next phase."""
        return not any(each.stops_apply for each in self.findings)
