"""Finds partitions without a leader or with too few replicas in sync.

It also finds hidden topics, emptied brokers, troubles of disks, unused copies and throttles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import escaped
from kadmin.insight.diagnosis.copies import copy_troubles
from kadmin.insight.diagnosis.disks import disk_troubles
from kadmin.insight.diagnosis.emptied_brokers import emptied_broker_troubles
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.health import health_of
from kadmin.insight.diagnosis.min_isr import above_replicas, min_isr_troubles
from kadmin.insight.diagnosis.offline import offline_partitions, partition_seen
from kadmin.next_step import command
from kadmin.plan.min_isr import MIN_INSYNC_REPLICAS
from kadmin.plan.progress import moves_in_flight
from kadmin.plan.throttle import MAY_RETURN
from kadmin.wording import brokers_in_words, name_some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import ClusterState
    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence

_SHOWN = 5


def partition_troubles(state: ClusterState, tool_options: str) -> Iterator[Finding]:
    """Find partitions that cannot be used; none of them stops every apply."""
    health = health_of(state)
    yield from offline_partitions(state, sorted(health.offline))
    yield from min_isr_troubles(state, health.under_min_isr, tool_options)
    short = sorted(health.under_min_isr - above_replicas(state, health.under_min_isr))
    if short:
        away = {broker for each in short for broker in state.replicas(each) or ()} - set(
            state.brokers
        )
        yield Finding(
            Trouble.UNDER_MIN_ISR,
            f"Partitions with fewer in-sync replicas than {MIN_INSYNC_REPLICAS}: "
            f"{name_some(short)}.",
            f"start {brokers_in_words(away)}"
            if away
            else "the log of a broker that is not in the ISR says why it does not follow: "
            + command("inspect partitions"),
            severity="warning",
            evidence=tuple(partition_seen(state, each) for each in short[:_SHOWN]),
        )


def standing_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find hidden topics, emptied brokers, troubles of disks, unused copies, leftover throttles.

    None of them stops an apply.
    """
    if evidence.hidden_topics:
        yield Finding(
            Trouble.HIDDEN_TOPICS,
            "Topics are on the brokers' disks and are hidden from this user: "
            f"{name_some(evidence.hidden_topics)}.",
            f"grant it the right Describe on them: kafka-acls.sh {evidence.tool_options} --add "
            f"--allow-principal {evidence.principal} --operation Describe --topic "
            f"{evidence.hidden_topics[0]}",
            severity="warning",
            evidence=(
                (
                    "brokers leave topics that may not be described out of every answer, without "
                    "an error"
                ),
            ),
        )
    # A broker that a reassignment adds is empty, too; without controllers none is known.
    elif not evidence.looks[-1].controllers_silent:
        yield from emptied_broker_troubles(evidence.state, evidence.held)
    yield from disk_troubles(evidence.state, evidence.disks, evidence.earlier_disks)
    yield from copy_troubles(evidence.unused_copies, evidence.disks)
    yield from _throttles(evidence)


def _throttles(evidence: KafkaEvidence) -> Iterator[Finding]:
    used = moves_in_flight(evidence.state) or evidence.operations or evidence.records_elsewhere
    if used or not evidence.throttles:
        return
    yield Finding(
        Trouble.LEFTOVER_THROTTLE,
        "Replication throttles are set although nothing is being reassigned: "
        f"{name_some(escaped(str(each)) for each in evidence.throttles)}.",
        command("throttle audit"),
        severity="warning",
        evidence=(
            *(
                f"{escaped(str(each))}: {', '.join(keys)}"
                for each, keys in list(evidence.throttles.items())[:_SHOWN]
            ),
            *(
                (MAY_RETURN,)
                if any(each.broker_id is not None for each in evidence.throttles)
                else ()
            ),
        ),
    )
