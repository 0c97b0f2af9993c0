"""Opens a cluster that is reached through its brokers.

There are commands that write, and those that only read.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.names import MIGRATION_SETTING
from kadmin.cluster.services import other_than_kafka
from kadmin.errors import KadminError, NotCompletedError
from kadmin.insight.diagnosis.doctor_report import DoctorReport
from kadmin.insight.diagnosis.rights import RightsFound
from kadmin.insight.tables.partitions import condition_counts
from kadmin.operations import events
from kadmin.operations.store import OperationStore
from kadmin.worlds.kafka.backend import KafkaBackend
from kadmin.worlds.kafka.context import KafkaContext
from kadmin.worlds.kafka.values.folder import FolderValues
from kadmin.worlds.kafka.values.read_only import ReadOnlyValues, in_zookeeper
from kadmin.worlds.kafka.values.record_copy import RecordCopy
from kadmin.worlds.kafka.values.topic import LEASE_S, TopicValues
from kadmin.worlds.kafka.wire.configs import read_settings
from kadmin.worlds.kafka.wire.metadata import read_metadata, read_service
from kadmin.worlds.kafka.wire.quorum import has_quorum

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.insight.diagnosis.disks import EarlierDisks
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.operations.context import Clock
    from kadmin.operations.events import EventSink
    from kadmin.operations.port import Values
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


@dataclass(frozen=True, slots=True)
class KafkaCluster(KafkaContext):
    """A cluster that is open through its brokers."""

    def diagnose(self, earlier_disks: EarlierDisks | None = None) -> DoctorReport:
        """Diagnose the cluster by the answers of brokers.

        Counts are unknown while no controller answers.
        """
        from kadmin.worlds.kafka.doctor.diagnose import diagnose, unchecked
        from kadmin.worlds.kafka.doctor.gather import gather

        evidence = replace(gather(self), earlier_disks=earlier_disks)
        silent = evidence.looks[-1].controllers_silent
        counts = None if silent else condition_counts(evidence.state)
        return DoctorReport(diagnose(evidence), unchecked(evidence), None, counts, evidence.service)

    def inspect(self, table: str) -> Inspection:
        """Read a table through the brokers."""
        from kadmin.worlds.kafka.inspection import inspect

        return inspect(self, table)

    def rights(self) -> RightsFound:
        """Ask brokers for this client's rights."""
        from kadmin.worlds.kafka.rights import RightsCheck

        found = RightsCheck(self.connection, writes=True)
        found.run()
        sasl = self.connection.servers.security.sasl
        principal = None if sasl is None or sasl.principal is None else f"User:{sasl.principal}"
        return RightsFound(
            self.backend.read(()).cluster_id,
            principal,
            tuple(found.missing),
            tuple(found.unchecked),
        )


def kafka_context(
    connection: KafkaConnection,
    records: Path | None,
    clock: Clock,
    tell: EventSink,
    lease_s: float = LEASE_S,
    *,
    copies: Path | None = None,
) -> KafkaCluster:
    """Return the context of a cluster in KRaft mode.

    Lock and record are in a topic of its own, or in the folder `records`. `lease_s` is the duration
    of the lock of a dead holder there; `copies` the folder for copies of the records. In ZooKeeper
    mode the topic holds records of a time in KRaft mode: see `require_kraft_mode`.
    """
    values = _values(connection, records, clock, tell, lease_s, copies)
    return _context(connection, values, clock, tell)


def require_kraft_mode(connection: KafkaConnection) -> None:
    """Raise UsageError for a cluster in ZooKeeper mode, whose lock and record are in ZooKeeper.

    Raises NotCompletedError for a service that has no controllers of Kafka's.
    """
    if has_quorum(connection):
        return
    other = other_than_kafka(read_service(connection))
    if other is None:
        raise in_zookeeper(migrating=_is_migrating(connection))
    raise NotCompletedError(
        f"{connection.servers} is {other}, through which kadmin changes nothing.",
        cause="it does not serve DescribeQuorum, the request for Kafka's controllers",
        next_step=f"what it serves: {other.page}",
    )


def reading_context(
    connection: KafkaConnection,
    records: Path | None,
    clock: Clock,
    tell: EventSink,
    *,
    copies: Path | None = None,
) -> KafkaCluster:
    """Return the context of a command that only reads.

    Of a cluster in ZooKeeper mode it sees no operations.
    """
    if has_quorum(connection):
        return _context(
            connection, _values(connection, records, clock, tell, copies=copies), clock, tell
        )
    other = other_than_kafka(read_service(connection))
    there = "they are in ZooKeeper (-z CONNECT)"
    if other is not None:
        there = f"{other} has none ({other.page})"
    tell(events.Note(f"operations on record were not looked at: {there}"))
    return _context(connection, ReadOnlyValues(), clock, tell, MetadataMode.ZOOKEEPER)


def _is_migrating(connection: KafkaConnection) -> bool:
    with suppress(KadminError):
        broker = min(read_metadata(connection, ()).brokers)
        return (
            read_settings(connection, broker, [MIGRATION_SETTING]).get(MIGRATION_SETTING) == "true"
        )
    return False


def _context(
    connection: KafkaConnection,
    values: Values,
    clock: Clock,
    tell: EventSink,
    mode: MetadataMode = MetadataMode.KRAFT,
) -> KafkaCluster:
    operations = OperationStore(values, tell)
    return KafkaCluster(
        KafkaBackend(connection, operations, clock, mode), operations, clock, tell, connection
    )


def _values(
    connection: KafkaConnection,
    records: Path | None,
    clock: Clock,
    tell: EventSink,
    lease_s: float = LEASE_S,
    copies: Path | None = None,
) -> TopicValues | FolderValues:
    if records is not None:
        folder = records / _cluster_id(connection)
        tell(
            events.Note(
                f"lock and record are in the folder {folder}, which other machines do not see"
            )
        )
        return FolderValues(folder, clock, TopicValues(connection, clock, tell), tell)
    copy = None if copies is None else RecordCopy(copies, _cluster_id(connection), tell)
    return TopicValues(connection, clock, tell, lease_s, copy=copy)


def _cluster_id(connection: KafkaConnection) -> str:
    return str(read_metadata(connection, ()).cluster_id)
