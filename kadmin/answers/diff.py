"""The shape of the answer of `diff`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.answers.hours import HoursAnswer, Time
from kadmin.answers.partitions import Partition
from kadmin.plan.diff import BrokerLoad
from kadmin.plan.tiers import TieredBytes
from kadmin.schema.shapes import ABSENT, Absent, Count, Number, Seconds

MovedBytes: TypeAlias = Annotated[
    Count | None, "Bytes to copy over the network; null where a size is unknown."
]
Replicas: TypeAlias = Annotated[
    tuple[Annotated[Count, "A broker id."], ...],
    "Ordered replicas; the first is the preferred leader.",
]


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """The changes that a plan would make."""

    changes: Annotated[bool, "Whether apply would change anything."]
    refusals: Annotated[
        tuple[ApplyRefusal, ...],
        "What would stop an apply, in the order in which apply reports it.",
    ]
    reassignment: Annotated[
        ReassignmentChange | None, "What a reassignment plan would change; null for other plans."
    ]
    targets: Annotated[
        tuple[Annotated[str, "A partition or topic."], ...],
        "The partitions of an election, those that a growth adds, or the topics of a deletion or "
        "recreation.",
    ]
    leaders: Annotated[
        tuple[ElectedLeader, ...],
        "The leaders of an election's partitions, in the order of targets; empty for other plans.",
    ]
    lost_bytes: Annotated[
        Count | None,
        "Bytes that a deletion destroys on disks, all replicas counted; null where they are "
        "unknown, and for other plans.",
    ]
    warnings: Annotated[
        tuple[Annotated[str, "One sentence."], ...],
        "Warnings to consider before an apply; they do not stop it.",
    ]
    throttle: Annotated[
        PlannedThrottle | None,
        "The throttle that apply sets; null where the plan has none or copies nothing.",
    ]
    growth: Annotated[
        PlannedGrowth | Absent, "What a growth would add; absent for other plans."
    ] = ABSENT
    tiered: Annotated[
        TieredBytes | Absent,
        "Tiered partitions whose local bytes a reassignment copies, or that a deletion deletes "
        "with what they have in remote storage; absent where there are none.",
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class ApplyRefusal:
    """An error that would stop an apply."""

    exit_code: Annotated[Number, "The exit code of apply."]
    message: Annotated[str, "What stops the plan, and where."]
    cause: Annotated[str | None, "The reason."]
    next_command: Annotated[str | None, "The next command, or what to do."]


@dataclass(frozen=True, slots=True)
class ReassignmentChange:
    """The changes that a reassignment would make."""

    partitions: Annotated[
        tuple[ChangedPartition, ...], "The partitions that change, in plan order."
    ]
    replicas_added: Annotated[Count, "Replicas to copy."]
    moved_bytes: MovedBytes
    waves: Annotated[tuple[PlannedWave, ...], "The waves in the order of execution."]
    brokers: Annotated[tuple[ChangedBroker, ...], "Every broker that is alive or holds a replica."]
    disk_moves: Annotated[
        tuple[PlannedDiskMove, ...],
        "The replicas that are not in the log directories that the plan names for them.",
    ]
    disks: Annotated[
        tuple[ChangedDisk, ...],
        "Every disk that gets copies, where the room of single disks and the replicas on them are "
        "known.",
    ]


@dataclass(frozen=True, slots=True)
class ChangedPartition(Partition):
    """A partition that a reassignment changes."""

    current: Replicas
    replicas: Replicas
    size_bytes: Annotated[Count | None, "Bytes of one replica."]


@dataclass(frozen=True, slots=True)
class PlannedWave:
    """A wave of a plan."""

    wave: Annotated[Number, "Number of the wave, from 1."]
    partitions: Annotated[Number, "Number of partitions."]
    payload_bytes: Annotated[Number, "Size of the payload."]
    payload: Annotated[str, "The exact text that is written to ZooKeeper."]
    moved_bytes: MovedBytes
    moves_in: Annotated[Mapping[int, Number], "Replicas arriving, by broker id."]
    moves_out: Annotated[Mapping[int, Number], "Replicas leaving, by broker id."]


@dataclass(frozen=True, slots=True)
class ChangedBroker:
    """A broker before and after a reassignment."""

    broker_id: Annotated[Count, "Broker id."]
    before: Annotated[BrokerLoad, "Before the plan."]
    after: Annotated[BrokerLoad, "When the plan is done."]


@dataclass(frozen=True, slots=True)
class PlannedGrowth:
    """The partitions that a growth would add; it cannot be rolled back."""

    partitions: Annotated[tuple[NewPartition, ...], "The new partitions, in plan order."]
    brokers: Annotated[tuple[ChangedBroker, ...], "Every broker; bytes are left out."]


@dataclass(frozen=True, slots=True)
class NewPartition(Partition):
    """A partition that a growth would add."""

    replicas: Replicas


@dataclass(frozen=True, slots=True)
class PlannedDiskMove(Partition):
    """A replica that is to be in a log directory, and is not."""

    broker_id: Annotated[Count, "Broker id."]
    from_: Annotated[
        str | None, "Its log directory now; null where the broker does not have it, or not known."
    ]
    to: Annotated[str, "The log directory that the plan names."]
    size_bytes: Annotated[
        Count | None,
        "Bytes to copy between the directories; null where they are unknown, and for a replica "
        "that comes from another broker.",
    ]


@dataclass(frozen=True, slots=True)
class ChangedDisk:
    """A disk over the waves of a reassignment."""

    broker_id: Annotated[Count, "Broker id."]
    paths: Annotated[
        tuple[Annotated[str, "The path of a log directory."], ...],
        "The log directories on the disk.",
    ]
    total_bytes: Annotated[Count | None, "Size of the disk; null where it is unknown."]
    usable_bytes: Annotated[Count, "Bytes that can be written now."]
    least_bytes: Annotated[
        int, "The least bytes that can be written, over the waves; negative where room lacks."
    ]
    wave: Annotated[Count, "The wave with the least, from 1; 0: it is now."]
    final_bytes: Annotated[int, "Bytes that can be written when the plan is done."]


@dataclass(frozen=True, slots=True)
class ElectedLeader:
    """The leaders of a partition of an election."""

    name: Annotated[str, "Topic and partition."]
    before: Annotated[int | None, "Leader now; null without one."]
    after: Annotated[
        int | None,
        "Leader after the election: the preferred one, or as before where that cannot lead.",
    ]


@dataclass(frozen=True, slots=True)
class PlannedThrottle:
    """The throttle that an apply sets."""

    rate: Annotated[
        Number, "Bytes per second that each broker may send, and the same for receiving."
    ]
    entities: Annotated[
        tuple[Annotated[str, "topics/NAME or brokers/ID."], ...],
        "The topics and brokers whose configs the throttle changes.",
    ]
    wave_seconds: Annotated[
        tuple[Seconds | None, ...], "The least seconds of each wave; null where a size is unknown."
    ]
    makespan_s: Annotated[
        Seconds | None,
        "The least seconds of all waves, one after the other; null where a size is unknown.",
    ]
    makespan_bound_s: Annotated[
        Seconds | None,
        "The least seconds of any waves: the most bytes in or out of one broker over the rate; "
        "null where a size is unknown.",
    ]
    warnings: Annotated[
        tuple[Annotated[str, "A warning about one broker and one direction."], ...],
        "Why copies may never end at this rate.",
    ]
    hours: Annotated[
        HoursAnswer | Absent, "The hours of the copies; absent where the plan has none."
    ] = ABSENT
    done_at: Annotated[
        Time | Absent | None,
        "With hours: the end of all waves at this rate, if they begin now; null where unknown.",
    ] = ABSENT
    done_at_most: Annotated[
        Time | Absent | None,
        "With hours, and a rate that follows the clients: the same at the highest rate.",
    ] = ABSENT
