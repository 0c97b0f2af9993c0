"""Reads a cluster's state.

The admin nodes are read before the topics: where one is absent, the topics show the final result of
it.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import DEFAULT_ENTITY, ConfigEntity
from kadmin.cluster.model import ClusterState, PartitionState, PendingRequest, Requests, Topic
from kadmin.cluster.names import is_legal_topic_name
from kadmin.errors import NotAuthorizedError, NotCompletedError, NotZooKeeperModeError
from kadmin.next_step import command
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.migration import MigrationNodes, led_by_kraft
from kadmin.worlds.zookeeper.model import EntityConfig, ZooKeeperDetails
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    PROBE_PARTITION,
    REASSIGN_PARTITIONS,
    decode_election,
    decode_reassignment,
)
from kadmin.worlds.zookeeper.znodes.brokers import BROKER_IDS, broker_path, decode_broker
from kadmin.worlds.zookeeper.znodes.configs import config_path, decode_config
from kadmin.worlds.zookeeper.znodes.consumers import CONSUMERS, decode_registration, group_path
from kadmin.worlds.zookeeper.znodes.controller import (
    CLUSTER_ID,
    CONTROLLER,
    CONTROLLER_EPOCH,
    MIGRATION,
    decode_cluster_id,
    decode_controller,
    decode_controller_epoch,
    decode_migration,
)
from kadmin.worlds.zookeeper.znodes.topics import (
    TOPICS,
    decode_state,
    decode_topic,
    state_path,
    topic_path,
)
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from kadmin.cluster.groups import ConsumerRegistration
    from kadmin.cluster.model import Assignment, Broker, Replicas, Topic, TopicPartition
    from kadmin.worlds.zookeeper.model import Znode
    from kadmin.worlds.zookeeper.wire.store import Store

SETTLE_ATTEMPTS = 3
ADDING_AND_REMOVING_SINCE = 2
"""The format version of topic znodes that has adding and removing replicas (Kafka 2.4)."""


def require_kafka_cluster(store: Store, *, tolerant: bool = False) -> None:
    """Raise NotZooKeeperModeError unless the address is that of a cluster in ZooKeeper mode.

    It is raised for a chroot that does not exist, an empty ZooKeeper, and a cluster in KRaft mode
    or migrating. Where the migration cannot be decoded, `tolerant` ignores it; else
    NotCompletedError is raised.
    """
    where = "check --zookeeper; the chroot is the brokers' zookeeper.connect after the last port"
    if store.exists("/") is None:
        raise NotZooKeeperModeError(
            f"The chroot {store.chroot} does not exist at {store.connect_string}.",
            cause=f"mistyped, or another ensemble{_elsewhere(store)}",
            next_step=where,
        )
    if store.exists(CONTROLLER_EPOCH) is None or store.exists(BROKER_IDS) is None:
        raise NotZooKeeperModeError(
            f"No Kafka cluster keeps its metadata at {store.connect_string}.",
            cause=(
                "no /controller_epoch and /brokers/ids there: a missing chroot, an empty "
                "ZooKeeper, or KRaft mode"
            )
            + _elsewhere(store),
            next_step=where,
        )
    phase = read_migration(ZnodeReader(store, tolerant=tolerant)).phase()
    if not phase.led_by_broker:
        raise led_by_kraft(store.connect_string, phase)


def read_cluster(
    store: Store,
    topics: Iterable[str] | None = None,
    *,
    with_configs: bool = False,
    settle: bool = False,
) -> ClusterState:
    """Read all topics, or those named, and the rest of the state.

    With `settle`, topics that changed while they were read are read again, SETTLE_ATTEMPTS times at
    most; those that still change are in `unsettled`. Raises NotCompletedError for a znode that
    cannot be decoded.
    """
    with _reading():
        return _read(ZnodeReader(store), topics, with_configs=with_configs, settle=settle)


def read_tolerantly(source: ZnodeReader) -> ClusterState:
    """Read all topics and their configs.

    Unreadable znodes are left out, and listed in the details' `unreadable`.
    """
    return _read(source, None, with_configs=True, settle=False)


def read_configs(
    store: Store, entities: Iterable[ConfigEntity]
) -> dict[ConfigEntity, EntityConfig]:
    """Return the configs of topics and brokers.

    Raises NotCompletedError for a znode that cannot be decoded: it must not be overwritten.
    """
    asked = list(entities)
    nodes = store.get_many(list(map(config_path, asked)))
    with _reading():
        return {
            entity: EntityConfig(node, {} if node is None else decode_config(node))
            for entity, node in zip(asked, nodes, strict=True)
        }


def consumer_groups(store: Store, topics: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return, per topic, the old-style groups.

    They consume it now, or have committed offsets in ZooKeeper for it.
    """
    wanted, groups = list(topics), store.children(CONSUMERS) or ()
    used: dict[str, set[str]] = {topic: set() for topic in wanted}
    for kind in ("owners", "offsets"):
        named = store.children_many([group_path(group, kind) for group in groups])
        found = [
            (group, topic)
            for group, names in zip(groups, named, strict=True)
            for topic in names or ()
        ]
        pairs = [(group, topic) for group, topic in found if topic in used]
        below = store.children_many([group_path(group, kind, topic) for group, topic in pairs])
        for (group, topic), children in zip(pairs, below, strict=True):
            if children:
                used[topic].add(group)
    for group, members in registrations(store, groups).items():
        for topic in wanted:
            if any(member.threads(topic) for member in members):
                used[topic].add(group)
    return {topic: tuple(group for group in groups if group in used[topic]) for topic in wanted}


