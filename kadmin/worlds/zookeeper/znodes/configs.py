"""Dynamic configs: `/config/<type>/<name>` and the notifications below `/config/changes`.

Values are strings. Brokers read an entity again only on a notification (Kafka: ConfigEntityZNode,
ConfigEntityChangeNotificationZNode; version 2 of the notification from 0.10.1, 1 before).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.payloads import encode
from kadmin.cluster.znode_names import require_element
from kadmin.worlds.zookeeper.znodes.values import (
    MalformedZnodeError,
    decode_json,
    decode_object,
    mapping,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.worlds.zookeeper.model import Znode

CONFIG = "/config"
CONFIG_CHANGES = "/config/changes"
MANY_CONFIG_CHANGES = 10_000
"""Above this number `apply` sets no throttle: each adds notifications, which brokers purge after 15
minutes."""
CONFIG_CHANGE_PREFIX = "/config/changes/config_change_"


def config_path(entity: ConfigEntity) -> str:
    """Return an entity's node."""
    return f"{CONFIG}/{require_element(entity.kind)}/{require_element(entity.name)}"


def desanitize(element: str) -> str:
    """Decode the name of a user or client from a znode's name."""
    return unquote(element)


def decode_config(node: Znode) -> dict[str, str]:
    """Decode an entity's configs; a node with null data, or without the key, has none."""
    if node.data is None:
        return {}
    found = _configs(node.path, decode_object(node.path, node.data).get("config", {}))
    if odd := [
        f"{key} is not a string but {_kind(value)}"
        for key, value in found.items()
        if not isinstance(value, str)
    ]:
        raise MalformedZnodeError(node.path, odd[0])
    return dict(sorted(found.items()))


def encode_config(config: Mapping[str, str]) -> bytes:
    """Encode an entity's configs."""
    return encode({"version": 1, "config": dict(sorted(config.items()))})


def change_config(node: Znode | None, values: Mapping[str, str | None]) -> bytes:
    """Return an entity's data with these values changed (None: deleted).

    Without a node, new data.
    """
    document: dict[str, Any] = {"version": 1, "config": {}}
    if node is not None and node.data is not None:
        document |= decode_object(node.path, node.data)
    kept = {**_configs(node.path if node else "", document["config"]), **values}
    document["config"] = {key: value for key, value in sorted(kept.items()) if value is not None}
    return encode(document)


def _configs(path: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedZnodeError(path, f"config is not an object but {_kind(value)}")
    return value


def _kind(value: object) -> str:
    # A value is never shown: credentials are configs, too.
    return type(value).__name__


def encode_config_change(entity: ConfigEntity) -> bytes:
    """Encode the notification of a change of an entity's configs."""
    return encode({"version": 2, "entity_path": str(entity)})


def decode_config_change(node: Znode) -> str:
    """Decode any version to the entity's path.

    Up to 0.8 the data is a topic's name as a JSON string.
    """
    bare = decode_json(node.path, node.data)
    if isinstance(bare, str):
        return str(ConfigEntity.of_topic(bare))
    value = mapping(node.path, bare, "notification")
    if "entity_path" in value:
        return text(node.path, value["entity_path"], "entity_path")
    entity_type = text(node.path, value.get("entity_type"), "entity_type")
    return str(ConfigEntity(entity_type, text(node.path, value.get("entity_name"), "entity_name")))
