"""Finds cordons that were left, and dead brokers whose registration blocks an upgrade."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.names import one_line
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.next_step import command
from kadmin.plan.cordon import ALL_DIRS, CORDON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence


def registration_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Yield a finding for each cordoned broker, and for a registration that blocks an upgrade."""
    dead = evidence.recorded_cordons.keys() - evidence.state.brokers.keys()
    for broker in sorted({*evidence.cordons, *dead}):
        yield _cordoned(evidence, broker)
    blocked = evidence.blocked_upgrade
    if blocked is not None:
        yield Finding(
            Trouble.BLOCKED_UPGRADE,
            f"Broker {blocked.broker_id} is registered, dead, and blocks level {blocked.level} of "
            "metadata.version, which every live broker supports.",
            command("broker unregister", str(blocked.broker_id)) + ", if it does not come back",
            severity="warning",
            evidence=(one_line(blocked.reason),),
        )


def _cordoned(evidence: KafkaEvidence, broker: int) -> Finding:
    value, record = evidence.cordons.get(broker), evidence.recorded_cordons.get(broker)
    which = f"Broker {broker} is cordoned: it gets no new replicas."
    if value is None:
        which = f"Broker {broker} is not alive, and is cordoned when it is back."
    elif value != ALL_DIRS:
        which = f"Directories of broker {broker} are cordoned: they get no new replicas."
    return Finding(
        Trouble.CORDONED_BROKER,
        which,
        command("broker uncordon", str(broker)),
        severity="warning",
        evidence=(
            f"{CORDON}: {'not known' if value is None else one_line(value)}",
            "not by kadmin" if record is None else f"by kadmin, {one_line(str(record))}",
        ),
    )
