"""The shape of the answer of `load build`, and of load.json."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.planner.load_build.weeks import WeekMerge
from kadmin.schema.shapes import ABSENT, Absent, Count, Keywords, Number

PER_WEEK = "per-week"
"""The name in place of a WeekMerge where each week is kept apart."""
Part: TypeAlias = Annotated[float, Keywords(minimum=0, maximum=1)]


@dataclass(frozen=True, slots=True)
class UnknownName:
    """A name of series about topics that is no known metric."""

    name: Annotated[str | None, "The name; null where a query dropped it, as rate() does."]
    metric: Annotated[str | None, "Its metric; null where it has none."]


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of the partitions' load with the figures that brokers reported."""

    in_: Annotated[Part | None, "Bytes in."]
    out: Annotated[Part | None, "Bytes out to consumers."]


@dataclass(frozen=True)
class LoadSource:
    """The source and the folder of a load."""

    from_: Annotated[str, "Where the samples are."]
    out: Annotated[str, "The folder of the load."]
    files: Annotated[Count, "Sample files in the roll-ups; 0 where the source is read whole."]


@dataclass(frozen=True)
class SamplesRead:
    """The samples that one run read."""

    samples_read: Annotated[Count, "Samples that this run read."]
    samples_left_out: Annotated[
        Count, "Samples without a time, a topic, a metric of kadmin or a valid value."
    ]
    instances_without_broker: Annotated[
        tuple[str, ...],
        "Instances of Prometheus that report about topics, whose broker id is unknown.",
    ]
    unknown_names: Annotated[
        tuple[UnknownName, ...],
        "Names of series about topics that are no known metric; their samples were left out.",
    ]
    underscored_topics: Annotated[
        Mapping[str, str],
        "Topics that occur only in meters, each with a topic of the same name with dots.",
    ]
    days_read: Annotated[tuple[str, ...], "Days whose samples were read by this run."]


@dataclass(frozen=True)
class BuiltLoad(SamplesRead, LoadSource):
    """A load: where it comes from, what this run read, and what it is made of."""

    start: Annotated[str, "Monday 00:00 UTC of the first week."]
    weeks: Annotated[Number, "Weeks from there on."]
    merge: Annotated[
        str,
        Keywords(enum=[*WeekMerge, PER_WEEK]),
        "How the same hour of several weeks became one rate.",
    ]
    days: Annotated[tuple[str, ...], "Days that the load includes, in UTC."]
    stray_days: Annotated[
        tuple[str, ...],
        "Days with hardly any samples, left out: their times come from clocks that were wrong.",
    ]
    rows: Annotated[Count, "Rows of partition_load."]
    coverage: Annotated[Part | None, "The part of all hours of all rows whose bytes in are known."]
    agreement: Annotated[
        Agreement,
        "How far partitions add up to what brokers reported, before they were scaled to it: 1 "
        "less all differences by broker and hour over all that was reported. Null where nothing "
        "can be compared.",
    ]
    plans: Annotated[Mapping[str, str] | Absent, "With --explain: Spark's plan of each job."] = (
        ABSENT
    )
