"""Events of a running operation; the command line renders them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Opened:
    """The operation is on record; any machine can take it over."""

    operation_id: str


@dataclass(frozen=True, slots=True)
class StepPublished:
    """A request was published: `what` says which kind, `count` how many partitions or topics it names."""

    what: str
    count: int
    step: int


@dataclass(frozen=True, slots=True)
class Progressed:
    """Progress of the whole operation. Bytes are None where sizes are unknown; `elapsed_s` counts this run."""

    done: int
    total: int
    done_bytes: int | None
    total_bytes: int | None
    elapsed_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Noted:
    """A note: a probe, a lock taken again, a refused publish."""

    text: str


Event: TypeAlias = Opened | StepPublished | Progressed | Noted
Tell: TypeAlias = Callable[[Event], None]
