"""Snapshot: the inventory of a live cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import KadminError
from kadmin.inventory import inventory_of
from kadmin.operations.reading.brokers import sizes_of, usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.inventory import Inventory
    from kadmin.operations.context import Context


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot. `unsettled` names topics that kept changing while they were read.

    `no_sizes` says why the byte column is empty, None where it is filled; `unavailable` what else
    brokers did not answer.
    """

    inventory: Inventory
    brokers: int
    topics: int
    partitions: int
    unsettled: tuple[str, ...]
    no_sizes: str | None
    unavailable: tuple[str, ...]


def take_snapshot(context: Context, sizes: Mapping[TopicPartition, int] | None) -> Snapshot:
    """Read the whole cluster; `sizes` None asks the brokers for them (DescribeLogDirs, 1.1 and later)."""
    state = read_state(context)
    no_sizes = None
    if sizes is None:
        sizes, no_sizes = ask_sizes(state)
    usage = usage_of(context.backend, state, state.topics, sizes or {})
    return Snapshot(
        inventory_of(state, sizes, context.clock.timestamp(), usage),
        len(state.brokers),
        len(state.topics),
        sum(len(topic.replicas) for topic in state.topics.values()),
        tuple(sorted(state.unsettled)),
        no_sizes,
        usage.unavailable,
    )


def read_state(context: Context) -> ClusterState:
    """Read the whole cluster with its configs, topics until they stop changing."""
    context.backend.check()
    return context.backend.read(with_configs=True, settle=True)


def ask_sizes(state: ClusterState) -> tuple[dict[TopicPartition, int] | None, str | None]:
    """Ask the live brokers for the bytes of each partition; None with the reason where they do not answer."""
    try:
        return sizes_of(state), None
    except KadminError as error:
        return None, error.message
