"""Findings of `doctor migration`, as text and as JSON.

The schema is schemas/answers/doctor-migration.schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.answers.doctor import ImportAnswer, MigrationAnswer, MigrationFinding
from kadmin.report.doctor import finding_blocks, finding_details
from kadmin.report.text import WIDTH, wrapped
from kadmin.wording import count

if TYPE_CHECKING:
    from kadmin.insight.diagnosis.doctor_report import Preflight
    from kadmin.operations.record.record import Imported


def migration_text(found: Preflight, width: int | None = None) -> str:
    """Show the phase, go or no-go, every finding, and the data that stays in ZooKeeper."""
    width = min(WIDTH, width or WIDTH)
    stopping = sum(each.stops_apply for each in found.findings)
    verdict = "go" if found.go else f"no-go: {stopping} of {len(found.findings)} findings"
    blocks = [
        f"phase {found.phase.value}: {verdict}",
        *finding_blocks(found.findings, width, "stops the migration"),
    ]
    blocks += [
        "\n".join(wrapped(f"stays in ZooKeeper: {each}", width=width))
        for each in found.stays_behind
    ]
    blocks += ["\n".join(wrapped(f"not checked: {each}", width=width)) for each in found.unchecked]
    return "\n\n".join(blocks)


def migration_answer(found: Preflight) -> MigrationAnswer:
    """Answer `doctor migration`."""
    findings = (
        MigrationFinding(each.code, each.stops_apply, **finding_details(each))
        for each in found.findings
    )
    return MigrationAnswer(
        found.phase, found.go, tuple(findings), found.stays_behind, found.unchecked
    )


def imported_text(found: Imported, to: str) -> str:
    """Show the number of imported operations, and the side that they were written to."""
    way = "from ZooKeeper to the brokers" if to == "brokers" else "from the brokers to ZooKeeper"
    carried = count(len(found.carried), "operation")
    return "\n".join(
        [f"{carried} copied {way}; {found.already} on both sides already", *found.carried]
    )


def imported_answer(found: Imported, to: str) -> ImportAnswer:
    """Answer `history import`."""
    return ImportAnswer(to, found.carried, found.already)
