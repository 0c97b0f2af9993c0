"""Plan values, one per document kind. Frozen, already valid by their schema; kadmin.plan.rules checks the rest.

Units: bytes and bytes per second. The order of a plan's partitions is their priority: the biggest win comes first.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.model import Replicas, TopicPartition

DEFAULT_WAVE_PARTITIONS = 500
DEFAULT_WAVE_PAYLOAD_BYTES = 64 * 1024


class Elect(StrEnum):
    """The time of preferred leader elections during a reassignment."""

    AT_END = "at_end"
    AFTER_EACH_WAVE = "after_each_wave"
    NONE = "none"


class WaveOrder(StrEnum):
    """The order of reassignments in waves: that of the list, or the order that makes the whole shortest."""

    PRIORITY = "priority"
    SHORTEST = "shortest"


class ThrottleBy(StrEnum):
    """The form of `spec.throttle`: a rate, the time that copying may take, or the bandwidth of a link."""

    RATE = "rate"
    FINISH_IN = "finish_in"
    LINK_BUDGET = "link_budget"
    NONE = "none"
    """No throttle, on purpose: copies as fast as the network allows."""


class DeletionLayout(StrEnum):
    """The znodes of a deletion: one child per topic, which controllers read, or the parent node of old documents."""

    CHILDREN = "children"
    DOCUMENT = "document"


class Racks(StrEnum):
    """The planner's treatment of racks."""

    STRICT = "strict"
    RELAXED = "relaxed"
    IGNORE = "ignore"


class HoursOfLoad(StrEnum):
    """The hours in which load is to be even: each of the week, or those of a mean weekday and of a mean weekend day."""

    WEEK = "week"
    WEEKDAY_WEEKEND = "weekday-weekend"


@dataclass(frozen=True, slots=True)
class DocumentFile:
    """A file by its name, as the user typed it, and its bytes."""

    name: str
    data: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes, as `sha256sum` prints it."""
        return hashlib.sha256(self.data).hexdigest()


@dataclass(frozen=True, slots=True)
class PlanHeader:
    """`metadata` of a document. `cluster_id` is checked against the live cluster when present.

    `file` is where a command read the document: refusals name its lines.
    """

    name: str | None = None
    cluster_id: str | None = None
    description: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    file: DocumentFile | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PartitionTarget:
    """Moves one partition from `current` (None: what `apply` reads under its lock) to `replicas`, both ordered."""

    partition: TopicPartition
    replicas: Replicas
    current: Replicas | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class WaveLimits:
    """Limits of one wave; None means unlimited. `max_moves_per_broker` counts replicas in and replicas out apart."""

    max_partitions: int = DEFAULT_WAVE_PARTITIONS
    max_moves_per_broker: int | None = None
    max_bytes: int | None = None
    max_payload: int = DEFAULT_WAVE_PAYLOAD_BYTES


@dataclass(frozen=True, slots=True)
class ThrottleSpec:
    """`spec.throttle`. `amount` is in bytes per second, for `finish_in` in seconds."""

    by: ThrottleBy
    amount: int


UNTHROTTLED = ThrottleSpec(ThrottleBy.NONE, 0)
"""`throttle: none`: a plan without a throttle, on purpose."""


@dataclass(frozen=True, slots=True)
class ReassignmentPlan:
    """Kind `PartitionReassignment`."""

    header: PlanHeader
    reassignments: tuple[PartitionTarget, ...]
    throttle: ThrottleSpec | None = None
    limits: WaveLimits = field(default_factory=WaveLimits)
    elect: Elect = Elect.NONE
    order: WaveOrder = WaveOrder.SHORTEST
    allow_replication_factor_change: bool = False
    allow_fewer_racks: bool = False
    allow_without_source: bool = False
    allow_topics_deleted: bool = False


@dataclass(frozen=True, slots=True)
class ElectionPlan:
    """Kind `PreferredReplicaElection`: exactly one of the three ways to name partitions is used."""

    header: PlanHeader
    partitions: tuple[TopicPartition, ...] = ()
    topics: tuple[str, ...] = ()
    all_partitions: bool = False


@dataclass(frozen=True, slots=True)
class DeletionPlan:
    """Kind `TopicDeletion`: literal topic names, and the guards waived, each by its name."""

    header: PlanHeader
    topics: tuple[str, ...]
    layout: DeletionLayout = DeletionLayout.CHILDREN
    allow_internal: bool = False
    allow_protected: bool = False
    allow_active_consumers: bool = False
    allow_offline_replicas: bool = False
    allow_deletion_disabled: bool = False
    allow_unchecked_guards: bool = False
    allow_more_than: int = 10


@dataclass(frozen=True, slots=True)
class TopicRecipe:
    """Recreates a deleted topic: its ordered replicas by partition number, and its configs."""

    topic: str
    replicas: Mapping[int, Replicas]
    configs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class RecreationPlan:
    """Kind `TopicRecipe`: topics to create again, each by its recipe."""

    header: PlanHeader
    recipes: tuple[TopicRecipe, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """The names, in the plan's order."""
        return tuple(recipe.topic for recipe in self.recipes)


