"""Shapes of the answers of `snapshot` and `sample`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.plan.tiers import TieredBytes
from kadmin.schema.shapes import ABSENT, Absent, Count, Number


@dataclass(frozen=True, slots=True)
class SnapshotAnswer:
    """An inventory that was written."""

    inventory: Annotated[str, "The folder that was written."]
    brokers: Annotated[Count, "Live brokers."]
    topics: Annotated[Count, "Topics."]
    partitions: Annotated[Count, "Partitions."]
    disks: Annotated[Count, "Log directories of the brokers that described them."]
    unsettled: Annotated[
        tuple[Annotated[str, "A topic."], ...], "Topics that changed while they were read."
    ]
    no_sizes: Annotated[str | None, "Why sizes are missing; null where they are not."]
    unavailable: Annotated[tuple[str, ...], "Other answers that brokers did not give, and why."]
    tiered: Annotated[
        TieredBytes | Absent, "Tiered partitions and their bytes; absent where there are none."
    ] = ABSENT


@dataclass(frozen=True, slots=True)
class SamplesAnswer:
    """Samples that were written."""

    folder: Annotated[str, "The folder of the samples."]
    samples: Annotated[Number, "Samples that this run wrote."]
    missed: Annotated[Count, "Times that passed without a sample."]
    last: Annotated[LastSample, "The last sample."]


@dataclass(frozen=True, slots=True)
class LastSample:
    """The file of a sample."""

    file: Annotated[str, "Its file."]
    size_bytes: Annotated[Count, "The size of the file."]
    partitions: Annotated[Count, "Partitions with an end offset."]
    replicas: Annotated[Count, "Replicas with their size on disk."]
    groups: Annotated[Count, "Consumer groups that were asked for their committed offsets."]
    unavailable: Annotated[tuple[str, ...], "Answers that brokers did not give, and why."]
