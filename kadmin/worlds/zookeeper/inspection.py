"""Reads the tables of `inspect`; znodes that cannot be read are left out and named."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.errors import StalePlanError
from kadmin.insight.tables.configs import config_table
from kadmin.insight.tables.inspection import Inspection
from kadmin.insight.tables.partitions import (
    broker_table,
    cluster_table,
    partition_table,
    topic_table,
)
from kadmin.next_step import command
from kadmin.operations.reading.brokers import held_by
from kadmin.worlds.zookeeper.doctor.admin_nodes import entry_table, read_node
from kadmin.worlds.zookeeper.doctor.gather import versions_of
from kadmin.worlds.zookeeper.reader import read_tolerantly, require_kafka_cluster
from kadmin.worlds.zookeeper.tables import znodes as facts
from kadmin.worlds.zookeeper.tables.old_consumers import GroupZnode, OldGroup, consumer_table
from kadmin.worlds.zookeeper.wire.znode_reader import ZnodeReader
from kadmin.worlds.zookeeper.znodes.admin import (
    DELETE_TOPICS,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
)
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES, decode_config, desanitize
from kadmin.worlds.zookeeper.znodes.consumers import (
    CONSUMERS,
    decode_offset,
    decode_owner,
    decode_registration,
    partition_of,
)
from kadmin.worlds.zookeeper.znodes.notifications import (
    ISR_CHANGES,
    LOG_DIR_EVENTS,
    PRODUCER_ID_BLOCK,
    decode_producer_id_block,
)
from kadmin.worlds.zookeeper.znodes.security import (
    EXTENDED_ACL_CHANGES,
    EXTENDED_ACLS,
    LITERAL_ACL_CHANGES,
    LITERAL_ACLS,
    decode_acls,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kadmin.insight.tables.table import Table
    from kadmin.worlds.zookeeper.context import ZooKeeperContext
    from kadmin.worlds.zookeeper.model import Znode
    from kadmin.worlds.zookeeper.znodes.security import KafkaAcl

_MESSAGES = {
    CONFIG_CHANGES: "config",
    ISR_CHANGES: "isr",
    LOG_DIR_EVENTS: "log-dir-of-broker",
    LITERAL_ACL_CHANGES: "acl",
    EXTENDED_ACL_CHANGES: "acl",
}


def inspect(context: ZooKeeperContext, name: str) -> Inspection:
    """Read one of TABLES.

    For the table of brokers, live ones are asked for the bytes on their disks.
    """
    return _inspection(context, partial(TABLES[name], context))


def inspect_tree(context: ZooKeeperContext, path: str, depth: int) -> Inspection:
    """Read a znode and `depth` levels below it; raises StalePlanError where it does not exist."""
    return _inspection(
        context,
        partial(_tabled, lambda source: facts.tree_table(_tree(source, path, depth)), context),
    )


def inspect_znode(context: ZooKeeperContext, path: str) -> Inspection:
    """Read one znode; raises StalePlanError where it does not exist."""
    return _inspection(context, partial(_tabled, lambda source: _znode(source, path), context))


def _inspection(context: ZooKeeperContext, read: Callable[[ZnodeReader], Inspection]) -> Inspection:
    require_kafka_cluster(context.store, tolerant=True)
    context.store.sync("/")
    return read(ZnodeReader(context.store, tolerant=True))


def _tabled(
    read: Callable[[ZnodeReader], Table], _context: ZooKeeperContext, source: ZnodeReader
) -> Inspection:
    table = read(source)
    return Inspection(table, source.unreadable)


def _brokers(context: ZooKeeperContext, source: ZnodeReader) -> Inspection:
    state = read_tolerantly(source)
    held = held_by(state, context.backend.brokers(state))
    return Inspection(broker_table(state, held.by_broker), source.unreadable, held.unavailable)


def _cluster(source: ZnodeReader) -> Table:
    state = read_tolerantly(source)
    return cluster_table(state, str(versions_of(source, state)))


def _admin_entries(source: ZnodeReader) -> Table:
    # The nodes first: a reassignment that completes between the two reads is then shown at its
    # target.
    nodes = source.get_many([REASSIGN_PARTITIONS, PREFERRED_REPLICA_ELECTION])
    deletions, state = source.children(DELETE_TOPICS), read_tolerantly(source)
    return entry_table(
        [read_node(node, state) for node in nodes if node is not None], deletions, state
    )


def _configs(source: ZnodeReader) -> Table:
    entities = [
        ConfigEntity(kind, name)
        for kind in source.children(CONFIG)
        if kind != "changes"
        for name in source.children(f"{CONFIG}/{kind}")
    ]
    users = [each for each in entities if each.kind == "users"]
    clients = source.children_many([f"{CONFIG}/{user}/clients" for user in users])
    entities += [
        ConfigEntity(user.kind, f"{user.name}/clients/{each}")
        for user, names in zip(users, clients, strict=True)
        for each in names or ()
    ]
    values = source.decode_many(
        {each: f"{CONFIG}/{each}" for each in entities}, lambda _, node: decode_config(node)
    )
    configs = {
        ConfigEntity(each.kind, desanitize(each.name)): found for each, found in values.items()
    }
    return config_table(configs, read_tolerantly(source))


def _notifications(source: ZnodeReader) -> Table:
    return facts.notification_table(
        (kind, node) for folder, kind in _MESSAGES.items() for node in _nodes(source, folder)
    )


def _producer_ids(source: ZnodeReader) -> Table:
    node = source.get(PRODUCER_ID_BLOCK)
    block = source.decode(decode_producer_id_block, node)
    return facts.producer_id_table(block, -1 if node is None else node.version)


def _acls(source: ZnodeReader) -> Table:
    literal = [
        ("literal", kind, f"{LITERAL_ACLS}/{kind}") for kind in source.children(LITERAL_ACLS)
    ]
    extended = [
        (pattern, kind, f"{EXTENDED_ACLS}/{pattern}/{kind}")
        for pattern in source.children(EXTENDED_ACLS)
        for kind in source.children(f"{EXTENDED_ACLS}/{pattern}")
    ]

    def rules() -> Iterator[tuple[str, str, str, KafkaAcl]]:
        for pattern, kind, folder in literal + extended:
            names = source.children(folder)
            for name, node in zip(
                names, source.get_many([f"{folder}/{each}" for each in names]), strict=True
            ):
                for rule in source.decode(decode_acls, node) or ():
                    yield kind, name, pattern, rule

    return facts.acl_table(rules())


def _consumers(source: ZnodeReader) -> Table:
    return consumer_table(_old_group(source, group) for group in source.children(CONSUMERS))


def _old_group(source: ZnodeReader, group: str) -> OldGroup:
    base = f"{CONSUMERS}/{group}"
    alive = source.children(f"{base}/ids")
    unknown = any(each.path == f"{base}/ids" for each in source.unreadable)
    members = source.decode_many(
        {name: f"{base}/ids/{name}" for name in alive}, decode_registration
    )
    return OldGroup(
        group,
        None if unknown else frozenset(alive),
        tuple(members.values()),
        tuple(_kept(source, f"{base}/owners", decode_owner)),
        tuple(_kept(source, f"{base}/offsets", decode_offset)),
    )


def _kept(
    source: ZnodeReader, folder: str, decode: Callable[[Znode], object]
) -> Iterator[GroupZnode]:
    for topic in source.children(folder):
        for node in _nodes(source, f"{folder}/{topic}"):
            partition = source.decode(lambda each: partition_of(_last(each.path)), node)
            yield GroupZnode(topic, _last(node.path), partition, _text(source.decode(decode, node)))


def _nodes(source: ZnodeReader, folder: str) -> list[Znode]:
    names = source.children(folder)
    return [
        node for node in source.get_many([f"{folder}/{name}" for name in names]) if node is not None
    ]


def _tree(source: ZnodeReader, path: str, depth: int) -> list[tuple[Znode, int | None]]:
    found: list[tuple[Znode, int | None]] = []
    level: Sequence[str] = [path]
    for distance in range(depth + 1):
        if not level:
            break
        nodes = source.get_many(level)
        children = source.children_many(level)
        found += [
            (node, None if names is None else len(names))
            for node, names in zip(nodes, children, strict=True)
            if node is not None
        ]
        if distance == 0 and not found and not source.unreadable:
            raise _absent(path)
        level = [
            f"{at.rstrip('/')}/{name}"
            for at, names in zip(level, children, strict=True)
            for name in names or ()
        ]
    return sorted(found, key=lambda each: each[0].path.split("/"))


def _znode(source: ZnodeReader, path: str) -> Table:
    node = source.get(path)
    if node is None and not source.unreadable:
        raise _absent(path)
    looks = [] if node is None else [facts.Look(node, source.acl(path), len(source.children(path)))]
    return facts.znode_table(looks)


def _absent(path: str) -> StalePlanError:
    return StalePlanError(
        f"There is no znode {path}.",
        next_step=command("inspect tree", path.rpartition("/")[0] or "/"),
    )


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _text(value: object) -> str | None:
    return None if value is None else str(value)


_IN_ZOOKEEPER: Mapping[str, Callable[[ZnodeReader], Table]] = {
    "topics": lambda source: topic_table(read_tolerantly(source)),
    "partitions": lambda source: partition_table(read_tolerantly(source)),
    "controller": lambda source: facts.controller_table(read_tolerantly(source)),
    "admin-entries": _admin_entries,
    "cluster": _cluster,
    "configs": _configs,
    "consumers": _consumers,
    "notifications": _notifications,
    "producer-ids": _producer_ids,
    "acls": _acls,
}
TABLES: Mapping[str, Callable[[ZooKeeperContext, ZnodeReader], Inspection]] = {
    "brokers": _brokers,
    **{name: partial(_tabled, read) for name, read in _IN_ZOOKEEPER.items()},
}
"""The tables of a cluster, by their names on the command line."""
