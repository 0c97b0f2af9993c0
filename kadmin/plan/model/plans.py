"""The plans: reassignments, elections, deletions and recipes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Annotated, ClassVar, TypeAlias

from kadmin.cluster.disks import DISK_FILL
from kadmin.cluster.model import Replicas
from kadmin.plan.model.field_types import (
    ANY_LOG_DIR,
    NON_NEGATIVE,
    NOT_EMPTY,
    POSITIVE,
    PRINTABLE,
    ByteSize,
    LogDir,
    OrderedReplicas,
    PartitionFields,
    Percentage,
    TopicName,
)
from kadmin.plan.model.header import PlanHeader
from kadmin.plan.model.hours import PlanHours
from kadmin.plan.model.throttle import Throttle, ThrottleSpec
from kadmin.plan.units import MOST_BYTES
from kadmin.schema.shapes import INLINE, At, Defined, Dumped, FieldGroup, Keywords, WrittenAs

DEFAULT_WAVE_PARTITIONS = 500
DEFAULT_WAVE_PAYLOAD_BYTES = 64 * 1024
DEFAULT_MOVES_PER_DISK = 2

_ALLOW = FieldGroup("allow", "Waivers, each by its name.")
_LIMITS = FieldGroup("limits", "Limits of single disks (log directories).")
GUARDS = FieldGroup("allow", "Guards to waive, each by its name.")

Waiver: TypeAlias = Annotated[bool, Keywords(title="waiver")]


class Elect(StrEnum):
    """The time of preferred leader elections during a reassignment."""

    AT_END = "at_end"
    AFTER_EACH_WAVE = "after_each_wave"
    NONE = "none"


class WaveOrder(StrEnum):
    """The order of reassignments in waves: that of the list, or that of the shortest total time."""

    PRIORITY = "priority"
    SHORTEST = "shortest"


class DeletionLayout(StrEnum):
    """The znodes of a deletion.

    There is one child per topic, which controllers read, or the parent node of old documents.
    """

    CHILDREN = "children"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class PartitionTarget:
    """Moves one partition from `current` to `replicas`, both ordered.

    Where `current` is None, `apply` reads it under its lock.
    """

    KEYS: ClassVar = ("current", "replicas", "log_dirs", "size_bytes")

    partition: Annotated[PartitionFields, INLINE]
    replicas: Annotated[OrderedReplicas, "The ordered target replicas."]
    current: Annotated[
        OrderedReplicas | None,
        "The ordered replicas that the plan was made on; another list makes it stale. kadmin "
        "always writes it.",
    ] = None
    size_bytes: Annotated[
        int | None,
        Keywords(
            title="size in bytes", minimum=0, maximum=MOST_BYTES, x_hint="bytes, as a whole number"
        ),
        "Bytes of one replica, for limits and progress.",
    ] = None
    log_dirs: Annotated[
        tuple[LogDir, ...] | None,
        Keywords(title="list of log directories", minItems=1),
        "The log directory of each replica, in the order of replicas; any: the broker chooses.",
    ] = None

    @property
    def directories(self) -> Mapping[int, str]:
        """The log directory of each broker for which the plan names one."""
        named = zip(self.replicas, self.log_dirs or (), strict=False)
        return {broker: path for broker, path in named if path != ANY_LOG_DIR}

    @property
    def added(self) -> Replicas:
        """The brokers that get a copy they do not have, in target order.

        All of them where current is unknown.
        """
        return tuple(broker for broker in self.replicas if broker not in (self.current or ()))

    @property
    def removed(self) -> Replicas:
        """The brokers that lose their copy, in current order."""
        return tuple(broker for broker in self.current or () if broker not in self.replicas)


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """Limits of one wave; None: unlimited.

    `max_moves_per_broker` counts replicas in and replicas out separately.
    """

    max_partitions: Annotated[
        int, POSITIVE, Keywords(title="number of partitions"), "Partitions in one wave."
    ] = DEFAULT_WAVE_PARTITIONS
    max_moves_per_broker: Annotated[
        int | None,
        POSITIVE,
        Keywords(title="number of moves"),
        "Replicas that come to, and replicas that leave, any one broker in one wave.",
    ] = None
    max_bytes: Annotated[
        ByteSize | None,
        "Bytes copied in one wave; needs the size of every partition, here or by --sizes FILE.",
    ] = None
    max_payload: Annotated[
        ByteSize,
        "Bytes of the admin znode; the controller writes them again for every partition that ends.",
    ] = DEFAULT_WAVE_PAYLOAD_BYTES


@dataclass(frozen=True, slots=True)
class ReassignmentPlan:
    """Kind `PartitionReassignment`."""

    KEYS: ClassVar[tuple[str, ...]] = (
        "throttle",
        "hours",
        "waves",
        "limits",
        "order",
        "elect",
        "allow",
        "partitions",
    )

    header: PlanHeader
    reassignments: Annotated[
        tuple[
            Annotated[
                PartitionTarget,
                Keywords(title="reassignment"),
                "The target of one partition.",
                Defined("reassignment"),
            ],
            ...,
        ],
        At("partitions"),
        "Partitions to reassign, the most important first (see order); an empty list is valid and "
        "changes nothing.",
    ]
    throttle: Annotated[
        Throttle | None,
        "Limit on the copying of replicas, set before the first wave and removed after the last; "
        "with none the copies may use the whole network.",
    ] = None
    limits: Annotated[WaveLimits, At("waves"), "Limits of one wave."] = field(
        default_factory=WaveLimits
    )
    elect: Annotated[Elect, "The time of preferred leader elections."] = Elect.NONE
    # Left out where it is the default: plans that older versions wrote keep their digests.
    order: Annotated[
        WaveOrder,
        Dumped.UNLESS_DEFAULT,
        "The order of partitions in waves: "
        "shortest, so that all waves together take the shortest time, or priority, the order of "
        "the list.",
    ] = WaveOrder.SHORTEST
    hours: Annotated[
        PlanHours | None,
        "Hours in which replicas are copied at the rate of the throttle; with none they are "
        "copied at any time.",
    ] = None
    allow_replication_factor_change: Annotated[
        Waiver,
        At("replication_factor_change", _ALLOW),
        "Targets may have another number of replicas than now.",
    ] = False
    allow_fewer_racks: Annotated[
        Waiver, At("fewer_racks", _ALLOW), "Targets may be on fewer racks than now."
    ] = False
    allow_without_source: Annotated[
        Waiver,
        At("without_source", _ALLOW),
        "Partitions may have no replica that is alive and in sync: their copies wait for a broker.",
    ] = False
    allow_topics_deleted: Annotated[
        Waiver,
        At("topics_deleted", _ALLOW),
        "Topics may be deleted while the operation runs: their partitions are skipped.",
    ] = False
    allow_failed_disks: Annotated[
        Waiver,
        At("failed_disks", _ALLOW),
        "Brokers with a failed log directory may get replicas: it held none of these partitions.",
    ] = False
    # Left out where they are the default, as the order is.
    moves_per_disk: Annotated[
        int,
        At("moves_per_disk", _LIMITS),
        Dumped.UNLESS_DEFAULT,
        POSITIVE,
        Keywords(title="number of moves"),
        "Replicas that are moved at once from or to any one disk, between the disks of a broker.",
    ] = DEFAULT_MOVES_PER_DISK
    disk_fill: Annotated[
        Percentage,
        At("disk_fill", _LIMITS),
        Dumped.UNLESS_DEFAULT,
        "The used part of a disk above which validate, diff and apply warn.",
    ] = DISK_FILL

    @property
    def names_directories(self) -> bool:
        """Whether the log directory of any replica is named."""
        return any(target.directories for target in self.reassignments)

    def throttled_at(self, throttle: ThrottleSpec) -> ReassignmentPlan:
        """Return the plan with another throttle, in place of its own."""
        return replace(self, throttle=throttle.in_place_of(self.throttle or throttle))


@dataclass(frozen=True, slots=True)
class ElectionPlan:
    """Kind `PreferredReplicaElection`: exactly one of the three ways to name partitions is used."""

    header: PlanHeader
    partitions: Annotated[
        tuple[
            Annotated[
                PartitionFields,
                Keywords(title="partition"),
                "One partition.",
                Defined("topicPartition"),
            ],
            ...,
        ],
        "Single partitions; an empty list is valid and changes nothing.",
    ] = ()
    topics: Annotated[tuple[TopicName, ...], NOT_EMPTY, "Every partition of these topics."] = ()
    all_partitions: Annotated[
        bool, At("all"), Keywords(const=True), "Every partition of the cluster."
    ] = False


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """Kind `TopicDeletion`: literal topic names, and the guards waived, each by its name."""

    header: PlanHeader
    topics: Annotated[
        tuple[TopicName, ...],
        NOT_EMPTY,
        Keywords(x_hint="name at least one topic"),
        "Literal names; globs are not read.",
    ]
    layout: Annotated[
        DeletionLayout,
        "children: the layout that controllers read. "
        "document: the parent node of old documentation, for clusters that use it.",
    ] = DeletionLayout.CHILDREN
    allow_internal: Annotated[Waiver, At("internal", GUARDS), "Topics that Kafka itself uses."] = (
        False
    )
    allow_protected: Annotated[
        Waiver, At("protected", GUARDS), "Topics that a protected pattern names."
    ] = False
    allow_active_consumers: Annotated[
        Waiver, At("active_consumers", GUARDS), "Topics with live consumer groups."
    ] = False
    allow_offline_replicas: Annotated[
        Waiver,
        At("offline_replicas", GUARDS),
        "Topics with a replica on a dead broker: its live copies are destroyed at once.",
    ] = False
    allow_deletion_disabled: Annotated[
        Waiver, At("deletion_disabled", GUARDS), "Clusters with delete.topic.enable=false."
    ] = False
    allow_unchecked_guards: Annotated[
        Waiver,
        At("unchecked_guards", GUARDS),
        "Guards that could not be checked: a broker did not answer, or a right is missing.",
    ] = False
    allow_more_than: Annotated[
        int,
        At("more_than", GUARDS),
        NON_NEGATIVE,
        Keywords(title="number of topics"),
        "The most topics that the plan may name.",
    ] = 10


ConfigName: TypeAlias = Annotated[
    str,
    Keywords(
        title="config name",
        pattern="^[A-Za-z][A-Za-z0-9._-]{0,248}$",
        x_hint="the name of a topic config, as retention.ms",
    ),
]
ConfigValue: TypeAlias = Annotated[
    str, Keywords(title="config value", maxLength=262_144), PRINTABLE, "The value, as text."
]


def _read_replicas(lists: list[list[int]]) -> dict[int, Replicas]:
    return {number: tuple(ids) for number, ids in enumerate(lists)}


def _write_replicas(replicas: Mapping[int, Replicas]) -> list[list[int]]:
    return [list(replicas[number]) for number in sorted(replicas)]


@dataclass(frozen=True, slots=True)
class TopicRecipe:
    """Recreates a deleted topic: its ordered replicas by partition number, and its configs."""

    topic: Annotated[TopicName, "The topic."]
    replicas: Annotated[
        Mapping[int, Replicas],
        At("partitions"),
        WrittenAs(tuple[OrderedReplicas, ...], _read_replicas, _write_replicas),
        NOT_EMPTY,
        Keywords(x_hint="a topic has at least one partition"),
        "The ordered replicas of partition 0, 1, 2 and so on.",
    ]
    configs: Annotated[
        Mapping[ConfigName, ConfigValue],
        Dumped.SORTED,
        "The topic's own configs, each value as text.",
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecreationPlan:
    """Kind `TopicRecipe`: topics to create again, each by its recipe."""

    header: PlanHeader
    recipes: Annotated[
        tuple[
            Annotated[
                TopicRecipe, Keywords(title="recipe"), "The recipe of one topic.", Defined("recipe")
            ],
            ...,
        ],
        At("topics"),
        NOT_EMPTY,
        Keywords(x_hint="name at least one topic"),
        "One recipe per topic.",
    ]

    @property
    def topics(self) -> tuple[str, ...]:
        """The names, in the plan's order."""
        return tuple(recipe.topic for recipe in self.recipes)
