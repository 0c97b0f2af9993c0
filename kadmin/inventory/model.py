"""Frozen values of an inventory: the planner's input and the output of `kadmin snapshot`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.disks import Disk, DiskReplica
from kadmin.cluster.model import Replicas
from kadmin.errors import UsageError
from kadmin.next_step import command
from kadmin.plan.model.field_types import MAX_INT16, PartitionFields, Text, TopicName
from kadmin.schema.shapes import Keywords
from kadmin.wording import name_some

SINGLE_CLUSTER = ""
"""The name of the only cluster in an inventory that is not a fleet's."""

MinIsr: TypeAlias = Annotated[
    int, Keywords(title="number of replicas", minimum=0, maximum=MAX_INT16)
]


@dataclass(frozen=True, slots=True)
class BrokerRow:
    """One broker. `alive` None means unknown; the planner treats it as alive.

    The last three are its capacities: network in and out, and CPU in any unit that all brokers
    share.
    """

    broker_id: int
    rack: str | None = None
    alive: bool | None = None
    capacity_bytes: int | None = None
    net_in_bytes_per_s: float | None = None
    net_out_bytes_per_s: float | None = None
    cpu: float | None = None


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """One partition.

    `replicas` are ordered; `leader` is -1 where there is none, None where it is not known.
    `size_bytes` are those on disk; of a partition of a tiered topic, `tiered_bytes` is an estimate
    of those with remote storage.
    """

    topic: str
    partition: int
    replicas: Replicas
    leader: int | None = None
    isr: Replicas | None = None
    size_bytes: int | None = None
    bytes_in_per_s: float | None = None
    bytes_out_per_s: float | None = None
    tiered_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class KafkaFacts:
    """Facts about a cluster in `inventory.json`; empty or None where unknown.

    `consumers` maps a topic to the groups that use it; `min_insync_replicas` has the topics that
    set it. `unavailable` lists the failed requests to the brokers, with reasons. `mode` is the
    storage of the cluster's metadata.
    """

    min_insync_replicas: Annotated[
        Mapping[TopicName, Annotated[MinIsr, "A value of min.insync.replicas."]],
        Keywords(title="min.insync.replicas"),
        "Limits of topics that have one of their own.",
    ] = field(default_factory=dict)
    default_min_insync_replicas: Annotated[
        MinIsr | None, "The cluster-wide dynamic default of min.insync.replicas."
    ] = None
    consumers: Annotated[
        Mapping[
            TopicName, Annotated[tuple[Text, ...], Keywords(title="groups"), "Names of groups."]
        ],
        "Per topic the consumer groups that use it.",
    ] = field(default_factory=dict)
    reassigning: Annotated[
        tuple[Annotated[PartitionFields, Keywords(title="partition"), "A partition."], ...],
        Keywords(title="partitions"),
        "Partitions that were being reassigned.",
    ] = ()
    delete_topic_enable: Annotated[
        bool | None, Keywords(title="delete.topic.enable"), "Whether the brokers delete topics."
    ] = None
    auto_create_topics_enable: Annotated[
        bool | None,
        Keywords(title="auto.create.topics.enable"),
        "Whether the brokers create topics that somebody asks for.",
    ] = None
    unavailable: Annotated[
        tuple[Text, ...],
        Keywords(title="what is not known"),
        "What the brokers could not be asked for, and why.",
    ] = ()
    tiered_topics: Annotated[
        tuple[Annotated[TopicName, "A topic."], ...],
        Keywords(title="remote.storage.enable"),
        "Topics with remote storage.",
    ] = ()
    mode: Annotated[
        MetadataMode | None,
        Keywords(x_hint="write zookeeper or kraft"),
        "Where the cluster keeps its metadata; zookeeper where absent.",
    ] = None


@dataclass(frozen=True, slots=True)
class ClusterInventory:
    """Brokers by id and partitions by topic and number.

    `cluster_id` None: the cluster has none (before 0.10.1). `disks` and `replicas`, by broker and
    path and by partition and broker, are those that are known; future replicas are not among them.
    """

    cluster_id: str | None
    brokers: tuple[BrokerRow, ...]
    partitions: tuple[PartitionRow, ...]
    facts: KafkaFacts = field(default_factory=KafkaFacts)
    disks: tuple[Disk, ...] = ()
    replicas: tuple[DiskReplica, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """One cluster under the name SINGLE_CLUSTER, or a fleet's clusters by name.

    `taken_at` is ISO 8601 in UTC.
    """

    taken_at: str
    clusters: Mapping[str, ClusterInventory]

    @property
    def fleet(self) -> bool:
        """Whether clusters have names, and the tables a `cluster` column."""
        return SINGLE_CLUSTER not in self.clusters

    def single(self) -> ClusterInventory:
        """Return the only cluster; raises UsageError for a fleet."""
        if self.fleet:
            raise UsageError(
                f"The inventory holds a fleet ({name_some(self.clusters)}); this command works on "
                "one cluster.",
                next_step=command("snapshot", "--out", "DIR"),
            )
        return self.clusters[SINGLE_CLUSTER]
