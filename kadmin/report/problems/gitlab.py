"""Problems as a GitLab code quality report: shown in the merge request, on their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents.text import printable
from kadmin.report.problems.fingerprint import fingerprints
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.diagnostics import Diagnostic

_SEVERITIES = {"error": "major", "warning": "minor"}


def code_quality(problems: Sequence[Diagnostic]) -> str:
    """Return the report; no problem gives an empty list, as GitLab wants it."""
    report = [
        {
            "description": problem.message
            if problem.next_step is None
            else f"{problem.message} ({problem.next_step})",
            "check_name": problem.code,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[problem.severity],
            "location": {
                "path": printable(problem.location.file),
                "lines": {"begin": problem.location.line},
            },
        }
        for problem, fingerprint in zip(problems, fingerprints(problems), strict=True)
    ]
    return to_json(report)
