"""The findings of `doctor` as text of at most 80 columns and as JSON (schemas/answers/doctor.schema.json)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.cluster.names import escaped
from kadmin.errors import count
from kadmin.report.text import WIDTH, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.insight.diagnosis.finding import Finding
    from kadmin.insight.diagnosis.zookeeper.versions import KafkaVersions

_MOST = 2_000


def doctor_text(findings: tuple[Finding, ...], unchecked: Iterable[str], room: int | None = None) -> str:
    """Show every finding with its evidence and remedy, then what could not be checked.

    `room` is that of a terminal, where it is less than 80 columns.
    """
    width = min(WIDTH, room or WIDTH)
    stopping = sum(found.stops_apply for found in findings)
    summary = f"{count(len(findings), 'finding')}: " if findings else "nothing found: "
    summary += f"{stopping} would stop an apply" if stopping else "nothing would stop an apply"
    blocks = [summary, *finding_blocks(findings, width, "stops an apply")]
    blocks += ["\n".join(wrapped(f"not checked: {each}", room=width)) for each in unchecked]
    return "\n\n".join(blocks)


def doctor_answer(
    findings: tuple[Finding, ...], unchecked: Iterable[str], versions: KafkaVersions | None
) -> dict[str, Any]:
    """Answer `doctor`; `versions` are those that znodes show."""
    return {
        "stops_apply": any(found.stops_apply for found in findings),
        "kafka_versions": None if versions is None else versions_answer(versions),
        "findings": [finding_answer(found, "stops_apply") for found in findings],
        "not_checked": list(unchecked),
    }


def versions_answer(versions: KafkaVersions) -> dict[str, str]:
    """Return the oldest and the newest version that a cluster may run."""
    return {"oldest": ".".join(map(str, versions.oldest)), "newest": ".".join(map(str, versions.newest))}


def finding_answer(found: Finding, stops: str) -> dict[str, Any]:
    """Return a finding; `stops` is the key that says whether it is an error."""
    return {
        "trouble": found.code,
        stops: found.stops_apply,
        "path": escaped(found.znode) if found.znode else None,
        "message": escaped(found.message, _MOST),
        "evidence": [escaped(seen, _MOST) for seen in found.evidence],
        "remedy": found.hint,
        "topic": found.topic,
        "partitions": list(found.partitions),
        "version": found.version,
    }


def finding_blocks(findings: Iterable[Finding], width: int, stops: str) -> list[str]:
    """Show each finding with its evidence and remedy; `stops` says what an error does."""
    return [_finding(number, found, width, stops) for number, found in enumerate(findings, start=1)]


def _finding(number: int, found: Finding, width: int, stops: str) -> str:
    what = f" ({stops})" if found.stops_apply else ""
    lines = wrapped(f"{number}. {found.code}{what}: {found.message}", indent="   ", room=width)
    for seen in found.evidence:
        lines += wrapped(f"   - {seen}", indent="     ", room=width)
    # The command stays on one line, so that it can be copied.
    return "\n".join([*lines, f"   next: {found.hint}"])
