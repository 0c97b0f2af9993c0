"""Shapes of the znodes and answers of brokers that an answer lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.schema.shapes import Absent


@dataclass(frozen=True, slots=True)
class UnreadableZnode:
    """A znode that could not be read."""

    path: Annotated[str, "Znode."]
    reason: Annotated[str, "The reason."]
    denied: Annotated[bool, "Whether ZooKeeper denied the read."]


UnreadableZnodes: TypeAlias = Annotated[
    tuple[UnreadableZnode, ...], "Znodes that could not be read; the rest is in the answer."
]
Unavailable: TypeAlias = Annotated[
    tuple[str, ...] | Absent,
    "Answers of brokers that are missing, each with the reason; through the brokers only.",
]
