"""The view of a cluster that rules compare documents with, from a snapshot or a live reading."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.plan.facts import ClusterFacts
from kadmin.plan.progress import in_flight

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition


@dataclass(frozen=True)
class ClusterView:
    """The state and facts of one cluster, with every topic.

    `live` is True where a command is about to act: requests that are pending then count.
    """

    state: ClusterState
    facts: ClusterFacts = field(default_factory=ClusterFacts)
    live: bool = False

    @cached_property
    def racks(self) -> Mapping[int, str | None]:
        """The rack of every broker that is known: alive, fenced, or holding a replica."""
        held = chain.from_iterable(self.state.assignment.values())
        listed = {**(self.state.fenced_brokers or {}), **self.state.brokers}
        return {**dict.fromkeys(held), **{broker: found.rack for broker, found in listed.items()}}

    @cached_property
    def unsized(self) -> int:
        """The number of partitions of unknown size."""
        return sum(partition not in self.facts.sizes for partition in self.state.assignment)

    @property
    def why_unsized(self) -> tuple[str, ...]:
        """The reasons of brokers for sizes that they did not report.

        Empty where every size is known.
        """
        return self.facts.disks_unavailable if self.unsized else ()

    @cached_property
    def in_flight(self) -> frozenset[TopicPartition]:
        """The partitions that are being reassigned."""
        return frozenset(in_flight(self.state))
