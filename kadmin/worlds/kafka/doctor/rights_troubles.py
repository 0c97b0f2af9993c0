"""Finds rights that the user of kadmin lacks, where brokers check rights."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.wording import name_some
from kadmin.worlds.kafka.needed_rights import lacking_rights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.worlds.kafka.doctor.evidence import KafkaEvidence
    from kadmin.worlds.kafka.needed_rights import LackingRight


def rights_troubles(evidence: KafkaEvidence) -> Iterator[Finding]:
    """Find each missing right of those that docs/kraft.md lists."""
    if evidence.rights is not None:
        for each in lacking_rights(evidence.rights):
            yield _missing(evidence, each)


def _missing(evidence: KafkaEvidence, found: LackingRight) -> Finding:
    topics = found.topics
    resource = " ".join(f"--topic {shlex.quote(each)}" for each in found.grant_on) or "--cluster"
    where = f"on {'topic' if len(topics) == 1 else 'topics'} {name_some(topics)}" if topics else "on the cluster"
    return Finding(
        Trouble.MISSING_RIGHT,
        f"The right {found.operation} {where} is missing.",
        f"kafka-acls.sh {evidence.tool_options} --add --allow-principal {evidence.principal} "
        f"--operation {found.operation} {resource}",
        severity="error" if found.essential else "warning",
        evidence=(f"needed for {found.needed_for}",),
    )
