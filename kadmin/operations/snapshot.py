"""Snapshot: the inventory of a live cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.log_dirs import largest
from kadmin.cluster.reader import consumer_groups, read_cluster, require_kafka_cluster
from kadmin.cluster.rpc import describe_log_dirs
from kadmin.errors import KadminError, NotCompletedError
from kadmin.inventory import inventory_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.inventory import Inventory
    from kadmin.operations.runner import Desk


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was taken. `unsettled` names topics whose znodes kept changing while they were read.

    `no_sizes` says why the byte column is empty, None where it is not.
    """

    inventory: Inventory
    brokers: int
    topics: int
    partitions: int
    unsettled: tuple[str, ...]
    no_sizes: str | None


def take_snapshot(desk: Desk, sizes: Mapping[TopicPartition, int] | None) -> Snapshot:
    """Read the whole cluster; `sizes` None asks the brokers for them (DescribeLogDirs, 1.1 and later)."""
    state = read_state(desk)
    no_sizes = None
    if sizes is None:
        sizes, no_sizes = ask_sizes(state)
    return Snapshot(
        inventory_of(state, sizes, desk.clock.timestamp(), consumer_groups(desk.store, state.topics)),
        len(state.brokers),
        len(state.topics),
        sum(len(topic.replicas) for topic in state.topics.values()),
        tuple(sorted(state.unsettled)),
        no_sizes,
    )


def read_state(desk: Desk) -> ClusterState:
    """Read the whole cluster with its configs, each topic until it stood still."""
    desk.store.sync("/")
    require_kafka_cluster(desk.store)
    return read_cluster(desk.store, with_configs=True, settle=True)


def log_dirs_of(state: ClusterState) -> dict[int, dict[TopicPartition, int]]:
    """Ask the live brokers for the bytes of every replica on their disks, by broker (DescribeLogDirs, 1.1 and later).

    Raises NotCompletedError or UnreachableError where they cannot be asked.
    """
    plain = [
        f"{endpoint.host}:{endpoint.port}"
        for broker in state.brokers.values()
        for endpoint in broker.endpoints
        if endpoint.security_protocol == "PLAINTEXT"
    ]
    if not plain:
        raise NotCompletedError("no broker has a PLAINTEXT listener")
    return describe_log_dirs(plain)


def ask_sizes(state: ClusterState) -> tuple[dict[TopicPartition, int] | None, str | None]:
    """Ask the live brokers for the bytes of each partition; None, and why, where they cannot be asked."""
    try:
        described = log_dirs_of(state)
    except KadminError as error:
        return None, error.message
    # A follower may lag behind or hold more after a truncation: the largest replica is what a copy will cost.
    return largest([replica for broker in described.values() for replica in broker.items()]), None
