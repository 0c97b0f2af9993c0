"""The shape of an event of a running operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from kadmin.operations.record.record import OperationState
from kadmin.schema.shapes import ABSENT, Absent, Keywords

STATES = [
    OperationState.COMPLETED,
    OperationState.FAILED,
    OperationState.PAUSED,
    OperationState.CANCELLED,
]


@dataclass(frozen=True, slots=True)
class EventAnswer:
    """An event; fields of other kinds of events are absent."""

    at: Annotated[str, "When: UTC, RFC 3339."]
    cluster_id: Annotated[
        str | None,
        "Id of the cluster; null before the operation is on record, and where the cluster has "
        "none.",
    ]
    operation: Annotated[str | None, "Id of the operation; null before it is on record."]
    event: Annotated[
        Literal["opened", "published", "progressed", "state_changed", "ended", "asked", "noted"],
        "What happened: the operation is on record and this process runs it, a step was "
        "published, progress was made, the operation on record has another state, the command "
        "ends, a server was asked (--verbose), or a note for people.",
    ]
    what: Annotated[str | Absent, "published: kind of step."] = ABSENT
    count: Annotated[int | Absent, "published: number of partitions or topics of the step."] = (
        ABSENT
    )
    step: Annotated[int | Absent, "published: number of the step in the operation."] = ABSENT
    done: Annotated[int | Absent, "progressed: partitions (of a deletion: topics) done."] = ABSENT
    total: Annotated[int | Absent, "progressed: partitions or topics in all."] = ABSENT
    bytes_done: Annotated[
        int | Absent | None,
        "progressed: bytes copied, also in unfinished partitions if brokers report them; null "
        "where a size is unknown.",
    ] = ABSENT
    bytes_total: Annotated[
        int | Absent | None, "progressed: bytes to copy; null where a size is unknown."
    ] = ABSENT
    wave: Annotated[
        int | Absent, "progressed: the wave under way, from 1; 0 for work without waves."
    ] = ABSENT
    waves: Annotated[
        int | Absent, "progressed: how many waves the plan has; 0 for work without waves."
    ] = ABSENT
    rate_bytes_per_s: Annotated[
        float | Absent | None,
        "progressed: bytes per second that this run copies, averaged over the last half minute; "
        "null while it is not known.",
    ] = ABSENT
    eta_s: Annotated[
        float | Absent | None,
        "progressed: seconds until the busiest brokers have nothing left, never fewer than the "
        "throttle allows; null while they are not known.",
    ] = ABSENT
    reason: Annotated[
        str | Absent, "progressed: what the runner waits for; empty when it does not wait."
    ] = ABSENT
    throttle_bytes_per_s: Annotated[
        int | Absent,
        "progressed: the highest rate of a broker's throttle now; absent without a throttle.",
    ] = ABSENT
    signals: Annotated[
        Mapping[str, FollowedSignal] | Absent,
        "progressed: the signals that the rate follows, by name; commit_delay is in seconds, "
        "out_of_sync in partitions, others in the unit of their query. Absent without one.",
    ] = ABSENT
    state: Annotated[str | Absent, Keywords(enum=STATES), "state_changed: the new state."] = ABSENT
    exit_code: Annotated[int | Absent, "ended: exit code of the command."] = ABSENT
    text: Annotated[
        str | Absent,
        "noted, asked, state_changed, ended: a sentence. What --notify posts has one in every "
        "event, with the operation and the cluster, escaped as Slack wants it.",
    ] = ABSENT
    lost_records: Annotated[
        tuple[LostRecordsAnswer, ...] | Absent,
        "state_changed: partitions that lost records which were there when the operation began; "
        "empty where none is known to have.",
    ] = ABSENT
    next_command: Annotated[
        str | Absent | None,
        "ended: the next command, or what to do; null where nothing is left to do.",
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class FollowedSignal:
    """A signal that a rate follows."""

    value: Annotated[float | None, "Its last value; null before the first one."]
    limit: Annotated[float, "The value that it is to be below."]


@dataclass(frozen=True, slots=True)
class LostRecordsAnswer:
    """A partition that lost records."""

    partition: Annotated[int, "Partition number."]
    offset_before: Annotated[int, "The high watermark when the operation began."]
    offset: Annotated[
        int,
        "The first offset whose record is gone; those from offset_before on are newer, and not "
        "compared.",
    ]
    leader_epoch_before: Annotated[int, "The leader's epoch when the operation began."]
    leader_epoch: Annotated[int, "The epoch of the leader of now."]
    leader: Annotated[int, "Id of the broker that leads the partition now."]
    topic: Annotated[str, "Topic."]
