"""Reads a cluster's state through the store, in an order that lets the reader draw conclusions.

The admin nodes are read before the topics: when one is seen absent, what the topics then show is the controller's last
word on it.
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kadmin.cluster.model import AdminNode, AdminState, ClusterState, EntityConfig
from kadmin.cluster.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    decode_election,
    decode_reassignment,
)
from kadmin.cluster.znodes.brokers import BROKER_IDS, broker_path, decode_broker
from kadmin.cluster.znodes.configs import CONFIG, config_path, decode_config
from kadmin.cluster.znodes.consumers import CONSUMERS, decode_registration, ids_path, offsets_path, owners_path
from kadmin.cluster.znodes.controller import (
    CLUSTER_ID,
    CONTROLLER,
    CONTROLLER_EPOCH,
    MIGRATION,
    decode_cluster_id,
    decode_controller,
    decode_controller_epoch,
    decode_migration,
)
from kadmin.cluster.znodes.topics import TOPICS, decode_state, decode_topic, state_path, topic_path
from kadmin.cluster.znodes.values import MalformedZnodeError, is_legal_topic_name
from kadmin.errors import NotAuthorizedError, NotCompletedError, NotZooKeeperModeError, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.model import Broker, Controller, PartitionState, Topic, TopicPartition, Znode
    from kadmin.cluster.store import Store
    from kadmin.cluster.znodes.consumers import ConsumerRegistration

SETTLE_ATTEMPTS = 3


def require_kafka_cluster(store: Store) -> None:
    """Refuse an address where no ZooKeeper-mode cluster lives; nothing is written.

    Raises NotZooKeeperModeError for a chroot that does not exist (mistyped), an empty ZooKeeper, and a cluster that is
    in KRaft mode or on its way there.
    """
    where = "check --zookeeper; the chroot is the brokers' zookeeper.connect after the last port"
    if store.exists("/") is None:
        raise NotZooKeeperModeError(
            f"The chroot {store.chroot} does not exist at {store.connect_string}.",
            cause=f"mistyped, or another ensemble{_elsewhere(store)}",
            next_command=where,
        )
    if store.exists(CONTROLLER_EPOCH) is None or store.exists(BROKER_IDS) is None:
        raise NotZooKeeperModeError(
            f"No Kafka cluster keeps its metadata at {store.connect_string}.",
            cause="no /controller_epoch and /brokers/ids there: a missing chroot, an empty ZooKeeper, or KRaft mode"
            + _elsewhere(store),
            next_command=where,
        )
    if _is_in_kraft(store):
        raise NotZooKeeperModeError(
            f"The cluster at {store.connect_string} is migrating to KRaft, or did.",
            cause="its controller is a KRaft controller, which reads none of the admin znodes",
            next_command="use Kafka's own tools with --bootstrap-server",
        )


def read_cluster(
    store: Store, topics: Iterable[str] | None = None, *, with_configs: bool = False, settle: bool = False
) -> ClusterState:
    """Read all topics, or those asked for; the rest of the state always.

    With `settle`, topics that changed while they were read are read again, SETTLE_ATTEMPTS times at most; those that
    still change are in `unsettled`. Raises NotCompletedError where a znode cannot be decoded.
    """
    with _told():
        return _read(store, topics, with_configs=with_configs, settle=settle)


def read_configs(store: Store, entities: Iterable[str]) -> dict[str, EntityConfig]:
    """Return the configs of entities such as `topics/orders` or `brokers/1`.

    Raises NotCompletedError where a znode cannot be decoded: what cannot be read must not be written over.
    """
    asked = list(entities)
    nodes = store.get_many([f"{CONFIG}/{entity}" for entity in asked])
    with _told():
        return {
            entity: EntityConfig(node, {} if node is None else decode_config(node))
            for entity, node in zip(asked, nodes, strict=True)
        }


def consumer_groups(store: Store, topics: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, per topic, the old-style groups that consume it now or have committed offsets in ZooKeeper for it."""
    groups = store.children(CONSUMERS) or ()
    live = _registrations(store, groups)
    found = {}
    for topic in topics:
        owners = store.children_many([owners_path(group, topic) for group in groups])
        offsets = store.children_many([offsets_path(group, topic) for group in groups])
        found[topic] = tuple(
            group
            for group, owned, committed in zip(groups, owners, offsets, strict=True)
            if owned or committed or any(_subscribes(member, topic) for member in live[group])
        )
    return found


