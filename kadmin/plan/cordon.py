"""Cordons: log directories of a broker that get no new replicas (KIP-1066, Kafka 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.config_entity import ConfigEntity

CORDON = "cordoned.log.dirs"
"""The config of a broker with the cordoned directories."""
ALL_DIRS = "*"
"""The value that cordons every directory: the broker itself."""


def is_cordon(entity: ConfigEntity, key: str) -> bool:
    """Whether a config is the cordon of a broker."""
    return key == CORDON and entity.broker_id is not None
