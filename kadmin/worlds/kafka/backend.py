"""`Backend` on the brokers' API, for clusters in KRaft mode.

It reads them and publishes waves of reassignments. A publish is not atomic there. The step is on
record before the request is sent, and the answer of each partition is added to it afterwards. After
a lost answer the cluster is read again: sending the same targets again is harmless.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import Capabilities, MetadataMode
from kadmin.errors import KadminError
from kadmin.operations.decide.actions import (
    PublishDeletion,
    PublishElection,
    PublishGrowth,
    PublishLogDirs,
    PublishTopic,
    PublishWave,
)
from kadmin.operations.record.steps import WaveStep
from kadmin.worlds.kafka.brokers import KafkaBrokers, listeners_of
from kadmin.worlds.kafka.configs import EntityConfigs
from kadmin.worlds.kafka.publish import ReassignmentPublisher
from kadmin.worlds.kafka.reader import read_cluster, read_quorum
from kadmin.worlds.kafka.requests import TopicPublisher, move_replicas, unregister

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.context import Clock
    from kadmin.operations.decide.actions import Publish, TakeBack
    from kadmin.operations.port import ConfigsOutcome, EditConfigs, PublishResult
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import CancelStep, Channel, Step
    from kadmin.operations.store import OperationStore
    from kadmin.plan.throttle import ConfigEdits, ConfigValues
    from kadmin.worlds.kafka.wire.connection import KafkaConnection


CAPABILITIES = Capabilities(
    mode=MetadataMode.KRAFT,
    late_requests=True,
    late_configs=True,
    lagging_reads=True,
    explains_refusals=True,
    restores_lists=True,
    asks_brokers_beside=False,
)


class KafkaBackend:
    """A cluster reached through its brokers; one in ZooKeeper mode is only read."""

    metadata_store = None

    def __init__(
        self,
        connection: KafkaConnection,
        operations: OperationStore,
        clock: Clock,
        mode: MetadataMode = MetadataMode.KRAFT,
    ) -> None:
        self.capabilities = replace(CAPABILITIES, mode=mode)
        self._connection = connection
        self._operations = operations
        self._clock = clock
        self._configs = EntityConfigs(connection, operations, clock)
        self._reassignments = ReassignmentPublisher(connection, operations)
        self._topics = TopicPublisher(connection, operations)

    def check(self) -> None:
        """Raise UnreachableError unless the cluster answers."""
        read_quorum(self._connection)

    def read(
        self,
        topics: Iterable[str] | None = None,
        *,
        with_configs: bool = False,
        settle: bool = False,
    ) -> ClusterState:
        """Read all topics, or those named.

        With `settle`, again while reassignments begin and end.
        """
        return read_cluster(self._connection, topics, with_configs=with_configs, settle=settle)

    def brokers(self, state: ClusterState) -> KafkaBrokers:
        """Return a client of the live brokers, at their listeners that serve it."""
        return KafkaBrokers(listeners_of(state, self._connection.servers.security))

    def channel_name(self, channel: Channel) -> str:
        """Return the channel's name in messages."""
        return f"the controller's {channel}"

    def publish(
        self, step: Step, action: Publish, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Put the step on record, send, and add the answer of each partition or topic."""
        match step, action:
            case WaveStep(), PublishWave():
                return self._reassignments.wave(step, action, seen, lease)
            case _, PublishLogDirs():
                return move_replicas(self._connection, self._operations, step, action, lease)
            case _, PublishElection():
                return self._topics.election(step, action, lease)
            case _, PublishDeletion():
                return self._topics.deletion(step, action, seen, lease)
            case _, PublishGrowth():
                return self._topics.growth(step, action, seen, lease)
            case _, PublishTopic():
                return self._topics.creation(step, action, lease)
            case _:
                raise KadminError(
                    "A request by znodes is not for the brokers' API, whose controller answers."
                )

    def take_back(
        self, step: CancelStep, action: TakeBack, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Request the original lists, then end reassignments that remain.

        Ordered as in `publish`.
        """
        return self._reassignments.take_back(step, action, seen, lease)

    def read_configs(self, entities: Iterable[ConfigEntity]) -> ConfigValues:
        """Return the dynamic configs of entities; a broker that does not answer is left out."""
        return self._configs.read(entities)

    def configured_entities(self) -> Mapping[ConfigEntity, bool]:
        """Return every topic and broker; `read_configs` shows which of them have configs."""
        return self._configs.entities()

    def change_configs(
        self,
        entities: Iterable[ConfigEntity],
        edit: EditConfigs,
        lease: Lease,
        step: Step | None = None,
    ) -> ConfigsOutcome:
        """Change configs of topics, and of brokers that answer, until they are seen as wanted."""
        return self._configs.change(entities, edit, lease, step)

    def overwrite_configs(
        self, values: ConfigEdits, lease: Lease, step: Step | None = None
    ) -> Mapping[ConfigEntity, str]:
        """Write configs of brokers that do not answer at the active controller."""
        return self._configs.overwrite(values, lease, step)

    def unregister(self, broker_id: int, lease: Lease) -> None:
        """Unregister a broker, and wait until it is seen to be unregistered."""
        unregister(self._connection, self._operations, self._clock, broker_id, lease)
