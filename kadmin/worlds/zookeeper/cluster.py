"""Opens a cluster in ZooKeeper mode, and reads its diagnosis, tables and rights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.doctor_report import DoctorReport
from kadmin.insight.diagnosis.rights import RightsFound
from kadmin.insight.tables.partitions import condition_counts
from kadmin.operations.store import OperationStore
from kadmin.worlds.zookeeper.backend import ANY_LISTENER, ZooKeeperBackend
from kadmin.worlds.zookeeper.context import ZooKeeperContext
from kadmin.worlds.zookeeper.values.znodes import ZnodeValues

if TYPE_CHECKING:
    from kadmin.cluster.servers import Servers
    from kadmin.insight.diagnosis.disks import EarlierDisks
    from kadmin.insight.tables.inspection import Inspection
    from kadmin.operations.context import Clock
    from kadmin.operations.events import EventSink
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store


@dataclass(frozen=True, slots=True)
class ZooKeeperCluster(ZooKeeperContext):
    """A cluster that is open through ZooKeeper."""

    def diagnose(self, earlier_disks: EarlierDisks | None = None) -> DoctorReport:
        """Diagnose the cluster by its znodes and the brokers' disks."""
        from kadmin.worlds.zookeeper.doctor.diagnose import diagnose, unchecked
        from kadmin.worlds.zookeeper.doctor.gather import gather, look_at_disks

        evidence = replace(look_at_disks(self, gather(self)), earlier_disks=earlier_disks)
        counts = condition_counts(evidence.state)
        return DoctorReport(diagnose(evidence), unchecked(evidence), evidence.versions, counts)

    def inspect(self, table: str) -> Inspection:
        """Read a table from znodes."""
        from kadmin.worlds.zookeeper.inspection import inspect

        return inspect(self, table)

    def rights(self) -> RightsFound:
        """Compare the ACLs of znodes with this client's identities.

        Brokers that were given are asked, too.
        """
        from kadmin.worlds.kafka.rights import RightsCheck
        from kadmin.worlds.kafka.wire.connection import KafkaConnection
        from kadmin.worlds.zookeeper.rights import check_rights

        self.backend.check()
        state = self.backend.read(())
        missing, unchecked = check_rights(self.store, self.paths.root)
        if self.servers != ANY_LISTENER:
            with KafkaConnection(
                self.backend.brokers(state).servers, until=self.clock.until
            ) as connection:
                brokers = RightsCheck(connection, writes=False)
                brokers.run()
            missing, unchecked = [*missing, *brokers.missing], [*unchecked, *brokers.unchecked]
        return RightsFound(
            state.cluster_id, self.store.authentication.principal, tuple(missing), tuple(unchecked)
        )


def zookeeper_context(
    store: Store, paths: Paths, clock: Clock, tell: EventSink, brokers: Servers = ANY_LISTENER
) -> ZooKeeperCluster:
    """Return the context of a cluster in ZooKeeper mode; `paths` are those of its operations.

    `brokers` has the brokers' addresses and security; without addresses, the listeners in their
    znodes are used.
    """
    operations = OperationStore(ZnodeValues(store, paths, clock), tell)
    backend = ZooKeeperBackend(store, paths, clock, brokers)
    return ZooKeeperCluster(backend, operations, clock, tell, store, paths, brokers)
