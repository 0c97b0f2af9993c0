"""Finds topics that no restart makes writable.

Their min.insync.replicas is above the number of their replicas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS, min_insync_replicas
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.model import ClusterState, TopicPartition

_SHOWN = 5


def above_replicas(
    state: ClusterState, partitions: Iterable[TopicPartition]
) -> frozenset[TopicPartition]:
    """Return the partitions whose min.insync.replicas is above their replication factor."""
    return frozenset(
        each
        for each in partitions
        if len(state.replicas(each) or ()) < min_insync_replicas(each.topic, state)
    )


def min_isr_troubles(
    state: ClusterState,
    partitions: Iterable[TopicPartition],
    tool_options: str = "",
    *,
    znode: str = "",
) -> Iterator[Finding]:
    """Find topics of these partitions that refuse acks=all with any ISR.

    `tool_options` connect to the cluster.
    """
    found = sorted(above_replicas(state, partitions))
    if not found:
        return
    first, fewest = found[0], len(state.replicas(found[0]) or ())
    command = (
        f"kafka-configs.sh {tool_options} --alter --entity-type topics --entity-name {first.topic}"
    )
    yield Finding(
        Trouble.UNDER_MIN_ISR,
        f"{MIN_INSYNC_REPLICAS} is above the replication factor, so that acks=all is always "
        f"refused: {name_some(found)}.",
        f"{' '.join(command.split())} --add-config {MIN_INSYNC_REPLICAS}={max(fewest - 1, 1)}; or "
        "give the topic more replicas",
        severity="warning",
        znode=znode,
        evidence=tuple(
            f"{each}: {MIN_INSYNC_REPLICAS} {min_insync_replicas(each.topic, state)}, "
            f"replicas {list(state.replicas(each) or ())}"
            for each in found[:_SHOWN]
        ),
    )
