"""One publish: a single multi that holds the step record, every check, and the admin node.

Step record and admin node appear together or not at all. After a lost reply the step record answers exactly whether
it happened, even when the controller has already consumed the admin node.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.cluster.model import Check, Create, SetData
from kadmin.cluster.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    deletion_path,
    encode_deletion_document,
    encode_election,
    encode_reassignment,
)
from kadmin.cluster.zookeeper.znodes.brokers import broker_path
from kadmin.cluster.zookeeper.znodes.configs import CONFIG, config_path, encode_config
from kadmin.cluster.zookeeper.znodes.controller import CONTROLLER_EPOCH
from kadmin.cluster.zookeeper.znodes.topics import TOPICS, encode_topic, topic_path
from kadmin.operations.record.record import Step, encode_step
from kadmin.operations.zookeeper.probe import probe_payload
from kadmin.operations.zookeeper.transaction import write
from kadmin.plan.model import DeletionLayout
from kadmin.schema import require_valid_payload

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kadmin.cluster.model import Acl, ClusterState, MultiResult, Op
    from kadmin.cluster.zookeeper.store import Store
    from kadmin.operations.decide.actions import PublishDeletion, PublishElection, PublishTopic, PublishWave
    from kadmin.operations.decide.cancel_now import Supersede
    from kadmin.operations.record.record import Paths, StepKind
    from kadmin.operations.zookeeper.failover import ControllerMove
    from kadmin.operations.zookeeper.lock import Lease


class PublishOutcome(StrEnum):
    """What came of a publish."""

    YES = "yes"
    """Step record and admin node are there (or were, and the controller was quick)."""
    CHANGED = "changed"
    """A topic, a broker or the controller is not as observed: look again."""
    LOST_LOCK = "lost lock"
    """Fence or lock are not ours any more."""
    NODE_PRESENT = "node present"
    """Somebody else's admin node came first."""


