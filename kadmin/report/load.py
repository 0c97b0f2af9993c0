"""The answer of `kadmin load build` as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.errors import count, name_some
from kadmin.report.text import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping


def load_text(figures: Mapping[str, Any], plans: Mapping[str, str]) -> str:
    """Describe what was built (schemas/answers/load-build.schema.json), and Spark's plans where they were asked for."""
    read = f"{count(figures['samples_read'], 'sample')} of {count(len(figures['days_read']), 'day')} read now"
    days = f"{count(len(figures['days']), 'day')} in {count(figures['weeks'], 'week')}"
    lines = [
        f"{days} from {figures['start'][:10]} ({figures['merge']}); {read}",
        f"known: {_percent(figures['coverage'])} of all hours",
    ]
    told = ", ".join(f"{way} {part:.1%}" for way, part in figures["agreement"].items() if part is not None)
    if told:
        lines.append(f"partitions add up to what brokers reported: {told}")
    if figures["samples_left_out"]:
        left_out = count(figures["samples_left_out"], "sample")
        lines.append(
            f"warning: {left_out} left out: without a time, a topic, a metric of kadmin or a value that can be"
        )
    if figures["instances_without_broker"]:
        instances = name_some(figures["instances_without_broker"])
        lines.append(f"warning: whose meters these are is unknown, spec.brokers of --names says it: {instances}")
    if figures["stray_days"]:
        lines.append(f"warning: hardly any samples, left out as wrong clocks: {name_some(figures['stray_days'])}")
    lines += [f"\nplan of {name}:\n{plan}" for name, plan in plans.items()]
    lines.append(f"{count(figures['rows'], 'row')} -> {figures['out']}")
    return "\n".join(lines)


def _percent(part: float | None) -> str:
    return UNKNOWN if part is None else f"{part:.1%}"
