"""Shapes of a proposal's figures: before, after, and the bound that no plan can beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.planner.kernel.figures import Evenness
from kadmin.schema.shapes import ABSENT, Absent, Count, Keywords, Number, Ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstHour:
    """The broker and hour with the most load over the fair share."""

    broker_id: Annotated[Count, "The broker."]
    hour: Annotated[Count, "The hour of the week, 0 is Monday 00:00 UTC."]
    topic: Annotated[
        str | Absent,
        "The topic of the partition that alone is more than the broker's part of that hour; "
        "absent where none is.",
    ] = ABSENT
    partition: Annotated[Count | Absent, "Its number."] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceFigures:
    """The load of a resource over its fair share."""

    before: Annotated[Ratio, "Now."]
    after: Annotated[Ratio, "When the plan is done."]
    bound: Annotated[
        Ratio,
        "No plan is below: all brokers together carry the whole load, and one of them the largest "
        "partition.",
    ]
    before_unfloored: Annotated[Ratio, "Now, over the broker's part of that hour's load alone."]
    after_unfloored: Annotated[
        Ratio, "When the plan is done, over the broker's part of that hour's load alone."
    ]
    bound_unfloored: Annotated[
        Ratio,
        "No plan is below: the largest partition over the part of the broker that can carry most.",
    ]
    goal: Annotated[Ratio, "The request's goal."]
    worst: Annotated[WorstHour, "Where it is most when the plan is done."]


OverShare: TypeAlias = Annotated[
    ResourceFigures,
    "The most that a broker carries in any hour, over its fair share. A fair share counts an hour "
    "with less than 0.6 of the busiest hour's load as if it had that, and is at least the load of "
    "the largest partition.",
]


@dataclass(frozen=True, slots=True)
class HeldOutResource:
    """The load of a resource in the week held out."""

    before: Annotated[Ratio, "With the replicas of now."]
    after: Annotated[Ratio, "When the plan is done."]


HeldOutShare: TypeAlias = Annotated[
    HeldOutResource, "The most that a broker carries in any hour of that week, over its fair share."
]


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldoutFigures:
    """The load in the week held out."""

    start: Annotated[str, "Its Monday, UTC."]
    in_: Annotated[HeldOutShare | Absent, "Network in."] = ABSENT
    out: Annotated[HeldOutShare | Absent, "Network out."] = ABSENT
    cpu: Annotated[HeldOutShare | Absent, "CPU."] = ABSENT


@dataclass(frozen=True, slots=True)
class Crossing:
    """Bytes that cross zones, or their cost."""

    before: Annotated[Ratio, "With the assignment of now."]
    after: Annotated[Ratio, "When the plan is done."]


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneFigures:
    """Bytes that cross zones, and their cost."""

    currency: Annotated[str, "Of the price and the cost."]
    price_per_gb: Annotated[Ratio, "Of 10^9 bytes."]
    replication: Annotated[Crossing, "From leaders to followers."]
    producers: Annotated[Crossing | Absent, "From producers to leaders."] = ABSENT
    consumers: Annotated[Crossing | Absent, "From replicas to consumers."] = ABSENT
    cost: Annotated[Crossing, "Of them all, in the currency."]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadFigures:
    """The load of brokers in every hour of the week."""

    hours: Annotated[Number, "Hours that are measured."]
    start: Annotated[str, "The Monday on which the history begins, UTC."]
    in_: Annotated[OverShare | Absent, "Network in."] = ABSENT
    out: Annotated[OverShare | Absent, "Network out: what consumers and followers read."] = ABSENT
    cpu: Annotated[OverShare | Absent, "CPU, by the request's weights."] = ABSENT
    extra_moves: Annotated[Count, "Moves that the plan without load does not have."]
    extra_leader_changes: Annotated[
        Count, "Leader changes that the plan without load does not have."
    ]
    coverage: Annotated[
        float,
        Keywords(minimum=0, maximum=1),
        "The part of the hours of all partitions whose bytes in the history knows.",
    ]
    holdout: Annotated[
        HoldoutFigures | Absent, "The last week of the history, which took no part in the plan."
    ] = ABSENT
    zones: Annotated[
        ZoneFigures | Absent,
        "Bytes that cross zones in 30 days by the mean of the week, and what they cost; what is "
        "not known is absent.",
    ] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGain:
    """What the worst hour of a resource gains by the plan."""

    gain: Annotated[
        float,
        "How much lower it becomes, as a part of it, down to the goal; negative where it rises.",
    ]
    least: Annotated[float, Keywords(minimum=0), "The least that is worth a plan."]


GainedShare: TypeAlias = Annotated[ResourceGain, "Of the most that a broker carries in any hour."]


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyIfFigures:
    """Whether the plan gains enough to be written."""

    worth: Annotated[bool, "Whether it does; false: no plan is written."]
    required: Annotated[Count, "Entries that the request needs whatever they gain."]
    in_: Annotated[GainedShare | Absent, "Network in."] = ABSENT
    out: Annotated[GainedShare | Absent, "Network out."] = ABSENT
    cpu: Annotated[GainedShare | Absent, "CPU."] = ABSENT


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskBytes:
    """The bytes of replicas on a disk: in one log directory, or in several of one file system."""

    broker_id: Annotated[Count, "The broker."]
    path: Annotated[str, "The log directory, the first of several."]
    shared_with: Annotated[
        tuple[str, ...], "The others that are taken to be on the same file system."
    ]
    before: Annotated[Count, "Now."]
    after: Annotated[Count, "When the plan is done."]
    part: Annotated[
        Count,
        "Its part of the broker's bytes when the plan is done, by size or weight, as far as room "
        "and what must stay allow.",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskFigures:
    """The disks of brokers with several, and the moves between disks of one broker."""

    moves: Annotated[Count, "Replicas that move from one disk of their broker to another."]
    moves_bound: Annotated[
        Count | None,
        "No choice of disks for the replicas of this plan that is as even has fewer; null where a "
        "limit cuts the moves.",
    ]
    proved_fewest: Annotated[bool, "Whether the moves are as few as the bound."]
    moved_bytes: Annotated[Count, "Their bytes."]
    before: Annotated[
        Ratio | None, "The most that a disk holds now over its part; null where no size is known."
    ]
    after: Annotated[Ratio | None, "The same when the plan is done."]
    outside: Annotated[
        Count, "Disks whose bytes differ from their part by more than the tolerance afterwards."
    ]
    disks: Annotated[tuple[DiskBytes, ...], "The disks, by broker and path."]


@dataclass(frozen=True, slots=True)
class HoldingBroker:
    """A broker that may hold replicas."""

    broker_id: Annotated[Count, "The broker's id."]
    weight: Annotated[
        float,
        Keywords(exclusiveMinimum=0),
        "The request's weight: replicas and bytes are even per weight.",
    ]
    may_lead: Annotated[bool, "Whether it may be a preferred leader."]


@dataclass(frozen=True, slots=True)
class FewerRacks:
    """Partitions that a plan puts on fewer racks."""

    before: Annotated[Number, "Racks of each of the partitions now."]
    after: Annotated[Number, "Racks of each when the plan is done."]
    partitions: Annotated[Number, "How many partitions."]


EvenBrokers: TypeAlias = Annotated[
    Evenness, "How even an assignment is over the brokers that may hold replicas."
]


@dataclass(frozen=True, kw_only=True)
class PlanFigures:
    """The figures of a cluster's plan.

    Figures that older versions wrote have no holders and no racks.
    """

    brokers: Annotated[Count, "Brokers that may hold replicas."]
    holders: Annotated[
        tuple[HoldingBroker, ...] | Absent, "The brokers that may hold replicas, by id."
    ] = ABSENT
    partitions: Annotated[Count, "Partitions of the cluster."]
    reassignments: Annotated[Count, "Entries of the plan."]
    moves: Annotated[Count, "Replicas on brokers that do not have them now."]
    moves_bound: Annotated[
        Count | None,
        "No valid plan that is as even has fewer moves; null where limits cut the plan.",
    ]
    proved_optimal: Annotated[
        bool,
        "Whether it is proven that no valid plan is more even in replicas, and none as even has "
        "fewer moves (with free: copies fewer bytes).",
    ]
    moved_bytes: Annotated[
        Count | None, "Bytes to copy over the network; null where no size is known."
    ]
    moved_bytes_bound: Annotated[
        Count | None,
        "Bytes that every valid plan copies at least; null where no size is known, and where "
        "limits cut the plan.",
    ]
    leader_changes: Annotated[Count, "Partitions whose preferred leader changes."]
    leader_changes_bound: Annotated[
        Count | None,
        "No plan that is as even in leaders changes fewer preferred leaders; null where limits "
        "cut the plan.",
    ]
    order_changes: Annotated[
        Count, "Entries that only change the order of replicas and copy no data."
    ]
    left_out: Annotated[Count, "Entries that the request's limits leave out."]
    before: Annotated[EvenBrokers, "The figures now."]
    after: Annotated[EvenBrokers, "The figures when the plan is done."]
    bound: Annotated[EvenBrokers, "Bounds that no valid plan can improve on."]
    fewer_racks: Annotated[
        tuple[FewerRacks, ...] | Absent,
        "How many partitions the plan puts on fewer racks, by the racks before and after.",
    ] = ABSENT
    notes: Annotated[
        tuple[Annotated[str, "A sentence."], ...], "What the plan does not do, and why."
    ]
    load: Annotated[
        LoadFigures | Absent,
        "The load of brokers in every hour of the week, where the request asks for it and the "
        "history has the cluster. A resource that no partition uses is absent.",
    ] = ABSENT
    only_if: Annotated[
        OnlyIfFigures | Absent,
        "Whether the plan gains what spec.only_if asks, where it asks and the load is known.",
    ] = ABSENT
    disks: Annotated[
        DiskFigures | Absent,
        "Bytes on disks, where the inventory has the disks of brokers with several of them.",
    ] = ABSENT
