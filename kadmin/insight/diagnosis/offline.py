"""Names partitions without a leader with their ways out, those without a loss first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command
from kadmin.plan.recovery import has_clean_leader, starts_of
from kadmin.wording import brokers_in_words, count, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.next_step import NextStep

_SHOWN = 5


def offline_partitions(
    state: ClusterState, partitions: Sequence[TopicPartition], znode: str = ""
) -> Iterator[Finding]:
    """Find partitions without a leader; they do not stop an apply."""
    if not partitions:
        return
    starts = starts_of(partitions, state)
    lost = [each for each in partitions if not has_clean_leader(each, state)]
    shown = [
        f"broker {broker} alone gives a leader back to {count(number, 'partition')}"
        for broker, number in list(starts.items())[:_SHOWN]
    ]
    yield Finding(
        Trouble.OFFLINE_PARTITIONS,
        f"Partitions without a leader: {name_some(partitions)}.",
        _next_step(list(starts)),
        severity="warning",
        znode=znode,
        evidence=(
            *(partition_seen(state, each) for each in partitions[:_SHOWN]),
            *(shown if len(partitions) > 1 else ()),
            *((f"no replica may lead without a loss: {name_some(lost)}",) if lost else ()),
        ),
    )


def _next_step(starts: Sequence[int]) -> NextStep | str:
    if not starts:
        return (
            "the logs of their brokers say why: a log directory may have failed; what elections "
            "would lose: " + command("propose recovery", "--out", "PLAN")
        )
    return (
        f"start {brokers_in_words(starts)}; for those that stay dead, what elections would lose: "
        + command("propose recovery", "--out", "PLAN")
    )


def partition_seen(state: ClusterState, partition: TopicPartition) -> str:
    """Describe a partition as it was read: leader, ISR, eligible leaders, replicas."""
    found = state.states[partition]
    elr = f", ELR {list(found.elr)}" if found.elr else ""
    last = (
        f", last leader {list(found.last_known_elr)}"
        if found.last_known_elr and not found.elr
        else ""
    )
    replicas = list(state.replicas(partition) or ())
    return (
        f"{partition}: leader {found.leader}, ISR {list(found.isr)}{elr}{last}, replicas {replicas}"
    )