def _is_in_kraft(store: Store) -> bool:
    controller, migration = store.get_many([CONTROLLER, MIGRATION])
    with _told():
        kraft_epoch = None if controller is None else decode_controller(controller).kraft_epoch
        kraft_controller = -1 if migration is None else decode_migration(migration).kraft_controller_id
    return (kraft_epoch is not None and kraft_epoch >= 0) or kraft_controller >= 0


def _elsewhere(store: Store) -> str:
    """Name the chroots, at the top of this ensemble, where a Kafka cluster seems to live."""
    try:
        roots = ("", *(f"/{name}" for name in store.children_outside_chroot("/") or ()))
        alive = [root or "no chroot" for root in roots if "ids" in _below(store, f"{root}/brokers")]
    except NotAuthorizedError:
        return ""
    return f"; a Kafka cluster is at: {name_some(alive)}" if alive else ""


def _below(store: Store, path: str) -> tuple[str, ...]:
    return store.children_outside_chroot(path) or ()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except MalformedZnodeError as error:
        raise NotCompletedError(
            f"A znode cannot be read: {error.path}.",
            cause=error.reason,
            next_command="look at it with ZooKeeper's own shell; kadmin changes nothing on such a cluster",
        ) from error


def _read(store: Store, topics: Iterable[str] | None, *, with_configs: bool, settle: bool) -> ClusterState:
    controller_node, epoch_node, id_node, reassignment, election = store.get_many(
        [
            CONTROLLER,
            CONTROLLER_EPOCH,
            CLUSTER_ID,
            REASSIGN_PARTITIONS,
            PREFERRED_REPLICA_ELECTION,
        ]
    )
    admin = AdminState(
        _admin_node(reassignment, decode_reassignment),
        _admin_node(election, lambda data: dict.fromkeys(decode_election(data), ())),
        store.children(DELETE_TOPICS) or (),
    )
    listed = set(topics) if topics is not None else store.children(TOPICS) or ()
    names = sorted(name for name in listed if is_legal_topic_name(name))
    before = store.last_zxid
    found, states = _topics(store, names)
    unsettled: frozenset[str] = frozenset()
    # Without a transaction anywhere in the ensemble since the first of these reads they are one snapshot.
    if settle and epoch_node is not None and store.last_zxid != before:
        unsettled = _settle(store, found, states, epoch_node)
    return ClusterState(
        cluster_id=None if id_node is None else decode_cluster_id(id_node),
        controller=_controller(controller_node),
        controller_epoch=0 if epoch_node is None else decode_controller_epoch(epoch_node),
        controller_epoch_version=-1 if epoch_node is None else epoch_node.version,
        brokers=_brokers(store),
        topics=found,
        states=states,
        admin=admin,
        topic_configs=_configs(store, list(found)) if with_configs else {},
        unsettled=unsettled,
    )


def _controller(node: Znode | None) -> Controller | None:
    return None if node is None else decode_controller(node)


def _admin_node(
    node: Znode | None, decode: Callable[[bytes | None], Mapping[TopicPartition, tuple[int, ...]]]
) -> AdminNode | None:
    if node is None:
        return None
    try:
        return AdminNode(node.data, node.version, decode(node.data))
    except MalformedZnodeError:
        return AdminNode(node.data, node.version, None)


def _brokers(store: Store) -> dict[int, Broker]:
    ids = sorted(int(name) for name in store.children(BROKER_IDS) or () if name.isascii() and name.isdigit())
    nodes = store.get_many([broker_path(broker) for broker in ids])
    return {broker: decode_broker(broker, node) for broker, node in zip(ids, nodes, strict=True) if node is not None}


