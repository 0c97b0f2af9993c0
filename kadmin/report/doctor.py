"""The findings of `doctor` as text of 80 columns, and JSON (schemas/answers/doctor.schema.json)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kadmin.answers.doctor import DoctorAnswer, DoctorFinding, VersionRange
from kadmin.cluster.names import escaped
from kadmin.next_step import text_of
from kadmin.report.text import WIDTH, wrapped
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.cluster.versions import KafkaVersions
    from kadmin.insight.diagnosis.doctor_report import DoctorReport
    from kadmin.insight.diagnosis.finding import Finding

_MOST = 2_000
_BELOW_NEXT = " " * len("   next: ")
_ONE_COMMAND = re.compile(r"(kadmin|kafka-[a-z-]+\.sh) [^;,]*")
_THEN_COMMANDS = re.compile(r"(?P<words>.*)[:;] (?P<commands>(kadmin|kafka-[a-z-]+\.sh) [^;]*)")
_NEXT_COMMAND = re.compile(r", (?:then|or) (?=kadmin |kafka-)")


def doctor_text(report: DoctorReport, width: int | None = None) -> str:
    """Show every finding with its evidence and next step, then the missing checks.

    `width` is that of a terminal, where it is less than 80 columns.
    """
    width = min(WIDTH, width or WIDTH)
    findings, counts, stopping = report.findings, report.counts, report.stops_apply
    summary = f"{count(len(findings), 'finding')}: " if findings else "nothing found: "
    summary += f"{stopping} would stop an apply" if stopping else "nothing would stop an apply"
    if counts is not None:
        summary += (
            f"\n{count(counts.partitions, 'partition')}: {counts.under_replicated:,} "
            f"under-replicated, {counts.at_min_isr:,} at min ISR"
        )
    if report.service is not None:
        summary += f"\nservice: {report.service} ({report.service.page})"
    blocks = [summary, *finding_blocks(findings, width, "stops an apply")]
    blocks += ["\n".join(wrapped(f"not checked: {each}", width=width)) for each in report.unchecked]
    return "\n\n".join(blocks)


def doctor_answer(report: DoctorReport) -> DoctorAnswer:
    """Answer `doctor`."""
    return DoctorAnswer(
        bool(report.stops_apply),
        None if report.versions is None else versions_answer(report.versions),
        report.service,
        report.counts,
        tuple(
            DoctorFinding(found.code, found.stops_apply, **finding_details(found))
            for found in report.findings
        ),
        report.unchecked,
    )


def versions_answer(versions: KafkaVersions) -> VersionRange:
    """Return the oldest and the newest version that a cluster may run."""
    return VersionRange(".".join(map(str, versions.oldest)), ".".join(map(str, versions.newest)))


def finding_details(found: Finding) -> dict[str, Any]:
    """Return the fields of FindingDetails."""
    return {
        "path": escaped(found.znode) if found.znode else None,
        "message": escaped(found.message, _MOST),
        "evidence": tuple(escaped(seen, _MOST) for seen in found.evidence),
        "remedy": text_of(found.next_step) or "",
        "topic": found.topic,
        "partitions": found.partitions,
        "version": found.version,
    }


def finding_blocks(findings: Iterable[Finding], width: int, stops: str) -> list[str]:
    """Show each finding with its evidence and next step.

    `stops` describes the effect of an error.
    """
    return [_finding(number, found, width, stops) for number, found in enumerate(findings, start=1)]


def _finding(number: int, found: Finding, width: int, stops: str) -> str:
    what = f" ({stops})" if found.stops_apply else ""
    lines = wrapped(f"{number}. {found.code}{what}: {found.message}", indent="   ", width=width)
    for seen in found.evidence:
        lines += wrapped(f"   - {seen}", indent="     ", width=width)
    return "\n".join([*lines, *_next(text_of(found.next_step) or "", width)])


def _next(text: str, width: int) -> list[str]:
    """Break the words of a next step into lines.

    Each command stays on a line of its own, so that it can be copied.
    """
    line = f"   next: {text}"
    if len(line) <= width or _ONE_COMMAND.fullmatch(text):
        return [line]
    found = _THEN_COMMANDS.fullmatch(text)
    if found is None:
        return wrapped(line, indent=_BELOW_NEXT, width=width)
    words = wrapped(f"   next: {found['words']}:", indent=_BELOW_NEXT, width=width)
    return words + [f"{_BELOW_NEXT}{command}" for command in _NEXT_COMMAND.split(found["commands"])]