class Publisher:
    """Publishes the steps of one operation."""

    def __init__(self, store: Store, paths: Paths, operation_id: str) -> None:
        self._store = store
        self._paths = paths
        self._operation_id = operation_id

    def probe(self, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Publish a probe on the admin node that the step names."""
        payload = probe_payload(step.path, min(state.brokers, default=0))
        checks = [Check(CONTROLLER_EPOCH, state.controller_epoch_version)]
        return self._send(step, lease, [*checks, Create(step.path, payload, self._acl())])

    def wave(self, action: PublishWave, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Publish a wave: every target broker is registered, every topic is as it was read."""
        payload = encode_reassignment({target.partition: target.replicas for target in action.targets})
        _validate(payload, "reassign_partitions")
        ops = [
            Check(CONTROLLER_EPOCH, state.controller_epoch_version),
            *_broker_checks(broker for target in action.targets for broker in target.replicas),
            *_topic_checks((target.partition.topic for target in action.targets), state),
            Create(step.path, payload, self._acl()),
        ]
        return self._send(step, lease, ops)

    def election(self, action: PublishElection, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Publish an election."""
        payload = encode_election(action.partitions)
        _validate(payload, "preferred_replica_election")
        ops = [
            Check(CONTROLLER_EPOCH, state.controller_epoch_version),
            *_topic_checks((partition.topic for partition in action.partitions), state),
            Create(step.path, payload, self._acl()),
        ]
        return self._send(step, lease, ops)

    def deletion(self, action: PublishDeletion, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Ask for a deletion: one child per topic, or the old documents' layout."""
        checks = [
            Check(CONTROLLER_EPOCH, state.controller_epoch_version),
            *_topic_checks(action.topics, state),
        ]
        if action.layout is DeletionLayout.DOCUMENT:
            document = encode_deletion_document(action.topics)
            _validate(document, "delete_topics")
            parent = self._store.exists(DELETE_TOPICS)
            return self._send(step, lease, [*checks, SetData(DELETE_TOPICS, document, parent.version if parent else 0)])
        children = (Create(deletion_path(topic), b"", self._acl()) for topic in action.topics)
        return self._send(step, lease, [*checks, *children])

    def creation(self, action: PublishTopic, step: Step, state: ClusterState, lease: Lease) -> PublishOutcome:
        """Create a topic: its config first, for brokers read it when they make the first log."""
        recipe = action.recipe
        config, data = config_path("topics", recipe.topic), encode_config(recipe.configs)
        left = self._store.exists(config)
        write: Op = Create(config, data, self._store.acl(f"{CONFIG}/topics"))
        if left is not None:
            write = SetData(config, data, left.version)
        ops = [
            Check(CONTROLLER_EPOCH, state.controller_epoch_version),
            *_broker_checks(broker for replicas in recipe.replicas.values() for broker in replicas),
            write,
            Create(step.path, encode_topic(recipe.replicas), self._store.acl(TOPICS)),
        ]
        published = self._send(step, lease, ops)
        # A topic that came to be meanwhile is looked at like any other change.
        return PublishOutcome.CHANGED if published is PublishOutcome.NODE_PRESENT else published

    def supersede(self, action: Supersede, bump: ControllerMove, step: Step, lease: Lease) -> PublishOutcome:
        """Replace what a live admin node asks for, or create it, and move the controller: the next one reads it.

        An absent node is no way around the move: the controller of 0.10.2 watches it, but leaves out what it is still
        at work on (PartitionsReassignedListener in KafkaController.scala); later ones do not watch it.
        """
        payload = encode_reassignment(action.entries)
        _validate(payload, "reassign_partitions")
        write: Op = Create(step.path, payload, self._acl())
        if action.node_version is not None:
            write = SetData(step.path, payload, action.node_version)
        check, delete = bump.ops()
        return self._send(step, lease, [check, write, delete])

    def cure(self, step: Step, ops: Iterable[Op], lease: Lease) -> PublishOutcome:
        """Do one step of healing; the step holds what it replaces."""
        return self._send(step, lease, ops)

    def _send(self, step: Step, lease: Lease, ops: Iterable[Op]) -> PublishOutcome:
        step_path = self._paths.step(self._operation_id, step.number)
        head = [Create(step_path, encode_step(step), self._acl()), *lease.checks(self._paths)]
        result = write(
            self._store,
            [*head, *ops],
            lambda: self._store.exists(step_path) is not None,
            f"{step.kind} on {step.path}, operation {self._operation_id}, step {step.number}",
        )
        return PublishOutcome.YES if result is None else interpret(result, self._paths, step, step_path)

    def _acl(self) -> tuple[Acl, ...]:
        # The brokers' own: a node that the controller cannot write would block everybody.
        return self._store.acl("/admin")


def next_step(steps: Sequence[Step], kind: StepKind, path: str, at: str) -> Step:
    """Return the step that follows those on record; numbers count from 1."""
    return Step(len(steps) + 1, kind, path, at)


def interpret(result: MultiResult, paths: Paths, step: Step, step_path: str) -> PublishOutcome:
    """Say what a multi's result means; ZooKeeper names the first op that it refused."""
    if result.committed:
        return PublishOutcome.YES
    path = getattr(result.failed, "path", "")
    if path == step_path and result.reason == "NodeExists":
        return PublishOutcome.YES
    if path in {paths.lock, paths.fence}:
        return PublishOutcome.LOST_LOCK
    if result.reason == "NodeExists" and (path == step.path or path.startswith(f"{DELETE_TOPICS}/")):
        return PublishOutcome.NODE_PRESENT
    return PublishOutcome.CHANGED


def _broker_checks(brokers: Iterable[int]) -> list[Op]:
    return [Check(broker_path(broker)) for broker in sorted(set(brokers))]


def _topic_checks(topics: Iterable[str], state: ClusterState) -> list[Op]:
    return [Check(topic_path(topic), state.topics[topic].version) for topic in sorted(set(topics))]


def _validate(payload: bytes, name: str) -> None:
    require_valid_payload(json.loads(payload), name)