class Switch(StrEnum):
    """The severity that a policy gives to a code, or that it is not reported."""

    OFF = "off"
    WARNING = "warning"
    ERROR = "error"


STANDARD_DENY = ("_*",)
"""The topics that are guarded without a policy."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Kind `Policy`: rules of an organisation for every plan. Patterns are globs, matched against whole names.

    A topic may be deleted without a waiver when `allow` matches its name and `deny` does not: deny wins. `max_topics`
    bounds every deletion, whatever its plan allows itself.
    """

    header: PlanHeader = field(default_factory=PlanHeader)
    codes: Mapping[str, Switch] = field(default_factory=dict)
    deny: tuple[str, ...] = STANDARD_DENY
    allow: tuple[str, ...] = ("*",)
    max_topics: int | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """A partition whose ordered replicas are given, not chosen."""

    partition: TopicPartition
    replicas: Replicas


@dataclass(frozen=True, slots=True)
class ProposalLimits:
    """Upper bounds on a proposal; None means unlimited.

    `load_moves` and `load_leader_changes` bound what `spec.load` adds to the plan without it: a fraction of that plan's
    moves or leader changes (a float), or a number (an int). None means the defaults below.
    """

    max_moves: int | None = None
    max_bytes: int | None = None
    max_bytes_in_per_broker: int | None = None
    max_order_changes: int | None = None
    load_moves: float | int | None = None
    load_leader_changes: float | int | None = None

    @property
    def cut(self) -> bool:
        """Whether any of them leaves entries out of a plan."""
        most = (self.max_moves, self.max_bytes, self.max_bytes_in_per_broker, self.max_order_changes)
        return any(each is not None for each in most)


LOAD_MOVES = 0.02
"""Default budget of load balancing: further moves, as a fraction of the moves of the plan without it."""

LOAD_LEADER_CHANGES = 0.5
"""Default budget of load balancing: further leader changes, as a fraction of those of the plan without it."""


@dataclass(frozen=True, slots=True)
class CpuWeights:
    """The cost in units of CPU of a byte per second in, of one out, and of a request per second; 0: no cost."""

    bytes_in: float = 0.0
    bytes_out: float = 0.0
    requests: float = 0.0


@dataclass(frozen=True, slots=True)
class ZonePrices:
    """`spec.load.zones`: the price of 10^9 bytes that cross zones, which are racks.

    `producers` and `consumers` are the parts of clients in each zone, 1 in all at most. `closest_replica`: consumers
    read from a replica in their zone where there is one (KIP-392).
    """

    price_per_gb: float
    currency: str = "USD"
    producers: Mapping[str, float] = field(default_factory=dict)
    consumers: Mapping[str, float] = field(default_factory=dict)
    closest_replica: bool = False


@dataclass(frozen=True, slots=True)
class LoadSpec:
    """`spec.load`: the folder of a load history, and how even its load is to be.

    A relative `folder` is relative to the request's file. `most_in` and `most_out` are the goals: the most that a
    broker should carry in any hour, in fair shares. `hold_out` is no field of a document: the last week of the history
    takes no part in the plan, and the plan is measured by it.
    """

    folder: str
    most_in: float = 1.05
    most_out: float = 1.10
    cpu: CpuWeights | None = None
    hours: HoursOfLoad = HoursOfLoad.WEEK
    zones: ZonePrices | None = None
    hold_out: bool = False


@dataclass(frozen=True, slots=True)
class FreeBytes:
    """Emergency request: free `size_bytes` on one broker with the fewest bytes moved."""

    broker_id: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class RebalanceRequest:
    """Kind `RebalanceRequest`: the planner's input. Patterns are globs, matched against whole names.

    `throttle` is written into the plan as it is.
    """

    header: PlanHeader
    drain: tuple[int, ...] = ()
    no_receive: tuple[int, ...] = ()
    never_lead: tuple[int, ...] = ()
    substitute: Mapping[int, int] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    include_topics: tuple[str, ...] = ("*",)
    exclude_topics: tuple[str, ...] = ()
    replication_factor: Mapping[str, int] = field(default_factory=dict)
    broker_sets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    pins: tuple[Pin, ...] = ()
    racks: Racks = Racks.STRICT
    bytes_tolerance: float = 0.02
    limits: ProposalLimits = field(default_factory=ProposalLimits)
    leaders_only: bool = False
    free: FreeBytes | None = None
    load: LoadSpec | None = None
    throttle: ThrottleSpec | None = None


Plan: TypeAlias = ReassignmentPlan | ElectionPlan | DeletionPlan | RecreationPlan
Document: TypeAlias = Plan | RebalanceRequest | Policy
