"""Shapes of the answers of `broker`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.schema.shapes import Count


@dataclass(frozen=True, slots=True)
class CordonAnswer:
    """The cordon of a broker."""

    broker_id: Annotated[Count, "Broker."]
    cordoned: Annotated[
        bool | None,
        "Whether the broker is cordoned; null where that cannot be seen, as it is not alive.",
    ]
    changed: Annotated[bool, "Whether anything was written."]
    before: Annotated[str | None, "cordoned.log.dirs of its own before; null where it had none."]
    after: Annotated[str | None, "cordoned.log.dirs of its own now; null where it has none."]
    record: Annotated[RecordedCordon | None, "The cordon on record; null for none."]
    in_flight: Annotated[
        tuple[str, ...], "Partitions in flight onto the broker, which the cordon does not stop."
    ]


@dataclass(frozen=True, slots=True)
class RecordedCordon:
    """A cordon on record."""

    by: Annotated[str, "Who cordoned the broker."]
    at: Annotated[str, "When, UTC."]
    before: Annotated[str | None, "The value that uncordon restores; null for none."]


@dataclass(frozen=True, slots=True)
class UnregisteredAnswer:
    """A broker that is not registered any more."""

    broker_id: Annotated[Count, "Broker."]
