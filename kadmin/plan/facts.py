"""Facts of a cluster beside its state; an unknown fact is None or empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import TopicPartition


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Facts that guards ask for.

    `cluster_id` is that of the inventory that they come from. `sizes` are bytes per partition, `capacities` bytes per
    broker, `links` the bytes per second that a broker's network carries each way, `usable` the bytes that each broker
    that was asked can still write; `inbound` is what producers write to a partition, in bytes per second. `consumers`
    maps a topic to the groups that use it; `obscure_groups` are those whose topics are not all known.
    `deletion_enabled` and `topics_create_themselves` are delete.topic.enable and auto.create.topics.enable of the
    brokers. `unavailable` says what the brokers did not answer, and why; `disks_unavailable` says so of their disks,
    `hidden_topics` which topics they hold and did not show.
    """

    consumers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    obscure_groups: tuple[str, ...] = ()
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    inbound: Mapping[TopicPartition, float] = field(default_factory=dict)
    capacities: Mapping[int, int] = field(default_factory=dict)
    links: Mapping[int, float] = field(default_factory=dict)
    usable: Mapping[int, int | None] = field(default_factory=dict)
    deletion_enabled: bool | None = None
    topics_create_themselves: bool | None = None
    unavailable: tuple[str, ...] = ()
    disks_unavailable: tuple[str, ...] = ()
    hidden_topics: tuple[str, ...] = ()
    cluster_id: str | None = None
