"""The shape of the answer of `propose election`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kadmin.answers.partitions import Partition


@dataclass(frozen=True, slots=True)
class ElectionAnswer:
    """A proposed election."""

    plan: Annotated[str, "The file that was written."]
    partitions: Annotated[tuple[Partition, ...], "Partitions that the plan elects."]
    impossible: Annotated[
        tuple[ImpossibleElection, ...],
        "Partitions whose leader is not preferred, and that cannot be elected now.",
    ]


@dataclass(frozen=True, slots=True)
class ImpossibleElection(Partition):
    """A partition that cannot be elected."""

    reason: Annotated[str, "Why the partition cannot be elected."]
