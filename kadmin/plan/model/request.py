"""The rebalance request and its parts. Units: bytes and bytes per second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

from kadmin.plan.model.disk_spec import DISK_TOLERANCE, DiskSpec, Only
from kadmin.plan.model.field_types import (
    MAX_INT16,
    NON_NEGATIVE,
    NOT_EMPTY,
    PERCENT,
    BrokerId,
    BrokerIdKey,
    BrokerIds,
    ByteSize,
    OrderedReplicas,
    PartitionFields,
    Percentage,
    TopicPattern,
)
from kadmin.plan.model.header import PlanHeader
from kadmin.plan.model.hours import PlanHours
from kadmin.plan.model.load_spec import LoadSpec, OnlyIf
from kadmin.plan.model.throttle import Throttle
from kadmin.plan.units import format_percent, format_surplus, parse_surplus
from kadmin.schema.documents import read, write
from kadmin.schema.shapes import INLINE, At, Defined, Dumped, FieldGroup, Keywords, WrittenAs

LOAD_MOVES = 0.02
"""Default budget of load balancing: further moves, as a fraction of the moves of the plan without
it."""

LOAD_LEADER_CHANGES = 0.5
"""Default budget of load balancing: further leader changes, as a fraction of those of the plan
without it."""

_BROKERS = FieldGroup("brokers", "Replicas that brokers may hold, and must not.")
_TOPICS = FieldGroup("topics", "The topics to rebalance.")
_TOLERANCE = FieldGroup("tolerance", "Allowed deviations from an even distribution.")

_Count: TypeAlias = Annotated[int, NON_NEGATIVE, Keywords(title="count")]
_Surplus: TypeAlias = Annotated[
    float | int,
    WrittenAs(str | int, parse_surplus, format_surplus),
    NON_NEGATIVE,
    Keywords(title="surplus", pattern=PERCENT, x_hint="write a percentage (2%) or a whole number"),
]


class Racks(StrEnum):
    """The planner's treatment of racks."""

    STRICT = "strict"
    RELAXED = "relaxed"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class RackFloor:
    """`racks: {at_least: N}`: the fewest racks of a partition; brokers are evened out beyond it."""

    at_least: Annotated[
        int,
        Keywords(title="number of racks", minimum=2, maximum=MAX_INT16),
        "Racks that each partition is on, or one for each replica of a partition with fewer.",
    ]


def _read_racks(value: Any) -> Racks | RackFloor:  # noqa: ANN401 - JSON
    return Racks(value) if isinstance(value, str) else read(RackFloor, value)


def _write_racks(racks: Racks | RackFloor) -> Any:  # noqa: ANN401 - JSON
    return racks.value if isinstance(racks, Racks) else write(racks)


@dataclass(frozen=True, slots=True)
class Pin:
    """A partition with given ordered replicas."""

    partition: Annotated[PartitionFields, INLINE]
    replicas: Annotated[OrderedReplicas, "Its ordered replicas."]


@dataclass(frozen=True, slots=True)
class ProposalLimits:
    """Upper bounds on a proposal; None means unlimited.

    `load_moves` and `load_leader_changes` limit the further moves and leader changes for
    `spec.load`: a fraction of those of the plan without it (a float), or a number (an int). None
    means the defaults above.
    """

    max_moves: Annotated[_Count | None, "Replicas that move."] = None
    max_bytes: Annotated[ByteSize | None, "Bytes that move."] = None
    max_bytes_in_per_broker: Annotated[ByteSize | None, "Bytes that come to any one broker."] = None
    max_order_changes: Annotated[_Count | None, "Partitions of which only the order changes."] = (
        None
    )
    load_moves: Annotated[
        _Surplus | None,
        Keywords(default=format_percent(LOAD_MOVES)),
        "Replicas that move for load alone: a percentage of the moves of the plan without load, "
        "or a number.",
    ] = None
    load_leader_changes: Annotated[
        _Surplus | None,
        Keywords(default=format_percent(LOAD_LEADER_CHANGES)),
        "Leaders that change for load alone: a percentage of the leader changes of the plan "
        "without load, or a number.",
    ] = None
    disk_moves: Annotated[
        _Count | None, "Replicas that move from one disk of their broker to another."
    ] = None

    @property
    def cut(self) -> bool:
        """Whether a limit may leave entries out of a plan."""
        most = (
            self.max_moves,
            self.max_bytes,
            self.max_bytes_in_per_broker,
            self.max_order_changes,
        )
        return any(each is not None for each in most)


@dataclass(frozen=True, slots=True)
class FreeBytes:
    """Emergency request: free `size_bytes` on one broker with the fewest bytes moved."""

    broker_id: Annotated[BrokerId, At("broker"), "The broker that is too full."]
    size_bytes: Annotated[ByteSize, At("bytes"), "Bytes to free."]


