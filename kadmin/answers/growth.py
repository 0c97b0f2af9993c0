"""Shapes of the answer of `propose growth`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.diff import ChangedBroker
from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class GrowthAnswer:
    """A proposed growth."""

    plan: Annotated[str, "The file that was written."]
    topics: Annotated[tuple[GrownTopic, ...], "Topics that get more partitions."]
    impossible: Annotated[tuple[UngrownTopic, ...], "Topics that get none."]
    brokers: Annotated[tuple[ChangedBroker, ...], "Every broker; bytes are left out."]


@dataclass(frozen=True, slots=True)
class GrownTopic:
    """A topic that gets more partitions."""

    topic: Annotated[str, "The topic."]
    before: Annotated[Count, "Its partitions now."]
    after: Annotated[Count, "Its partitions when the plan is done."]


@dataclass(frozen=True, slots=True)
class UngrownTopic:
    """A topic that gets no partitions."""

    topic: Annotated[str, "The topic."]
    reason: Annotated[str, "Why it gets none."]
