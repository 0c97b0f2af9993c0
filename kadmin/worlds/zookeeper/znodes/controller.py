"""The controller and the cluster.

The znodes are `/controller`, `/controller_epoch`, `/cluster/id`, `/migration`, `/feature`.
`/controller` version 1: brokerid, timestamp; 2 (3.4+) adds kraftControllerEpoch, which is -1 in
ZooKeeper mode. The zkVersion of `/controller_epoch` is the fencing token of every controller write
from 2.2 on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.payloads import encode
from kadmin.worlds.zookeeper.model import ControllerNode
from kadmin.worlds.zookeeper.znodes.values import decimal, decode_object, integer, mapping, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.worlds.zookeeper.model import Znode

CONTROLLER = "/controller"
CONTROLLER_EPOCH = "/controller_epoch"
CLUSTER_ID = "/cluster/id"
MIGRATION = "/migration"
FEATURE = "/feature"


@dataclass(frozen=True, slots=True)
class Migration:
    """The state of a migration to KRaft.

    It has its controller, and the last offset of its metadata log that is in ZooKeeper. Both are -1
    before it begins.
    """

    kraft_controller_id: int
    metadata_offset: int


@dataclass(frozen=True, slots=True)
class Features:
    """Finalized features, 2.7+: whether versioning is on, and each feature's highest level."""

    format_version: int
    enabled: bool
    levels: Mapping[str, int]


def decode_controller(node: Znode) -> ControllerNode:
    """Decode version 1 or 2; the ephemeral owner is the controller's session."""
    value = decode_object(node.path, node.data)
    kraft_epoch = value.get("kraftControllerEpoch")
    return ControllerNode(
        broker_id=integer(node.path, value.get("brokerid"), "brokerid"),
        session_id=node.ephemeral_owner,
        kraft_epoch=None
        if kraft_epoch is None
        else integer(node.path, kraft_epoch, "kraftControllerEpoch"),
        since_ms=node.created_ms,
    )


def encode_placeholder() -> bytes:
    """Encode a `/controller` without a broker (id -1); its deletion makes brokers elect one."""
    return encode({"version": 1, "brokerid": -1, "timestamp": "0"})


def decode_controller_epoch(node: Znode) -> int:
    """Decode the count of controller elections."""
    return decimal(node.path, node.data)


def decode_cluster_id(node: Znode) -> str:
    """Decode the cluster's 22 characters; the JSON's own version is a string, "1"."""
    return text(node.path, decode_object(node.path, node.data).get("id"), "id")


def decode_migration(node: Znode) -> Migration:
    """Decode the migration state, version 0."""
    value = decode_object(node.path, node.data)
    controller, offset = (
        integer(node.path, value.get(key, -1), key)
        for key in ("kraft_controller_id", "kraft_metadata_offset")
    )
    return Migration(controller, offset)


def decode_features(node: Znode) -> Features:
    """Decode `/feature`, version 1 (2.7 and 2.8: ranges) or 2 (later: levels)."""
    value = decode_object(node.path, node.data)
    found = mapping(node.path, value.get("features"), "features")
    return Features(
        format_version=integer(node.path, value.get("version"), "version"),
        enabled=integer(node.path, value.get("status"), "status") == 1,
        levels={name: _level(node.path, level) for name, level in sorted(found.items())},
    )


def _level(path: str, level: object) -> int:
    most = level.get("max_version_level") if isinstance(level, dict) else level
    return integer(path, most, "feature level")
