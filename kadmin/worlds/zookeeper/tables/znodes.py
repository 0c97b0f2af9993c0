"""Znodes as tables: the cluster, controllers, configs, notifications, producer ids, ACLs, the tree, one znode."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.names import escaped
from kadmin.insight.tables.configs import HIDDEN, SECRET
from kadmin.insight.tables.table import Table, moment
from kadmin.worlds.zookeeper.model import StateNode, details_of
from kadmin.worlds.zookeeper.znodes.catalogue import decoder_of
from kadmin.worlds.zookeeper.znodes.configs import CONFIG
from kadmin.worlds.zookeeper.znodes.security import DELEGATION_TOKENS
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.insight.tables.table import Cell
    from kadmin.worlds.zookeeper.model import Acl, Znode
    from kadmin.worlds.zookeeper.znodes.notifications import ProducerIdBlock
    from kadmin.worlds.zookeeper.znodes.security import KafkaAcl

LAST_PRODUCER_ID = 2**63 - 1
CONTROLLER = (
    "epoch",
    "current",
    "broker_id",
    "session_id",
    "kraft_epoch",
    "elected",
    "partition_states",
    "first_write",
    "last_write",
)
NOTIFICATIONS = ("path", "kind", "subject", "since")
PRODUCER_IDS = ("broker_id", "first_id", "last_id", "ids_left", "blocks_handed_out")
ACLS = ("resource_type", "name", "pattern", "principal", "permission", "operation", "host")
TREE = ("path", "size_bytes", "children", "version", "ephemeral", "condition")
ZNODE = (
    "path",
    "version",
    "cversion",
    "czxid",
    "mzxid",
    "created",
    "modified",
    "ephemeral_owner",
    "acl",
    "children",
    "size_bytes",
    "data",
    "decoded",
    "problem",
)
_PERMISSIONS = ((1, "read"), (2, "write"), (4, "create"), (8, "delete"), (16, "admin"))


@dataclass(frozen=True, slots=True)
class Look:
    """One znode with its ACL and its number of children."""

    node: Znode
    acl: tuple[Acl, ...]
    children: int


def controller_table(state: ClusterState) -> Table:
    """Return the current controller, and the earlier ones whose partition states are still in ZooKeeper."""
    written: defaultdict[int, list[int]] = defaultdict(list)
    for found in state.states.values():
        if isinstance(found, StateNode):
            written[found.controller_epoch].append(found.written_ms)
    epochs = {*written, state.controller_epoch}
    now = details_of(state).controller

    def row(epoch: int) -> tuple[Cell, ...]:
        times = written[epoch]
        if epoch != state.controller_epoch or now is None:
            who: tuple[Cell, ...] = (False, None, None, None, None)
        else:
            who = (True, now.broker_id, f"{now.session_id:#x}", now.kraft_epoch, moment(now.since_ms))
        return (epoch, *who, len(times), *(moment(each) for each in (min(times, default=0), max(times, default=0))))

    return Table.of("controller", CONTROLLER, (row(epoch) for epoch in sorted(epochs, reverse=True)))


def notification_table(messages: Iterable[tuple[str, Znode]]) -> Table:
    """Return notifications that are still in ZooKeeper, each with its kind; its subject is its decoded data."""

    def row(kind: str, node: Znode) -> tuple[Cell, ...]:
        decoded, problem = decoded_of(node)
        subject = f"not readable: {problem}" if decoded is None else decoded
        return (node.path, kind, subject, moment(node.created_ms))

    return Table.of("notifications", NOTIFICATIONS, (row(*each) for each in messages))


def producer_id_table(block: ProducerIdBlock | None, version: int) -> Table:
    """Return the last block of producer ids, and the number of ids left; `version` is the zkVersion of its znode."""
    rows: list[tuple[Cell, ...]] = []
    if block is not None:
        rows = [(block.broker_id, block.first, block.last, LAST_PRODUCER_ID - block.last, version)]
    return Table.of("producer-ids", PRODUCER_IDS, rows, upright=True)


def acl_table(rules: Iterable[tuple[str, str, str, KafkaAcl]]) -> Table:
    """Return Kafka's ACLs, given as resource type, name, pattern and rule."""
    rows = (
        (kind, name, pattern, rule.principal, rule.permission, rule.operation, rule.host)
        for kind, name, pattern, rule in rules
    )
    return Table.of("acls", ACLS, rows)


def tree_table(nodes: Iterable[tuple[Znode, int | None]]) -> Table:
    """Return znodes with the number of their children, None where ZooKeeper denies the list."""

    def row(node: Znode, children: int | None) -> tuple[Cell, ...]:
        size = 0 if node.data is None else len(node.data)
        return (node.path, size, children, node.version, node.ephemeral_owner != 0, _condition(node))

    return Table.of("tree", TREE, (row(*each) for each in nodes))


def znode_table(looks: Iterable[Look]) -> Table:
    """Return one znode with metadata, data and decoded value, without credentials; no row where it is unreadable."""
    return Table.of("znode", ZNODE, map(_znode_row, looks), upright=True)


def _znode_row(look: Look) -> tuple[Cell, ...]:
    node = look.node
    decoded, problem = decoded_of(node)
    return (
        node.path,
        node.version,
        node.cversion,
        node.czxid,
        node.mzxid,
        moment(node.created_ms),
        moment(node.modified_ms),
        f"{node.ephemeral_owner:#x}" if node.ephemeral_owner else None,
        tuple(f"{acl.scheme}:{acl.credential}={_permissions(acl.permissions)}" for acl in look.acl),
        look.children,
        0 if node.data is None else len(node.data),
        HIDDEN if node.data and holds_secrets(node.path) else _text(node.data),
        decoded,
        problem,
    )


def decoded_of(node: Znode) -> tuple[str | None, str | None]:
    """Return the decoded data as JSON, or why it cannot be decoded; both None where no codec knows the path."""
    decoder = decoder_of(node.path)
    if decoder is None:
        return None, None
    try:
        value = decoder(node)
    except MalformedZnodeError as error:
        return None, error.reason
    if isinstance(value, Mapping):
        value = {key: HIDDEN if SECRET.search(str(key)) else each for key, each in value.items()}
    return json.dumps(_plain(value), ensure_ascii=False), None


def _condition(node: Znode) -> str | None:
    decoded, problem = decoded_of(node)
    return "decoded" if decoded is not None else problem


def holds_secrets(path: str) -> bool:
    """Whether a znode may hold credentials, so that its data is hidden."""
    return path.startswith((f"{CONFIG}/users/", f"{CONFIG}/brokers/", f"{DELEGATION_TOKENS}/"))


def _text(data: bytes | None) -> str | None:
    return None if data is None else escaped(data, len(data))


def _permissions(bits: int) -> str:
    return "+".join(word for bit, word in _PERMISSIONS if bits & bit)


def _plain(value: object) -> Any:  # noqa: ANN401 - any value of JSON
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [str(each) if isinstance(each, TopicPartition) else _plain(each) for each in value]
    return value
