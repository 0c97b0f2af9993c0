"""Derives findings from evidence, in the order in which an operator would repair them."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.disks import of_another_cluster
from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.insight.diagnosis.operations import operation_troubles
from kadmin.wording import brokers_in_words, name_some
from kadmin.worlds.kafka.doctor.move_troubles import (
    late_targets,
    move_troubles,
    unanswered_requests,
)
from kadmin.worlds.kafka.doctor.partition_troubles import partition_troubles, standing_troubles
from kadmin.worlds.kafka.doctor.record_topic_troubles import record_topic_troubles
from kadmin.worlds.kafka.doctor.registration_troubles import (
    registration_troubles,
    unused_registrations,
)
from kadmin.worlds.kafka.doctor.server_troubles import server_troubles
from kadmin.worlds.kafka.needed_rights import lacking_rights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.kafka.doctor.evidence import ClusterLook, KafkaEvidence
    from kadmin.worlds.kafka.needed_rights import LackingRight

_KINDS = (
    {Trouble.NO_QUORUM, Trouble.LAGGING_CONTROLLER},
    {Trouble.FENCED_BROKER, Trouble.MISSING_BROKERS, Trouble.UNREGISTERED_BROKER},
)
"""Troubles that count as the same in two looks: a broker that is stopped seems to run for some
seconds."""


def diagnose(evidence: KafkaEvidence) -> tuple[Finding, ...]:
    """Return every finding that the evidence supports."""
    # Controllers that did not answer had longer than the time between two looks.
    looks = evidence.looks[-1:] if evidence.looks[-1].controllers_silent else evidence.looks
    *earlier, last = (passing_troubles(evidence, look) for look in looks)
    lasting = [found for found in last if all(_shows(found, look) for look in earlier)]
    return (
        *lasting,
        *operation_troubles(evidence.lock, evidence.operations),
        *unanswered_requests(evidence),
        *late_targets(evidence),
        *standing_troubles(evidence),
        *registration_troubles(evidence),
        *rights_troubles(evidence),
    )


def _shows(trouble: Finding, look: tuple[Finding, ...]) -> bool:
    """Whether an earlier look showed a trouble, or another one of its kind."""
    kind = next((kind for kind in _KINDS if trouble.code in kind), {trouble.code})
    return any(found.code in kind for found in look)


def passing_troubles(evidence: KafkaEvidence, look: ClusterLook) -> tuple[Finding, ...]:
    """Return the findings of one look, which the next look may no longer support."""
    return (
        *server_troubles(look, unused_registrations(evidence) | evidence.leaving),
        *record_topic_troubles(evidence, look.state),
        *move_troubles(evidence, look.state),
        *partition_troubles(look.state, evidence.tool_options),
    )


def unchecked(evidence: KafkaEvidence) -> tuple[str, ...]:
    """Return a sentence for each missing check.

    An empty list of findings is then not read as health.
    """
    unknown = (
        ("which brokers are registered and fenced: brokers report it from Kafka 4.0 on",)
        if evidence.state.fenced_brokers is None
        else ()
    )
    silent = (
        ("moves in flight: no controller answers",) if evidence.looks[-1].controllers_silent else ()
    )
    elsewhere = (evidence.records_elsewhere,) if evidence.records_elsewhere else ()
    other = of_another_cluster(evidence.state, evidence.earlier_disks)
    return (*evidence.unavailable, *elsewhere, *silent, *unknown, *_stray(evidence), *other)


def _stray(evidence: KafkaEvidence) -> Iterator[str]:
    if evidence.stray:
        where = name_some(
            f"{each.topic} on {brokers_in_words(each.brokers)}, by {each.operation_id}"
            for each in evidence.stray
        )
        yield (
            f"folders of topics that were deleted while a broker was away ({where}): brokers do "
            "not list them; find LOG_DIR -maxdepth 1 -name '*-stray' does"
        )


def rights_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find each missing right of those that docs/kraft.md lists."""
    if evidence.rights is not None:
        for each in lacking_rights(evidence.rights):
            yield _missing(evidence, each)


def _missing(evidence: KafkaEvidence, found: LackingRight) -> Finding:
    topics = found.topics
    resource = " ".join(f"--topic {shlex.quote(each)}" for each in found.grant_on) or "--cluster"
    where = (
        f"on {'topic' if len(topics) == 1 else 'topics'} {name_some(topics)}"
        if topics
        else "on the cluster"
    )
    return Finding(
        Trouble.MISSING_RIGHT,
        f"The right {found.operation} {where} is missing.",
        f"kafka-acls.sh {evidence.tool_options} --add --allow-principal {evidence.principal} "
        f"--operation {found.operation} {resource}",
        severity="error" if found.essential else "warning",
        evidence=(f"needed for {found.needed_for}",),
    )
