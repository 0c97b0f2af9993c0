"""What a way to a cluster can do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PublishLimits:
    """What one publish can hold, whatever a plan asks: partitions, bytes, and what each topic adds beside its name."""

    max_bytes: int
    bytes_per_topic: int
    max_partitions: int | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One field for each question that an operation asks of the way to its cluster.

    `late_requests`: the controller may apply a request that got no answer, even after its operation has ended.
    `late_configs`: so may a change of configs, and take a later one's place.
    `lagging_reads`: the topics may be read as they were before a request was applied.
    `explains_refusals`: a refused partition has a reason; otherwise one that a finished request left unchanged was
    refused.
    `restores_lists`: a move is taken back by a reassignment to the original list, and not only ended.
    """

    publish: PublishLimits
    late_requests: bool
    late_configs: bool
    lagging_reads: bool
    explains_refusals: bool
    restores_lists: bool
