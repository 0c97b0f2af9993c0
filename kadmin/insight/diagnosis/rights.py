"""The report of `context check`: rights that operations need and this client does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class MissingRight:
    """A right that is missing, what needs it, and the command or the instruction that grants it."""

    right: Annotated[str, "The right that is missing."]
    needed_for: Annotated[str, "What needs it."]
    remedy: Annotated[str, "The command that grants it, or what to do."]


@dataclass(frozen=True, slots=True)
class RightsFound:
    """The cluster, this client's principal if known, missing rights, and rights not checked."""

    cluster_id: str | None
    principal: str | None
    missing: tuple[MissingRight, ...]
    unchecked: tuple[str, ...]
