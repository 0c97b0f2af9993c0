"""The answer of `kadmin load build` as text."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from kadmin.report.text import UNKNOWN
from kadmin.wording import count, name_some

if TYPE_CHECKING:
    from collections.abc import Mapping


def load_text(figures: Mapping[str, Any], plans: Mapping[str, str]) -> str:
    """Describe the built load, and Spark's plans where requested.

    The schema is schemas/answers/load-build.schema.json.
    """
    read = (
        f"{count(figures['samples_read'], 'sample')} of {count(len(figures['days_read']), 'day')} "
        "read now"
    )
    days = f"{count(len(figures['days']), 'day')} in {count(figures['weeks'], 'week')}"
    lines = [
        f"{days} from {figures['start'][:10]} ({figures['merge']}); {read}",
        f"known: {_percent(figures['coverage'])} of all hours",
    ]
    agreement = ", ".join(
        f"{way} {part:.1%}" for way, part in figures["agreement"].items() if part is not None
    )
    if agreement:
        lines.append(f"agreement with the rates that brokers reported: {agreement}")
    if figures["samples_left_out"]:
        left_out = count(figures["samples_left_out"], "sample")
        lines.append(
            f"warning: {left_out} left out: without a time, a topic, a metric of kadmin or a "
            "valid value"
        )
    lines += _export_lines(figures)
    if figures["stray_days"]:
        lines.append(
            "warning: hardly any samples, left out as wrong clocks: "
            f"{name_some(figures['stray_days'])}"
        )
    lines += [f"\nplan of {name}:\n{plan}" for name, plan in plans.items()]
    lines.append(f"{count(figures['rows'], 'row')} -> {figures['out']}")
    return "\n".join(lines)


def _export_lines(figures: Mapping[str, Any]) -> list[str]:
    """Name the unmapped brokers, series and topics of a Prometheus export.

    Also name the field of --names that maps them.
    """
    lines = []
    if instances := figures["instances_without_broker"]:
        of = _mapping("brokers", dict.fromkeys(instances, "ID"))
        lines.append(
            "warning: no label broker_id, these meters count for topics as a whole; to map them: "
            f"{of}"
        )
    if unknown := figures["unknown_names"]:
        likely_first = sorted(
            unknown, key=lambda each: (each["metric"] is None, each["name"] or "")
        )
        named = name_some(
            each["name"] or "without a name, as rate() leaves it" for each in likely_first
        )
        lines.append(f"warning: series about topics of unknown names, left out: {named}")
        likely = {
            each["name"]: f'{{"metric": "{each["metric"]}"}}'
            for each in likely_first
            if each["metric"]
        }
        lines += [f"  to map them: {_mapping('metrics', likely)}"] if likely else []
    if topics := figures["underscored_topics"]:
        of = _mapping("topics", {topic: json.dumps(dotted) for topic, dotted in topics.items()})
        lines.append(
            f"warning: only meters have these topics, with underscores for dots; to map them: {of}"
        )
    if lines:
        lines.append(
            f"  then rm -r {shlex.quote(figures['out'])}, and build with --names: files that are "
            "in are not read again"
        )
    return lines


def _mapping(field: str, values: Mapping[str, str]) -> str:
    return (
        f"spec.{field}: "
        f"{{{name_some(f'{json.dumps(name)}: {value}' for name, value in values.items())}}}"
    )


def _percent(part: float | None) -> str:
    return UNKNOWN if part is None else f"{part:.1%}"