@dataclass(frozen=True, slots=True)
class RebalanceRequest:
    """Kind `RebalanceRequest`: the planner's input.

    Patterns are globs, matched against whole names. `throttle` is written into the plan as it is.
    """

    header: PlanHeader
    drain: Annotated[BrokerIds, At("drain", _BROKERS), "Brokers that shall hold no replicas."] = ()
    no_receive: Annotated[
        BrokerIds,
        At("no_receive", _BROKERS),
        "Brokers that keep their replicas and receive no more.",
    ] = ()
    never_lead: Annotated[
        BrokerIds, At("never_lead", _BROKERS), "Brokers that shall be no preferred leader."
    ] = ()
    substitute: Annotated[
        Mapping[BrokerIdKey, BrokerId],
        At("substitute", _BROKERS),
        Dumped.SORTED,
        Keywords(title="substitutes"),
        "By the id of a broker, the one that takes its place in every list. Nothing else changes, "
        "unless the request asks for more: drain, never_lead, weights, replication_factor, "
        "broker_sets, load or even.",
    ] = field(default_factory=dict)
    weights: Annotated[
        Mapping[
            BrokerIdKey,
            Annotated[
                float, Keywords(title="weight", exclusiveMinimum=0, maximum=10**6), "More than 0."
            ],
        ],
        At("weights", _BROKERS),
        Dumped.SORTED,
        "By broker id, its share of replicas and bytes compared with a broker of weight 1.",
    ] = field(default_factory=dict)
    include_topics: Annotated[
        tuple[TopicPattern, ...],
        At("include", _TOPICS),
        NOT_EMPTY,
        "Only topics that match one of these.",
    ] = ("*",)
    exclude_topics: Annotated[
        tuple[TopicPattern, ...],
        At("exclude", _TOPICS),
        Dumped.ALWAYS,
        Keywords(default=[]),
        "No topic that matches one of these.",
    ] = ()
    replication_factor: Annotated[
        Mapping[
            TopicPattern,
            Annotated[
                int,
                Keywords(title="replication factor", minimum=1, maximum=MAX_INT16),
                "Replicas per partition.",
            ],
        ],
        Keywords(title="replication factors"),
        "By topic pattern, the number of replicas that partitions shall have.",
    ] = field(default_factory=dict)
    broker_sets: Annotated[
        Mapping[
            TopicPattern,
            Annotated[
                tuple[BrokerId, ...],
                NOT_EMPTY,
                Keywords(title="list of broker ids", uniqueItems=True),
                "At least one broker.",
            ],
        ],
        "By topic pattern, the only brokers that may hold its partitions.",
    ] = field(default_factory=dict)
    pins: Annotated[
        tuple[
            Annotated[
                Pin,
                Keywords(title="pin"),
                "One partition whose replicas are given.",
                Defined("pin"),
            ],
            ...,
        ],
        "Partitions whose ordered replicas are given.",
    ] = ()
    racks: Annotated[
        Racks | RackFloor,
        WrittenAs(RackFloor, _read_racks, _write_racks),
        Keywords(
            type=["object", "string"],
            title="rule for racks",
            pattern=f"^(?:{'|'.join(Racks)})$",
            x_hint="write strict, relaxed, ignore, or {at_least: 2}",
        ),
        "strict: no rack holds two replicas of a partition, and every rack is known. "
        "relaxed: each partition on as many racks as possible, and as few replicas on one as racks "
        "and brokers allow; a broker without a rack is one of its own. ignore: racks do not count. "
        "{at_least: N}: each partition on N racks or more, every rack is known, and beyond that "
        "brokers are evened out.",
    ] = Racks.STRICT
    bytes_tolerance: Annotated[
        Percentage, At("bytes", _TOLERANCE), "Bytes per broker, from its target."
    ] = 0.02
    disk_tolerance: Annotated[
        Percentage,
        At("disk_bytes", _TOLERANCE),
        Dumped.UNLESS_DEFAULT,
        "Bytes per disk, from its part of its broker's bytes by size.",
    ] = DISK_TOLERANCE
    disks: Annotated[
        DiskSpec, "Replicas that the disks (log directories) of brokers may hold, and must not."
    ] = field(default_factory=DiskSpec)
    only: Annotated[
        Only | None,
        "disks: replicas move from one disk of their broker to another, and nothing leaves its "
        "broker.",
    ] = None
    limits: Annotated[
        ProposalLimits, "Bounds on the proposal; within them the biggest win comes first."
    ] = field(default_factory=ProposalLimits)
    leaders_only: Annotated[
        bool, Dumped.ALWAYS, "Change the order of replicas and move no data."
    ] = False
    even: Annotated[
        bool,
        Dumped.UNLESS_DEFAULT,
        "Replicas, bytes and leaders are evened out beside brokers.substitute, too; they are in "
        "any case where nothing is substituted.",
    ] = False
    free: Annotated[
        FreeBytes | None,
        "Emergency: the fewest bytes that free this much on one broker; nothing else is touched.",
    ] = None
    load: Annotated[
        LoadSpec | None, "Evens out the load of brokers in every hour, by a load history."
    ] = None
    only_if: Annotated[
        OnlyIf | None,
        "No plan is written that gains less load than this, unless the request needs entries "
        "whatever they gain: emptied brokers, racks, replication factors, broker sets, pins, "
        "leaders that are never to lead.",
    ] = None
    throttle: Annotated[
        Throttle | None,
        "The throttle of the proposed plan; with none its copies may use the whole network.",
    ] = None
    hours: Annotated[PlanHours | None, "The hours of the proposed plan."] = None

    @property
    def only_replaces(self) -> bool:
        """Whether brokers are replaced in place, and nothing else is asked for."""
        more = (
            self.even,
            self.drain,
            self.never_lead,
            self.weights,
            self.replication_factor,
            self.broker_sets,
            self.load,
            self.disks.failed,
        )
        return bool(self.substitute) and not any(more)
