"""Lets replicas lead that are not in sync, where brokers serve no such request (before Kafka 2.4).

One multi has the step, the lists with the chosen leader first, the configs of their topics with
their notifications, and the deletion of /controller. The next controller reads list and config
together. The deletion precedes the notifications, so that the controller before resigns before it
hears of them: it elects nothing by the lists that it remembers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.errors import BusyError
from kadmin.next_step import command
from kadmin.operations.port import Postponed, PublishOutcome
from kadmin.plan.throttle import edits_to_set
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.configs import BATCH_BYTES, config_backlog
from kadmin.worlds.zookeeper.model import Check, SetData
from kadmin.worlds.zookeeper.reader import read_configs
from kadmin.worlds.zookeeper.znodes.brokers import broker_path
from kadmin.worlds.zookeeper.znodes.configs import change_config
from kadmin.worlds.zookeeper.znodes.topics import change_replicas, state_path, topic_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kadmin.cluster.config_entity import ConfigEntity
    from kadmin.cluster.model import ClusterState
    from kadmin.operations.decide.actions import ForceLeaders
    from kadmin.operations.port import PublishResult
    from kadmin.operations.record.holder import Lease
    from kadmin.operations.record.steps import UncleanElectionStep
    from kadmin.plan.model import PartitionTarget
    from kadmin.plan.throttle import ConfigEdits
    from kadmin.worlds.zookeeper.configs import ConfigWriter
    from kadmin.worlds.zookeeper.controller_move import ControllerMove
    from kadmin.worlds.zookeeper.model import EntityConfig, Op, Znode
    from kadmin.worlds.zookeeper.publish import Publisher
    from kadmin.worlds.zookeeper.wire.store import Store

_CHECK_BYTES = 120
"""Bytes of the check of a partition's state beside the name of its topic."""


@dataclass(frozen=True, slots=True)
class _Found:
    """What is there now: configs by entity, the data that they get, and topic znodes by name."""

    configs: Mapping[ConfigEntity, EntityConfig]
    wanted: Mapping[ConfigEntity, bytes]
    topics: Mapping[str, Znode | None]


class ForcedLeaders:
    """Publishes unclean elections by config for the operation that holds the lock."""

    def __init__(self, store: Store, publisher: Publisher, configs: ConfigWriter) -> None:
        self._store = store
        self._publisher = publisher
        self._configs = configs

    def publish(
        self,
        step: UncleanElectionStep,
        action: ForceLeaders,
        seen: ClusterState,
        move: ControllerMove,
        lease: Lease,
    ) -> PublishResult:
        """Publish as many topics as fit into one multi; the step names their partitions alone.

        It is refused where the state of a partition, its list, its chosen broker or the controller
        is not as `seen`. Raises BusyError where others changed a config since it was recorded.
        """
        if error := config_backlog(self._store):
            raise error
        found = self._read(action)
        by_topic: dict[str, list[PartitionTarget]] = {}
        for target in action.targets:
            by_topic.setdefault(target.partition.topic, []).append(target)
        topics = list(_fitting(by_topic, found))
        group = {each: data for each, data in found.wanted.items() if each.name in topics}
        if not self._configs.admits(len(group)):
            return Postponed("many configs were changed within a minute")
        targets = [target for topic in topics for target in by_topic[topic]]
        if any(found.topics[topic] is None for topic in topics):
            return PublishOutcome.CHANGED
        ops = [
            *move.ops(),
            *(Check(broker_path(each)) for each in sorted({each.replicas[0] for each in targets})),
            *(_check_state(each, seen) for each in targets),
            *(_list(by_topic[topic], found.topics[topic], seen) for topic in topics),
            *self._configs.ops(group, found.configs),
        ]
        named = replace(step, partitions=tuple(each.partition for each in targets))
        return self._publisher.send(named, ops, lease)

    def _read(self, action: ForceLeaders) -> _Found:
        configs = read_configs(self._store, sorted(action.configs))
        edits = edits_to_set(
            action.configs, {entity: each.values for entity, each in configs.items()}
        )
        if edits.kept:
            raise BusyError(
                f"A config was changed by others since the operation was recorded: "
                f"{name_some(edits.kept)}.",
                cause="it was left unchanged; nothing of its topic is elected",
                next_step="restore it, then " + command("resume") + "; or " + command("cancel"),
            )
        names = sorted({target.partition.topic for target in action.targets})
        nodes = self._store.get_many(list(map(topic_path, names)))
        return _Found(
            configs, _data_of(edits.values, configs), dict(zip(names, nodes, strict=True))
        )


def _data_of(
    edits: ConfigEdits, configs: Mapping[ConfigEntity, EntityConfig]
) -> dict[ConfigEntity, bytes]:
    return {entity: change_config(configs[entity].znode, keys) for entity, keys in edits.items()}


def _fitting(topics: Mapping[str, Sequence[PartitionTarget]], found: _Found) -> Iterator[str]:
    """Yield the first topic, and those after it that fit into the multi with it."""
    data = {entity.name: len(each) for entity, each in found.wanted.items()}
    size = 0
    for topic, targets in topics.items():
        node = found.topics[topic]
        listed = 0 if node is None else len(node.data or b"")
        size += data.get(topic, 0) + listed + len(targets) * (len(topic) + _CHECK_BYTES)
        if topic != next(iter(topics)) and size > BATCH_BYTES:
            return
        yield topic


def _check_state(target: PartitionTarget, seen: ClusterState) -> Op:
    """Return the check that nobody leads a partition by now that did not when it was seen."""
    return Check(state_path(target.partition), seen.states[target.partition].fingerprint)


def _list(targets: Sequence[PartitionTarget], node: Znode | None, seen: ClusterState) -> Op:
    """Return the write of a topic's lists, or the check that they are there already."""
    topic = seen.topics[targets[0].partition.topic]
    changed = {
        number: each.replicas
        for each in targets
        if topic.replicas.get(number := each.partition.partition) != each.replicas
    }
    if not changed or node is None:
        return Check(topic_path(topic.name), topic.fingerprint)
    return SetData(node.path, change_replicas(node, changed), topic.fingerprint)