def read_migration(source: ZnodeReader) -> MigrationNodes:
    """Read the znodes of the migration to KRaft.

    Raises NotCompletedError for a znode that cannot be decoded.
    """
    nodes = source.get_many([CONTROLLER, MIGRATION])
    with _reading():
        controller, migration = (
            source.decode(decode_controller, nodes[0]),
            source.decode(decode_migration, nodes[1]),
        )
    brokers = frozenset(int(each) for each in source.children(BROKER_IDS) if each.isdecimal())
    return MigrationNodes(controller, migration, brokers)


def _elsewhere(store: Store) -> str:
    """Name the top-level chroots of this ensemble that have live brokers."""
    try:
        roots = ("", *(f"/{name}" for name in store.children_outside_chroot("/") or ()))
        alive = [root or "no chroot" for root in roots if "ids" in _below(store, f"{root}/brokers")]
    except NotAuthorizedError:
        return ""
    return f"; a Kafka cluster is at: {name_some(alive)}" if alive else ""


def _below(store: Store, path: str) -> tuple[str, ...]:
    return store.children_outside_chroot(path) or ()


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except MalformedZnodeError as error:
        raise NotCompletedError(
            f"A znode cannot be read: {error.path}.",
            cause=error.reason,
            next_step=command("doctor"),
        ) from error


def _read(
    source: ZnodeReader, topics: Iterable[str] | None, *, with_configs: bool, settle: bool
) -> ClusterState:
    store = source.store
    controller_node, epoch_node, id_node, reassignment, election = source.get_many(
        [CONTROLLER, CONTROLLER_EPOCH, CLUSTER_ID, REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION]
    )
    deletions = source.children(DELETE_TOPICS)
    listed = set(topics) if topics is not None else source.children(TOPICS)
    names = sorted(name for name in listed if is_legal_topic_name(name))
    before = store.last_zxid
    found, states = _topics(source, names)
    unsettled: frozenset[str] = frozenset()
    # Without a transaction in the ensemble since the first of these reads, they are one snapshot.
    if settle and epoch_node is not None and store.last_zxid != before:
        unsettled = _settle(source, found, states, epoch_node)
    requests = Requests(
        _request(reassignment, decode_reassignment, found),
        _request(election, lambda data: dict.fromkeys(decode_election(data), ()), {}),
        deletions,
    )
    controller = source.decode(decode_controller, controller_node)
    return ClusterState(
        cluster_id=source.decode(decode_cluster_id, id_node),
        controller=controller,
        controller_epoch=source.decode(decode_controller_epoch, epoch_node) or 0,
        brokers=_brokers(source),
        topics=found,
        states=states,
        requests=requests,
        topic_configs=_topic_configs(source, found) if with_configs else {},
        broker_defaults=configs_of(source, [DEFAULT_ENTITY]).get(DEFAULT_ENTITY, {})
        if with_configs
        else {},
        unsettled=unsettled,
        details=ZooKeeperDetails(
            controller, -1 if epoch_node is None else epoch_node.version, source.unreadable
        ),
    )


def _request(
    node: Znode | None, decode: Callable[[bytes | None], Assignment], topics: Mapping[str, Topic]
) -> PendingRequest | None:
    if node is None:
        return None
    try:
        entries = decode(node.data)
    except MalformedZnodeError:
        return PendingRequest(node.path, None, touched=node.version > 0, fingerprint=node.version)
    return PendingRequest(
        node.path,
        entries,
        touched=node.version > 0,
        probe=set(entries) <= {PROBE_PARTITION},
        not_begun=not_begun(entries, topics),
        fingerprint=node.version,
    )


