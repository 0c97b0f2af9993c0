"""The findings of `doctor` as gauges, in Prometheus' text format for the textfile collector."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.insight.diagnosis.finding import Trouble
from kadmin.report.metrics import Gauge, exposition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.insight.diagnosis.finding import Finding

_COUNTED = {
    "late_moves": (Trouble.LATE_MOVE, "Finished operations whose moves are in flight."),
    "unanswered_requests": (
        Trouble.UNANSWERED_REQUEST,
        "Requests without an answer that may still be applied.",
    ),
    "leftover_throttles": (
        Trouble.LEFTOVER_THROTTLE,
        "1 where throttles are set and nothing is being reassigned.",
    ),
    "unfinished_operations": (
        Trouble.UNFINISHED_OPERATION,
        "Operations on record that are not finished.",
    ),
}


def doctor_metrics(findings: Mapping[str, Sequence[Finding] | None]) -> str:
    """Return the gauges; `findings` are those of each cluster, None where it did not answer.

    A cluster without an answer has the gauge `kadmin_doctor_answered` alone.
    """
    known = {name: found for name, found in findings.items() if found is not None}
    stopping = {name: sum(each.stops_apply for each in found) for name, found in known.items()}
    counted = [
        _gauge(
            gauge,
            description,
            {name: sum(each.code == trouble for each in found) for name, found in known.items()},
        )
        for gauge, (trouble, description) in _COUNTED.items()
    ]
    return exposition(
        [
            _gauge(
                "answered",
                "Whether the cluster answered.",
                {name: int(name in known) for name in findings},
            ),
            _gauge("stops_apply", "Findings that would stop an apply.", stopping),
            *counted,
        ]
    )


def _gauge(name: str, description: str, numbers: Mapping[str, int]) -> Gauge:
    samples = tuple(({"cluster": cluster}, number) for cluster, number in numbers.items())
    return Gauge(f"kadmin_doctor_{name}", description, samples)
