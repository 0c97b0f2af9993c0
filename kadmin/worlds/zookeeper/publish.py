"""Publishes a step in ZooKeeper: one multi with the step record, every check, and the admin node.

After a lost reply the step record shows whether the multi was applied, even where the controller
has already deleted the admin node.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.payloads import encode_election, encode_reassignment
from kadmin.operations.decide.actions import (
    Probe,
    PublishDeletion,
    PublishElection,
    PublishGrowth,
    PublishTopic,
    PublishWave,
)
from kadmin.operations.port import PublishOutcome
from kadmin.operations.record.keys import step_key
from kadmin.operations.record.step_codec import encode_step
from kadmin.operations.record.steps import Channel
from kadmin.plan.model import DeletionLayout
from kadmin.schema import require_valid_payload
from kadmin.worlds.zookeeper.model import Check, Create, SetData, details_of
from kadmin.worlds.zookeeper.transaction import write
from kadmin.worlds.zookeeper.values.lock import lease_checks
from kadmin.worlds.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    PROBE_PARTITION,
    REASSIGN_PARTITIONS,
    deletion_path,
    encode_deletion_document,
)
from kadmin.worlds.zookeeper.znodes.brokers import broker_path
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, config_path, encode_config
from kadmin.worlds.zookeeper.znodes.controller import CONTROLLER_EPOCH
from kadmin.worlds.zookeeper.znodes.topics import (
    TOPICS,
    encode_topic,
    topic_path,
    with_partitions,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState, PendingRequest
    from kadmin.operations.decide.actions import Publish, TakeBack
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import Step
    from kadmin.worlds.zookeeper.controller_move import ControllerMove
    from kadmin.worlds.zookeeper.model import Acl, Op
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store

ADMIN_NODES = {
    Channel.REASSIGNMENT: REASSIGN_PARTITIONS,
    Channel.ELECTION: PREFERRED_REPLICA_ELECTION,
}


class Publisher:
    """Publishes steps of the operation that holds the lock."""

    def __init__(self, store: Store, paths: Paths) -> None:
        self._store = store
        self._paths = paths

    def publish(
        self, step: Step, action: Publish, state: ClusterState, lease: Lease
    ) -> PublishOutcome:
        """Publish an action, provided that its preconditions are as when `state` was read."""
        check = Check(CONTROLLER_EPOCH, details_of(state).controller_epoch_version)
        match action:
            case Probe():
                path, ops = ADMIN_NODES[action.channel], self._probe(action, state)
            case PublishWave():
                path, ops = REASSIGN_PARTITIONS, self._wave(action, state)
            case PublishElection():
                path, ops = PREFERRED_REPLICA_ELECTION, self._election(action, state)
            case PublishDeletion():
                path, ops = DELETE_TOPICS, self._deletion(action, state)
            case PublishTopic():
                # A topic that was created meanwhile is a change like any other: no path counts as
                # occupied.
                path, ops = "", self._creation(action)
            case PublishGrowth():
                path, ops = "", self._growth(action, state)
        return self.send(step, [check, *ops], lease, path)

    def _probe(self, action: Probe, state: ClusterState) -> list[Op]:
        path = ADMIN_NODES[action.channel]
        return [
            Create(path, probe_payload(action.channel, min(state.brokers, default=0)), self._acl())
        ]

    def _wave(self, action: PublishWave, state: ClusterState) -> list[Op]:
        payload = encode_reassignment(
            {target.partition: target.replicas for target in action.targets}
        )
        _validate(payload, "reassign_partitions")
        return [
            *_broker_checks(broker for target in action.targets for broker in target.replicas),
            *_topic_checks((target.partition.topic for target in action.targets), state),
            Create(REASSIGN_PARTITIONS, payload, self._acl()),
        ]

    def _election(self, action: PublishElection, state: ClusterState) -> list[Op]:
        payload = encode_election(action.partitions)
        _validate(payload, "preferred_replica_election")
        topics = (partition.topic for partition in action.partitions)
        return [
            *_topic_checks(topics, state),
            Create(PREFERRED_REPLICA_ELECTION, payload, self._acl()),
        ]

    def _deletion(self, action: PublishDeletion, state: ClusterState) -> list[Op]:
        checks = _topic_checks(action.topics, state)
        if action.layout is DeletionLayout.DOCUMENT:
            document = encode_deletion_document(action.topics)
            _validate(document, "delete_topics")
            parent = self._store.exists(DELETE_TOPICS)
            return [*checks, SetData(DELETE_TOPICS, document, parent.version if parent else 0)]
        return [
            *checks,
            *(Create(deletion_path(topic), b"", self._acl()) for topic in action.topics),
        ]

    def _creation(self, action: PublishTopic) -> list[Op]:
        # The config comes first: brokers read it when they create the first log.
        recipe = action.recipe
        config, data = (
            config_path(ConfigEntity.of_topic(recipe.topic)),
            encode_config(recipe.configs),
        )
        left = self._store.exists(config)
        write: Op = Create(config, data, self._store.acl(f"{CONFIG}/topics"))
        if left is not None:
            write = SetData(config, data, left.version)
        return [
            *_broker_checks(broker for replicas in recipe.replicas.values() for broker in replicas),
            write,
            Create(
                topic_path(recipe.topic), encode_topic(recipe.replicas), self._store.acl(TOPICS)
            ),
        ]

    def _growth(self, action: PublishGrowth, state: ClusterState) -> list[Op]:
        growth, path = action.growth, topic_path(action.growth.topic)
        node, seen = self._store.get(path), state.topics[growth.topic].fingerprint
        if node is None or node.version != seen:
            return [Check(path, seen)]  # it fails: the topic changed since it was read
        new = {each.partition: replicas for each, replicas in growth.assignment.items()}
        return [
            *_broker_checks(broker for replicas in growth.new_partitions for broker in replicas),
            SetData(path, with_partitions(node, new), seen),
        ]

    def take_back(
        self,
        step: Step,
        action: TakeBack,
        pending: PendingRequest | None,
        move: ControllerMove,
        lease: Lease,
    ) -> PublishOutcome:
        """Write the original replicas into the admin node, and move the controller.

        The next one reads them. Other entries keep their order and value: controllers up to 2.3
        drop entries that are not in the node. The move is needed without a node, too: 0.10.2
        ignores entries that are in flight (PartitionsReassignedListener in KafkaController.scala),
        and later controllers do not watch the node.
        """
        listed = {} if pending is None or pending.entries is None else pending.entries
        payload = encode_reassignment({**listed, **action.origin})
        _validate(payload, "reassign_partitions")
        write: Op = Create(REASSIGN_PARTITIONS, payload, self._acl())
        if pending is not None:
            write = SetData(REASSIGN_PARTITIONS, payload, pending.fingerprint)
        check, delete = move.ops()
        return self.send(step, [check, write, delete], lease, REASSIGN_PARTITIONS)

    def record(self, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Write the step of a request to the brokers, provided that the controller is the same."""
        return self.send(
            step, [Check(CONTROLLER_EPOCH, details_of(state).controller_epoch_version)], lease
        )

    def send(
        self, step: Step, ops: Iterable[Op], lease: Lease, occupiable: str = ""
    ) -> PublishOutcome:
        """Write the step and `ops` in one multi.

        An existing node at or below `occupiable` makes it OCCUPIED.
        """
        step_path = self._paths.of(step_key(lease.operation_id, step.number))
        head = [
            Create(step_path, encode_step(step), self._acl()),
            *lease_checks(lease, self._paths),
        ]
        result = write(
            self._store,
            [*head, *ops],
            lambda: self._store.exists(step_path) is not None,
            f"{step.kind}, operation {lease.operation_id}, step {step.number}",
        )
        if result is None or result.committed:
            return PublishOutcome.PUBLISHED
        path = getattr(result.failed, "path", "")
        if path == step_path and result.reason == "NodeExists":
            return PublishOutcome.PUBLISHED
        if path in {self._paths.lock, self._paths.fence}:
            return PublishOutcome.LOST_LOCK
        if result.reason == "NodeExists" and occupiable and path.startswith(occupiable):
            return PublishOutcome.OCCUPIED
        return PublishOutcome.CHANGED

    def _acl(self) -> tuple[Acl, ...]:
        # The brokers' own ACL: a node that the controller cannot delete would block every later
        # request.
        return self._store.acl("/admin")


def probe_payload(channel: Channel, broker_id: int) -> bytes:
    """Return a harmless request, which a listening controller removes within milliseconds.

    Any live broker will do. A reassignment of a topic that cannot exist touches no partition;
    `{"partitions":[]}` would stay in ZooKeeper.
    """
    if channel is Channel.REASSIGNMENT:
        return encode_reassignment({PROBE_PARTITION: (broker_id,)})
    return encode_election(())


def _broker_checks(brokers: Iterable[int]) -> list[Op]:
    return [Check(broker_path(broker)) for broker in sorted(set(brokers))]


def _topic_checks(topics: Iterable[str], state: ClusterState) -> list[Op]:
    return [
        Check(topic_path(topic), state.topics[topic].fingerprint) for topic in sorted(set(topics))
    ]


def _validate(payload: bytes, name: str) -> None:
    require_valid_payload(json.loads(payload), name)