def not_begun(entries: Assignment, topics: Mapping[str, Topic]) -> tuple[TopicPartition, ...]:
    """Return a reassignment's entries that are not in flight and that a new controller starts."""
    return tuple(
        partition
        for partition, replicas in entries.items()
        if _would_start(partition, replicas, topics)
    )


def _would_start(partition: TopicPartition, wanted: Replicas, topics: Mapping[str, Topic]) -> bool:
    topic = topics.get(partition.topic)
    replicas = None if topic is None else topic.replicas.get(partition.partition)
    if topic is None or replicas is None or partition == PROBE_PARTITION or replicas == wanted:
        return False  # a controller drops it
    if topic.format_version is not None and topic.format_version >= ADDING_AND_REMOVING_SINCE:
        number = partition.partition
        return not topic.is_moving(number)
    return not set(wanted) < set(replicas)


def _brokers(source: ZnodeReader) -> dict[int, Broker]:
    ids = sorted(
        int(name) for name in source.children(BROKER_IDS) if name.isascii() and name.isdigit()
    )
    return dict(source.decode_many({broker: broker_path(broker) for broker in ids}, decode_broker))


def _topics(
    source: ZnodeReader, names: list[str]
) -> tuple[dict[str, Topic], dict[TopicPartition, PartitionState]]:
    found = source.decode_many({name: topic_path(name) for name in names}, decode_topic)
    paths = {each: state_path(each) for topic in found.values() for each in topic.partitions()}
    return dict(found), dict(source.decode_many(paths, lambda _, node: decode_state(node)))


def _settle(
    source: ZnodeReader,
    found: dict[str, Topic],
    states: dict[TopicPartition, PartitionState],
    epoch: Znode,
) -> frozenset[str]:
    # Reads again, in place, what changed since it was read. A new controller may rewrite anything,
    # so after its election everything counts as changed.
    store, doubtful = source.store, frozenset(found)
    for attempt in range(SETTLE_ATTEMPTS):
        now = store.exists(CONTROLLER_EPOCH)
        elected = now is not None and now.version != epoch.version
        doubtful = frozenset(found) if elected else _changed(store, doubtful, found, states)
        if not doubtful or attempt == SETTLE_ATTEMPTS - 1:
            break
        epoch = now or epoch
        fresh, fresh_states = _topics(source, sorted(doubtful))
        for name in doubtful:
            for partition in found.pop(name).partitions():
                states.pop(partition, None)
        found.update(fresh)
        states.update(fresh_states)
        doubtful &= frozenset(fresh)
    return doubtful


def _changed(
    store: Store,
    names: Iterable[str],
    found: Mapping[str, Topic],
    states: Mapping[TopicPartition, PartitionState],
) -> frozenset[str]:
    looked_at = sorted(names)
    partitions = [partition for name in looked_at for partition in found[name].partitions()]
    earlier = [found[name].fingerprint for name in looked_at] + [
        _version(states.get(partition)) for partition in partitions
    ]
    paths = [topic_path(name) for name in looked_at] + [
        state_path(partition) for partition in partitions
    ]
    owners = looked_at + [partition.topic for partition in partitions]
    seen = map(_version, store.exists_many(paths))
    return frozenset(
        owner for owner, before, now in zip(owners, earlier, seen, strict=True) if before != now
    )


def _version(found: Znode | PartitionState | None) -> int:
    if found is None:
        return -1
    return found.fingerprint if isinstance(found, PartitionState) else found.version


def configs_of(
    source: ZnodeReader, entities: Iterable[ConfigEntity]
) -> dict[ConfigEntity, dict[str, str]]:
    """Return the configs of topics and brokers; those without a znode are left out."""
    return source.decode_many(
        {each: config_path(each) for each in entities}, lambda _, node: decode_config(node)
    )


def _topic_configs(source: ZnodeReader, topics: Iterable[str]) -> dict[str, dict[str, str]]:
    return {
        each.name: found
        for each, found in configs_of(source, map(ConfigEntity.of_topic, topics)).items()
    }


def registrations(store: Store, groups: Sequence[str]) -> dict[str, list[ConsumerRegistration]]:
    """Return the live old consumers of each group."""
    ids = store.children_many([group_path(group, "ids") for group in groups])
    members = [
        (group, name) for group, names in zip(groups, ids, strict=True) for name in names or ()
    ]
    nodes = store.get_many([f"{group_path(group, 'ids')}/{name}" for group, name in members])
    found: dict[str, list[ConsumerRegistration]] = {group: [] for group in groups}
    for (group, name), node in zip(members, nodes, strict=True):
        # A registration that cannot be decoded is ignored; owners and offsets still count.
        with suppress(MalformedZnodeError):
            if node is not None:
                found[group].append(decode_registration(name, node))
    return found