def _topics(store: Store, names: list[str]) -> tuple[dict[str, Topic], dict[TopicPartition, PartitionState]]:
    nodes = store.get_many([topic_path(name) for name in names])
    found = {name: decode_topic(name, node) for name, node in zip(names, nodes, strict=True) if node is not None}
    partitions = [partition for topic in found.values() for partition in topic.partitions()]
    state_nodes = store.get_many([state_path(partition) for partition in partitions])
    states = {
        partition: decode_state(node)
        for partition, node in zip(partitions, state_nodes, strict=True)
        if node is not None
    }
    return found, states


def _settle(
    store: Store, found: dict[str, Topic], states: dict[TopicPartition, PartitionState], epoch: Znode
) -> frozenset[str]:
    # Reads again, in place, what changed since it was read; what was seen to stand still once is settled. A new
    # controller rewrites what it likes, so after its election everything counts as changed.
    doubtful = frozenset(found)
    for attempt in range(SETTLE_ATTEMPTS):
        now = store.exists(CONTROLLER_EPOCH)
        elected = now is not None and now.version != epoch.version
        doubtful = frozenset(found) if elected else _changed(store, doubtful, found, states)
        if not doubtful or attempt == SETTLE_ATTEMPTS - 1:
            break
        epoch = now or epoch
        fresh, fresh_states = _topics(store, sorted(doubtful))
        for name in doubtful:
            for partition in found.pop(name).partitions():
                states.pop(partition, None)
        found.update(fresh)
        states.update(fresh_states)
        doubtful &= frozenset(fresh)
    return doubtful


def _changed(
    store: Store, names: Iterable[str], found: Mapping[str, Topic], states: Mapping[TopicPartition, PartitionState]
) -> frozenset[str]:
    looked_at = sorted(names)
    partitions = [partition for name in looked_at for partition in found[name].partitions()]
    known = [found[name].version for name in looked_at] + [_version(states.get(partition)) for partition in partitions]
    paths = [topic_path(name) for name in looked_at] + [state_path(partition) for partition in partitions]
    owners = looked_at + [partition.topic for partition in partitions]
    seen = map(_version, store.exists_many(paths))
    return frozenset(owner for owner, before, now in zip(owners, known, seen, strict=True) if before != now)


def _version(found: Znode | PartitionState | None) -> int:
    return -1 if found is None else found.version


def _configs(store: Store, names: list[str]) -> dict[str, dict[str, str]]:
    nodes = store.get_many([config_path("topics", name) for name in names])
    return {name: decode_config(node) for name, node in zip(names, nodes, strict=True) if node is not None}


def _registrations(store: Store, groups: Sequence[str]) -> dict[str, list[ConsumerRegistration]]:
    ids = store.children_many([ids_path(group) for group in groups])
    members = [(group, name) for group, names in zip(groups, ids, strict=True) for name in names or ()]
    nodes = store.get_many([f"{ids_path(group)}/{name}" for group, name in members])
    found: dict[str, list[ConsumerRegistration]] = {group: [] for group in groups}
    for (group, name), node in zip(members, nodes, strict=True):
        # What others register oddly says nothing; their owners and offsets still count.
        with suppress(MalformedZnodeError):
            if node is not None:
                found[group].append(decode_registration(name, node))
    return found


def _subscribes(member: ConsumerRegistration, topic: str) -> bool:
    if topic in member.subscription:
        return True
    if member.pattern not in {"white_list", "black_list"}:
        return False
    # Kafka's Whitelist turns commas into alternatives; a pattern that is no regex matches nothing here.
    for pattern in member.subscription:
        try:
            matched = re.fullmatch(pattern.replace(",", "|"), topic) is not None
        except re.error:
            continue
        if matched is (member.pattern == "white_list"):
            return True
    return False
