"""Rows of `inspect` that brokers alone answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from kadmin.schema.shapes import Count

Role: TypeAlias = Literal["leader", "voter", "observer"]


@dataclass(frozen=True, slots=True)
class QuorumRow:
    """A replica of the metadata log."""

    node_id: Annotated[Count, "Node id."]
    role: Annotated[Role, "leader is the active controller."]
    epoch: Annotated[Count | None, "Leader epoch, of the leader alone."] = None
    log_end_offset: Annotated[
        Count | None, "Last offset of its copy of the log; null where it is unknown."
    ] = None
    lag: Annotated[
        Count | None, "Records that it is behind the leader; null where that is unknown."
    ] = None
    last_fetch: Annotated[
        str | None, "When it last fetched, by the leader's clock (UTC); null where it is unknown."
    ] = None
    last_caught_up: Annotated[
        str | None,
        "When it was last caught up, by the leader's clock (UTC); null where it is unknown.",
    ] = None


@dataclass(frozen=True, slots=True)
class ReassignmentRow:
    """A reassignment in flight."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[Count, "Partition."]
    target: Annotated[tuple[int, ...], "Replicas that it leads to, in order."]
    adding_replicas: Annotated[tuple[int, ...], "Replicas that are being added."]
    removing_replicas: Annotated[tuple[int, ...], "Replicas that will be removed."]
    leader: Annotated[int | None, "Leader, -1 for none."]
    isr: Annotated[tuple[int, ...] | None, "In-sync replicas."]
    operation: Annotated[
        str | None,
        "The operation on record that requested it; null where none did, or where the record was "
        "not read.",
    ]


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A consumer group that keeps its offsets in Kafka."""

    group: Annotated[str, "Group."]
    kind: Annotated[str, "Type of the group: classic, consumer (KIP-848), share or streams."]
    protocol: Annotated[str | None, "Protocol type of a classic group; null where there is none."]
    state: Annotated[str | None, "State of the group; null where brokers do not report it."]
    members: Annotated[Count | None, "Members; null where its subscriptions were not seen."]
    topics: Annotated[tuple[str, ...], "Topics that it has offsets of or subscribes to."]
