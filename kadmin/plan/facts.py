"""Facts of a cluster beside its state; an unknown fact is None or empty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from kadmin.cluster.disks import Disk, DiskReplica
    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.hours import Window
    from kadmin.plan.signals import KnownSignals


class WeeklyLoad(Protocol):
    """The load of a cluster's partitions in each hour of a week."""

    def quiet_windows(
        self, state: ClusterState, broker_ids: Collection[int], most: float
    ) -> tuple[Window, ...]:
        """Return the windows, in UTC, in which each broker has at most a part of its own peak.

        None where some broker always has more. Raises InvalidInputError for the history of another
        cluster.
        """
        ...


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """Facts that guards check.

    `cluster_id` is that of the inventory that they come from. `sizes` are bytes per partition on
    the disk of a replica, `tiered_sizes` estimates of those with remote storage, of partitions of
    tiered topics alone; `capacities` bytes per broker, `links` the bytes per second that a broker's
    network carries each way, `usable` the bytes that each broker that was asked can still write;
    `disks` are the known ones of each broker, and `replicas` those on them; `inbound` is what
    producers write to a partition, in bytes per second. `consumers` maps a topic to the groups that
    use it; `internal_topics` are those that brokers flag as internal. `deletion_enabled` and
    `topics_create_themselves` are delete.topic.enable and auto.create.topics.enable of the brokers,
    `cleanup_policy` is their log.cleanup.policy.
    `unavailable` are facts that the brokers did not answer, each with the reason,
    `disks_unavailable` those of their disks, `hidden_topics` topics that they hold and did not
    show. `signals` are those of the context that names the cluster. `from_brokers`: brokers were
    asked for the facts now, and can be asked again. `elects_by_config`: brokers serve no request
    for an unclean election, which the config of a topic allows instead (before Kafka 2.4). `load`
    is the load history that the plan's hours name.
    """

    consumers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    internal_topics: frozenset[str] = frozenset()
    sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    tiered_sizes: Mapping[TopicPartition, int] = field(default_factory=dict)
    inbound: Mapping[TopicPartition, float] = field(default_factory=dict)
    capacities: Mapping[int, int] = field(default_factory=dict)
    links: Mapping[int, float] = field(default_factory=dict)
    usable: Mapping[int, int | None] = field(default_factory=dict)
    disks: Mapping[int, tuple[Disk, ...]] = field(default_factory=dict)
    replicas: Mapping[int, tuple[DiskReplica, ...]] = field(default_factory=dict)
    deletion_enabled: bool | None = None
    topics_create_themselves: bool | None = None
    cleanup_policy: str | None = None
    unavailable: tuple[str, ...] = ()
    disks_unavailable: tuple[str, ...] = ()
    hidden_topics: tuple[str, ...] = ()
    signals: KnownSignals | None = None
    from_brokers: bool = False
    elects_by_config: bool = False
    cluster_id: str | None = None
    load: WeeklyLoad | None = None
