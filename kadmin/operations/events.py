"""What the loop tells while it works. Values only; the command line renders them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Opened:
    """The operation is on record: from here any machine can take it over."""

    operation_id: str


@dataclass(frozen=True, slots=True)
class StepPublished:
    """An admin node was created: `what` says which, `count` how many partitions or topics it holds."""

    what: str
    count: int
    step: int


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far the whole operation is. Bytes are None where sizes are unknown; `elapsed_s` since this run began."""

    done: int
    total: int
    done_bytes: int | None
    total_bytes: int | None
    elapsed_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Something worth a line: a probe, a lock taken again, a refused publish."""

    text: str


Event: TypeAlias = Opened | StepPublished | Progressed | Noted
Tell: TypeAlias = Callable[[Event], None]
