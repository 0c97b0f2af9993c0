"""Snapshot: the inventory of a live cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.inventory import inventory_of
from kadmin.operations.reading.brokers import with_usage
from kadmin.operations.reading.tiers import with_tiers
from kadmin.plan.rules import ClusterView
from kadmin.plan.tiers import tiered_bytes

if TYPE_CHECKING:
    from kadmin.cluster.model import ClusterState
    from kadmin.inventory import Inventory
    from kadmin.operations.context import Context
    from kadmin.plan.facts import ClusterFacts
    from kadmin.plan.tiers import TieredBytes


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A snapshot. `unsettled` names topics that kept changing while they were read.

    `disks` counts log directories, `tiered` adds up the tiered partitions. `no_sizes` says why the
    byte column is empty, None where it is filled; `unavailable` what else brokers did not answer.
    """

    inventory: Inventory
    brokers: int
    topics: int
    partitions: int
    disks: int
    unsettled: tuple[str, ...]
    no_sizes: str | None
    unavailable: tuple[str, ...]
    tiered: TieredBytes | None = None


def take_snapshot(context: Context, given: ClusterFacts) -> Snapshot:
    """Read the whole cluster, and ask the brokers for facts that were not given.

    Sizes are known from 1.1 on.
    """
    state = read_state(context)
    facts = with_usage(given, context.backend, state, state.topics)
    facts = with_tiers(facts, state, context.backend.brokers(state), state.topics)
    no_sizes = "; ".join(ClusterView(state, facts).why_unsized) or None
    return Snapshot(
        inventory_of(
            state, facts.sizes, context.clock.timestamp(), facts, context.backend.capabilities.mode
        ),
        len(state.brokers),
        len(state.topics),
        sum(len(topic.replicas) for topic in state.topics.values()),
        sum(map(len, facts.disks.values())),
        tuple(sorted(state.unsettled)),
        no_sizes,
        (
            *facts.unavailable,
            *(facts.disks_unavailable if no_sizes is None else ()),
            *facts.hidden_topics,
        ),
        tiered_bytes(state.assignment, state, facts),
    )


def read_state(context: Context) -> ClusterState:
    """Read the whole cluster with its configs, topics until they stop changing."""
    context.backend.check()
    return context.backend.read(with_configs=True, settle=True)
