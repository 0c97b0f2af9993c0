"""Snapshot: the inventory of a live cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.reader import read_cluster, require_kafka_cluster
from kadmin.errors import KadminError
from kadmin.inventory import inventory_of
from kadmin.operations.brokers import sizes_of, usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.inventory import Inventory
    from kadmin.operations.runner import Desk


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was taken. `unsettled` names topics whose znodes kept changing while they were read.

    `no_sizes` says why the byte column is empty, None where it is not; `untold` what else the brokers did not tell.
    """

    inventory: Inventory
    brokers: int
    topics: int
    partitions: int
    unsettled: tuple[str, ...]
    no_sizes: str | None
    untold: tuple[str, ...]


def take_snapshot(desk: Desk, sizes: Mapping[TopicPartition, int] | None) -> Snapshot:
    """Read the whole cluster; `sizes` None asks the brokers for them (DescribeLogDirs, 1.1 and later)."""
    state = read_state(desk)
    no_sizes = None
    if sizes is None:
        sizes, no_sizes = _ask_sizes(state)
    usage = usage_of(desk.store, state, state.topics, sizes or {})
    return Snapshot(
        inventory_of(state, sizes, desk.clock.timestamp(), usage),
        len(state.brokers),
        len(state.topics),
        sum(len(topic.replicas) for topic in state.topics.values()),
        tuple(sorted(state.unsettled)),
        no_sizes,
        usage.untold,
    )


def read_state(desk: Desk) -> ClusterState:
    """Read the whole cluster with its configs, each topic until it stood still."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    return read_cluster(desk.store, with_configs=True, settle=True)


def _ask_sizes(state: ClusterState) -> tuple[dict[TopicPartition, int] | None, str | None]:
    try:
        return sizes_of(state), None
    except KadminError as error:
        return None, error.message
