"""`Backend` on ZooKeeper.

It shares its session with the values on record, so that a publish is one multi.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kadmin.cluster.capabilities import Capabilities, MetadataMode
from kadmin.cluster.config_entity import BROKER_KIND, DEFAULT_ENTITY, TOPIC_KIND, ConfigEntity
from kadmin.cluster.model import Listening
from kadmin.cluster.servers import Servers
from kadmin.errors import KadminError, NotCompletedError
from kadmin.next_step import command
from kadmin.operations.decide.actions import (
    ForceLeaders,
    PublishElection,
    PublishLogDirs,
    PublishWave,
)
from kadmin.operations.port import ConfigsOutcome, Postponed, PublishOutcome
from kadmin.operations.record.steps import UncleanElectionStep
from kadmin.operations.store import OperationStore
from kadmin.wording import name_some
from kadmin.worlds.kafka.brokers import KafkaBrokers, listeners_of
from kadmin.worlds.kafka.requests import move_replicas
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.elections import elect_leaders
from kadmin.worlds.kafka.wire.reassignments import NO_REASSIGNMENT_IN_PROGRESS, alter_reassignments
from kadmin.worlds.zookeeper.configs import ConfigWriter, config_backlog
from kadmin.worlds.zookeeper.controller_move import ControllerMover, await_successor
from kadmin.worlds.zookeeper.forced_leaders import ForcedLeaders
from kadmin.worlds.zookeeper.listening import confirmed_listening
from kadmin.worlds.zookeeper.model import details_of
from kadmin.worlds.zookeeper.publish import ADMIN_NODES, Publisher
from kadmin.worlds.zookeeper.reader import (
    consumer_groups,
    read_cluster,
    read_configs,
    require_kafka_cluster,
)
from kadmin.worlds.zookeeper.values.znodes import ZnodeValues
from kadmin.worlds.zookeeper.write_rights import denied_writes
from kadmin.worlds.zookeeper.znodes.brokers import BROKER_IDS
from kadmin.worlds.zookeeper.znodes.configs import CONFIG
from kadmin.worlds.zookeeper.znodes.topics import TOPICS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.errors import BusyError, NotAuthorizedError
    from kadmin.operations.context import Clock
    from kadmin.operations.decide.actions import Publish, TakeBack
    from kadmin.operations.decide.spec import OperationSpec
    from kadmin.operations.port import EditConfigs, PublishResult
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import CancelStep, Channel, Step
    from kadmin.plan.throttle import ConfigEdits, ConfigValues
    from kadmin.worlds.kafka.wire.refusals import Refusal
    from kadmin.worlds.zookeeper.controller_move import ControllerMove
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

    _Answers = Mapping[TopicPartition, Refusal | None]

ANY_LISTENER = Servers(())
"""The brokers' listeners in plain text, as their znodes name them."""


