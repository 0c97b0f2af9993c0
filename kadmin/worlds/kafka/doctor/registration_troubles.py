"""Finds brokers that are not needed any more, cordons, and upgrades that a dead broker blocks.

=======================================  ====================================================
broker that no list of replicas names    finding
=======================================  ====================================================
registered, dead, its process ended      unused-registration: unregister it, or start it
alive, cordoned, empty log directories   drained-broker: stop and unregister it, or uncordon it
=======================================  ====================================================

Where topics may be hidden, or a broker did not list its replicas, no broker is one of them. Brokers
of an unfinished decommission are its own: what is left to do is in the finding on the operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.disks import DiskState
from kadmin.cluster.names import one_line
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.quorum import running_brokers
from kadmin.next_step import command
from kadmin.plan.cordon import ALL_DIRS, CORDON
from kadmin.plan.units import readable_size
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import Controller
    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence


def registration_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find registrations without a use, cordons, and a registration that blocks an upgrade."""
    for broker in sorted(unused_registrations(evidence)):
        yield _unused(evidence, broker)
    dead = evidence.recorded_cordons.keys() - evidence.state.brokers.keys()
    for broker in sorted({*evidence.cordons, *dead} - evidence.leaving):
        found = _drained if _is_drained(evidence, broker) else _cordoned
        yield found(evidence, broker)
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


def unused_registrations(evidence: KafkaEvidence) -> frozenset[int]:
    """Return the brokers that every look shows registered and dead, and that no list names."""
    return frozenset(
        broker
        for broker in (evidence.state.fenced_brokers or {}).keys() - evidence.leaving
        if evidence.state.controller is not None
        and evidence.has_no_replica(broker)
        and all(
            broker in (look.state.fenced_brokers or ())
            and broker not in running_brokers(look.state.controller)
            for look in evidence.looks
        )
    )


def _unused(evidence: KafkaEvidence, broker: int) -> Finding:
    return Finding(
        Trouble.UNUSED_REGISTRATION,
        f"Broker {broker} is registered and dead, and no list of replicas names it.",
        command("broker unregister", broker) + ", if it does not come back; otherwise start it",
        severity="warning",
        evidence=(_last_fetch(evidence.state.controller, broker),),
    )


def _last_fetch(controller: Controller | None, broker: int) -> str:
    observers = () if controller is None else controller.observers
    for each in observers:
        if each.server_id == broker and each.fetched_s_ago is not None:
            return f"its process last fetched the metadata {each.fetched_s_ago:.0f} s ago"
    return (
        "when its process last fetched the metadata is not known: the active controller does not "
        "list it"
    )


def _is_drained(evidence: KafkaEvidence, broker: int) -> bool:
    controller = evidence.state.controller
    return (
        evidence.cordons.get(broker) == ALL_DIRS
        and broker in evidence.empty_brokers
        and evidence.has_no_replica(broker)
        and controller is not None
        and all(each.server_id != broker for each in controller.voters)
    )


def _drained(evidence: KafkaEvidence, broker: int) -> Finding:
    return Finding(
        Trouble.DRAINED_BROKER,
        f"Broker {broker} is cordoned and empty: no list of replicas names it.",
        "stop it and unregister it, or use it again: "
        + command("broker unregister", broker)
        + ", or "
        + command("broker uncordon", broker),
        severity="warning",
        evidence=("its log directories list no replica", _author(evidence, broker)),
    )


def _cordoned(evidence: KafkaEvidence, broker: int) -> Finding:
    value = evidence.cordons.get(broker)
    which = f"Broker {broker} is cordoned: it gets no new replicas."
    if value is None:
        which = f"Broker {broker} is not alive, and is cordoned when it is back."
    elif value != ALL_DIRS:
        which = f"Directories of broker {broker} are cordoned: they get no new replicas."
    return Finding(
        Trouble.CORDONED_BROKER,
        which,
        command("broker uncordon", broker),
        severity="warning",
        evidence=(
            f"{CORDON}: {'not known' if value is None else one_line(value)}",
            _author(evidence, broker),
            *_on_cordoned(evidence, broker),
        ),
    )


def _on_cordoned(evidence: KafkaEvidence, broker: int) -> Iterator[str]:
    for disk in evidence.disks.disks.get(broker, ()):
        if disk.state is DiskState.CORDONED:
            held = [
                each for each in evidence.disks.replicas.get(broker, ()) if each.path == disk.path
            ]
            total = readable_size(sum(each.size_bytes or 0 for each in held))
            yield f"{one_line(disk.path)}: {count(len(held), 'replica')}, {total}"


def _author(evidence: KafkaEvidence, broker: int) -> str:
    record = evidence.recorded_cordons.get(broker)
    return "not by kadmin" if record is None else f"by kadmin, {one_line(str(record))}"
