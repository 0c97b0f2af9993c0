"""Explains single partitions of a proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.planner.proposal import Proposal


def explain(partitions: Sequence[str], proposals: Mapping[str, Proposal]) -> dict[str, str]:
    """Return the rest of a sentence for each partition, named `topic-0`.

    It is why it is in the plan, or that it is not. In a fleet the key is `cluster: topic-0`, one
    for each cluster whose plan has the partition.
    """
    found: dict[str, str] = {}
    planned: set[str] = set()
    for name, proposal in proposals.items():
        for partition, why in proposal.reasons.items():
            if str(partition) in partitions:
                planned.add(str(partition))
                found[f"{name}: {partition}" if name else str(partition)] = (
                    f"is in the plan because {why}"
                )
    return found | {
        key: "is not in the plan: its replicas do not change"
        for key in partitions
        if key not in planned
    }