class ZooKeeperMetadata:
    """The znodes of one cluster, beside its controller."""

    def __init__(self, store: Store, paths: Paths, clock: Clock) -> None:
        self._store = store
        self._paths = paths
        self._clock = clock

    def listening(self, channel: Channel, state: ClusterState) -> Listening:
        """Ask the servers whether the controller watches the channel's admin node."""
        controller = details_of(state).controller
        if controller is None:
            return Listening.UNKNOWN
        path = ADMIN_NODES[channel]
        return confirmed_listening(self._store, [path], controller, self._clock.wait)[path]

    def denied(
        self, work: OperationSpec, throttled: Collection[ConfigEntity]
    ) -> NotAuthorizedError | None:
        """Compare the ACLs of the znodes to be written with the identities of this client."""
        return denied_writes(self._store, self._paths, work, throttled)

    def config_backlog(self) -> BusyError | None:
        """Return an error where too many config changes wait for brokers."""
        return config_backlog(self._store)

    def groups_of_topics(self, topics: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """Return the old consumer groups that keep their offsets in ZooKeeper."""
        return consumer_groups(self._store, topics)


class ZooKeeperBackend:
    """A cluster in ZooKeeper mode; its controller executes admin znodes."""

    # Step and request are one write, which is applied now or never.
    capabilities = Capabilities(
        mode=MetadataMode.ZOOKEEPER,
        late_requests=False,
        late_configs=False,
        lagging_reads=False,
        explains_refusals=False,
        restores_lists=False,
        asks_brokers_beside=True,
    )

    def __init__(
        self, store: Store, paths: Paths, clock: Clock, brokers: Servers = ANY_LISTENER
    ) -> None:
        self.metadata_store = ZooKeeperMetadata(store, paths, clock)
        self._store = store
        self._servers = brokers
        self._clock = clock
        self._publisher = Publisher(store, paths)
        self._configs = ConfigWriter(store, paths, clock)
        self._mover = ControllerMover(store, clock)
        self._forced = ForcedLeaders(store, self._publisher, self._configs)
        # It writes the steps of requests to brokers, and reads nothing.
        self._steps = OperationStore(ZnodeValues(store, paths, clock), lambda _: None)

    def check(self) -> None:
        """Raise NotZooKeeperModeError unless this is a cluster in ZooKeeper mode.

        Later reads are up to date.
        """
        self._store.sync("/")
        require_kafka_cluster(self._store)

    def read(
        self,
        topics: Iterable[str] | None = None,
        *,
        with_configs: bool = False,
        settle: bool = False,
    ) -> ClusterState:
        """Read all topics, or those named."""
        return read_cluster(self._store, topics, with_configs=with_configs, settle=settle)

    def brokers(self, state: ClusterState) -> KafkaBrokers:
        """Return a client of the brokers in the address.

        Without any there, it is one of the live brokers at listeners of its protocol.
        """
        return KafkaBrokers(self._servers if self._servers.unasked else self._listeners(state))

    def channel_name(self, channel: Channel) -> str:
        """Return the path of the channel's admin node."""
        return ADMIN_NODES[channel]

    def publish(
        self, step: Step, action: Publish, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Write step record and admin node in one multi.

        Those of a recovery, and requests for log directories, are sent to the brokers. Where
        brokers serve no unclean election, its step, lists, configs and the move of the controller
        are one multi.
        """
        match action:
            case ForceLeaders() if isinstance(step, UncleanElectionStep):
                return self._moving(
                    lambda move: self._forced.publish(step, action, seen, move, lease)
                )
            case PublishWave(by_api=True):
                targets = {each.partition: each.replicas for each in action.targets}
                send = partial(alter_reassignments, targets=targets)
            case PublishElection(unclean=True):
                send = partial(elect_leaders, partitions=action.partitions, unclean=True)
            case PublishLogDirs():
                with KafkaConnection(self._listeners(seen)) as connection:
                    return move_replicas(connection, self._steps, step, action, lease)
            case _:
                return self._publisher.publish(step, action, seen, lease)
        # What was refused shows on the cluster.
        outcome, _ = self._through_brokers(step, seen, lease, send)
        return outcome

    def take_back(
        self, step: CancelStep, action: TakeBack, seen: ClusterState, lease: Lease
    ) -> PublishResult:
        """Write the original replicas into the admin node and move the controller.

        The next one starts them. Moves that were started through the brokers are ended through
        them, with the step on record before the request.
        """
        if action.by_api:
            end = partial(alter_reassignments, targets=dict.fromkeys(action.origin))
            outcome, answers = self._through_brokers(step, seen, lease, end)
            _require_ended(answers)
            return outcome
        pending = seen.requests.reassignment
        return self._moving(
            lambda move: self._publisher.take_back(step, action, pending, move, lease)
        )

    def _moving(self, publish: Callable[[ControllerMove], PublishResult]) -> PublishResult:
        """Publish with a move of the controller, where it may be moved, and wait for the next."""
        move = self._mover.ask()
        if isinstance(move, Postponed):
            return move
        outcome = publish(move)
        if outcome is PublishOutcome.PUBLISHED:
            await_successor(self._store, self._clock, move.epoch_version)
        return outcome

    def _through_brokers(
        self, step: Step, seen: ClusterState, lease: Lease, send: Callable[..., _Answers]
    ) -> tuple[PublishOutcome, _Answers]:
        """Put a step on record, then send its request to the controller of `seen`."""
        outcome = self._publisher.record(step, seen, lease)
        if outcome is not PublishOutcome.PUBLISHED:
            return outcome, {}
        controller = seen.controller
        with KafkaConnection(self._listeners(seen)) as connection:
            answers = send(
                connection, controller_id=None if controller is None else controller.broker_id
            )
        return outcome, answers

    def _listeners(self, state: ClusterState) -> Servers:
        named = replace(self._servers, unasked=False)
        return named if named.addresses else listeners_of(state, named.security)

    def read_configs(self, entities: Iterable[ConfigEntity]) -> ConfigValues:
        """Return the dynamic configs of entities."""
        return {
            entity: config.values for entity, config in read_configs(self._store, entities).items()
        }

    def configured_entities(self) -> Mapping[ConfigEntity, bool]:
        """Return every topic and broker with a config znode.

        Dead brokers and deleted topics are included.
        """
        store = self._store
        present = {
            TOPIC_KIND: set(store.children(TOPICS) or ()),
            BROKER_KIND: {*(store.children(BROKER_IDS) or ()), DEFAULT_ENTITY.name},
        }
        return {
            ConfigEntity(kind, name): name in present[kind]
            for kind in present
            for name in store.children(f"{CONFIG}/{kind}") or ()
        }

    def change_configs(
        self,
        entities: Iterable[ConfigEntity],
        edit: EditConfigs,
        lease: Lease,
        step: Step | None = None,
    ) -> ConfigsOutcome:
        """Write configs and their change notifications, in small atomic groups.

        A write is applied now or never.
        """
        del step
        return (
            ConfigsOutcome.WRITTEN
            if self._configs.change(entities, edit, lease)
            else ConfigsOutcome.CUT_SHORT
        )

    def overwrite_configs(
        self, values: ConfigEdits, lease: Lease, step: Step | None = None
    ) -> Mapping[ConfigEntity, str]:
        """Write nothing: ZooKeeper has the configs of every broker, alive or not."""
        del lease, step
        return dict.fromkeys(values, "not read")

    def unregister(self, broker_id: int, lease: Lease) -> None:
        """Raise KadminError: a registration ends with the session of its broker."""
        del lease
        raise KadminError(f"The registration of broker {broker_id} ends with its session.")


def _require_ended(answers: _Answers) -> None:
    refused = {
        partition: answer
        for partition, answer in answers.items()
        if answer is not None and answer.code != NO_REASSIGNMENT_IN_PROGRESS
    }
    if refused:
        raise NotCompletedError(
            f"The controller refused to end the reassignment of {name_some(sorted(refused))}.",
            cause="; ".join(dict.fromkeys(map(str, refused.values()))),
            next_step=command("resume"),
        )
