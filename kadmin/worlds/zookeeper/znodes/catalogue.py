"""Finds the decoder of a znode by its path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

from kadmin.worlds.zookeeper.znodes import (
    admin,
    brokers,
    configs,
    consumers,
    controller,
    notifications,
    security,
    topics,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.worlds.zookeeper.model import Znode

Decoder: TypeAlias = "Callable[[Znode], object]"

# Each pattern is matched against the whole path.
_DECODERS: tuple[tuple[str, Decoder], ...] = (
    (admin.REASSIGN_PARTITIONS, lambda node: admin.decode_reassignment(node.data)),
    (admin.PREFERRED_REPLICA_ELECTION, lambda node: admin.decode_election(node.data)),
    (brokers.BROKER_IDS + "/[0-9]+", lambda node: brokers.decode_broker(int(_last(node)), node)),
    (topics.TOPICS + "/[^/]+", lambda node: topics.decode_topic(_last(node), node)),
    (topics.TOPICS + "/[^/]+/partitions/[0-9]+/state", topics.decode_state),
    (controller.CONTROLLER, controller.decode_controller),
    (controller.CONTROLLER_EPOCH, controller.decode_controller_epoch),
    (controller.CLUSTER_ID, controller.decode_cluster_id),
    (controller.FEATURE, controller.decode_features),
    (controller.MIGRATION, controller.decode_migration),
    (configs.CONFIG_CHANGE_PREFIX + "[0-9]+", configs.decode_config_change),
    (configs.CONFIG + "/(topics|brokers|clients|users|ips)/[^/]+", configs.decode_config),
    (configs.CONFIG + "/users/[^/]+/clients/[^/]+", configs.decode_config),
    (notifications.ISR_CHANGES + "/isr_change_[0-9]+", notifications.decode_isr_change),
    (notifications.LOG_DIR_EVENTS + "/log_dir_event_[0-9]+", notifications.decode_log_dir_event),
    (notifications.PRODUCER_ID_BLOCK, notifications.decode_producer_id_block),
    (
        consumers.CONSUMERS + "/[^/]+/ids/[^/]+",
        lambda node: consumers.decode_registration(_last(node), node),
    ),
    (consumers.CONSUMERS + "/[^/]+/owners/[^/]+/[^/]+", consumers.decode_owner),
    (consumers.CONSUMERS + "/[^/]+/offsets/[^/]+/[^/]+", consumers.decode_offset),
    (security.LITERAL_ACLS + "/[^/]+/[^/]+", security.decode_acls),
    (security.EXTENDED_ACLS + "/[^/]+/[^/]+/[^/]+", security.decode_acls),
    (
        f"({security.LITERAL_ACL_CHANGES}|{security.EXTENDED_ACL_CHANGES})/acl_changes_[0-9]+",
        security.decode_acl_change,
    ),
    (security.DELEGATION_TOKENS + "/[^/]+", security.decode_delegation_token),
)
_COMPILED = tuple((re.compile(pattern), decoder) for pattern, decoder in _DECODERS)


def decoder_of(path: str) -> Decoder | None:
    """Return the decoder of a znode, None where the path is only a parent or is not Kafka's.

    Decoders raise MalformedZnodeError.
    """
    return next((decoder for pattern, decoder in _COMPILED if pattern.fullmatch(path)), None)


def _last(node: Znode) -> str:
    return node.path.rpartition("/")[2]
