"""Resolves min.insync.replicas of a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState

MIN_INSYNC_REPLICAS = "min.insync.replicas"


def min_insync_replicas(topic: str, state: ClusterState, brokers_own: int = 1) -> int:
    """Return a topic's min.insync.replicas.

    It is its own config, else the cluster-wide dynamic default, else `brokers_own`. `brokers_own`
    is used because a broker's properties file is not readable from outside. 1 for a value that is
    no number.
    """
    default = state.broker_defaults.get(MIN_INSYNC_REPLICAS, str(brokers_own))
    wanted = state.topic_configs.get(topic, {}).get(MIN_INSYNC_REPLICAS, default)
    return int(wanted) if wanted.isascii() and wanted.isdigit() else 1
