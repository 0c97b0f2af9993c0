"""Znodes as tables.

They are the cluster, controllers, configs, notifications, producer ids, ACLs, the tree, one znode.
"""

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
from kadmin.insight.tables.zookeeper import (
    AclRow,
    ControllerRow,
    NotificationRow,
    ProducerIdsRow,
    TreeRow,
    ZnodeRow,
)
from kadmin.worlds.zookeeper.model import StateNode, details_of
from kadmin.worlds.zookeeper.znodes.catalogue import decoder_of
from kadmin.worlds.zookeeper.znodes.configs import CONFIG
from kadmin.worlds.zookeeper.znodes.security import DELEGATION_TOKENS
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.model import ClusterState
    from kadmin.worlds.zookeeper.model import Acl, Znode
    from kadmin.worlds.zookeeper.znodes.notifications import ProducerIdBlock
    from kadmin.worlds.zookeeper.znodes.security import KafkaAcl

LAST_PRODUCER_ID = 2**63 - 1
_PERMISSIONS = ((1, "read"), (2, "write"), (4, "create"), (8, "delete"), (16, "admin"))


@dataclass(frozen=True, slots=True)
class Look:
    """One znode with its ACL and its number of children."""

    node: Znode
    acl: tuple[Acl, ...]
    children: int


def controller_table(state: ClusterState) -> Table:
    """Return the current controller, and earlier ones that partition states in ZooKeeper name."""
    written: defaultdict[int, list[int]] = defaultdict(list)
    for found in state.states.values():
        if isinstance(found, StateNode):
            written[found.controller_epoch].append(found.written_ms)
    epochs = {*written, state.controller_epoch}
    now = details_of(state).controller

    def row(epoch: int) -> ControllerRow:
        times = written[epoch]
        leads = now if epoch == state.controller_epoch else None
        return ControllerRow(
            epoch,
            leads is not None,
            None if leads is None else leads.broker_id,
            None if leads is None else f"{leads.session_id:#x}",
            None if leads is None else leads.kraft_epoch,
            None if leads is None else moment(leads.since_ms),
            len(times),
            moment(min(times, default=0)),
            moment(max(times, default=0)),
        )

    return Table.of("controller", ControllerRow, map(row, sorted(epochs, reverse=True)))


def notification_table(messages: Iterable[tuple[str, Znode]]) -> Table:
    """Return notifications that are still in ZooKeeper, each with its kind.

    Its subject is its decoded data.
    """

    def row(kind: str, node: Znode) -> NotificationRow:
        decoded, problem = decoded_of(node)
        subject = f"not readable: {problem}" if decoded is None else decoded
        return NotificationRow(node.path, kind, subject, moment(node.created_ms))

    return Table.of("notifications", NotificationRow, (row(*each) for each in messages))


def producer_id_table(block: ProducerIdBlock | None, version: int) -> Table:
    """Return the last block of producer ids, and the number of ids left.

    `version` is the zkVersion of its znode.
    """
    rows = []
    if block is not None:
        rows = [
            ProducerIdsRow(
                block.broker_id, block.first, block.last, LAST_PRODUCER_ID - block.last, version
            )
        ]
    return Table.of("producer-ids", ProducerIdsRow, rows, upright=True)


def acl_table(rules: Iterable[tuple[str, str, str, KafkaAcl]]) -> Table:
    """Return Kafka's ACLs, given as resource type, name, pattern and rule."""
    rows = (
        AclRow(kind, name, pattern, rule.principal, rule.permission, rule.operation, rule.host)
        for kind, name, pattern, rule in rules
    )
    return Table.of("acls", AclRow, rows)


def tree_table(nodes: Iterable[tuple[Znode, int | None]]) -> Table:
    """Return znodes with the number of their children, None where ZooKeeper denies the list."""

    def row(node: Znode, children: int | None) -> TreeRow:
        size = 0 if node.data is None else len(node.data)
        return TreeRow(
            node.path, size, children, node.version, node.ephemeral_owner != 0, _condition(node)
        )

    return Table.of("tree", TreeRow, (row(*each) for each in nodes))


def znode_table(looks: Iterable[Look]) -> Table:
    """Return one znode with metadata, data and decoded value, without credentials.

    No row where it is unreadable.
    """
    return Table.of("znode", ZnodeRow, map(_znode_row, looks), upright=True)


def _znode_row(look: Look) -> ZnodeRow:
    node = look.node
    decoded, problem = decoded_of(node)
    return ZnodeRow(
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
    """Return the data as JSON, or the reason that it cannot be decoded.

    Both None where no codec is for the path.
    """
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
