"""Problems for GitHub Actions: annotations on a pull request's lines, and a step's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents.text import printable
from kadmin.next_step import text_of
from kadmin.report.markdown import cell, code
from kadmin.report.problems.text import summary, tally

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kadmin.diagnostics import Diagnostic

_IN_MESSAGES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTIES = {**_IN_MESSAGES, ":": "%3A", ",": "%2C"}
MOST_ROWS = 1_000
MOST_BYTES = 1_000_000
"""Of rows: a step's summary may have one MiB."""


def annotation_lines(files: Sequence[str], problems: Sequence[Diagnostic]) -> str:
    """Return one workflow command per problem, and the summary as the last line."""
    return "\n".join([*(_annotation(problem) for problem in problems), summary(files, problems)])


def step_summary(files: Sequence[str], problems: Sequence[Diagnostic]) -> str:
    """Return Markdown for `$GITHUB_STEP_SUMMARY`, with every problem.

    The annotations of a step are limited to ten.
    """
    errors, _ = tally(problems)
    lines = [
        f"### kadmin validate: {'failed' if errors else 'passed'}",
        "",
        summary(files, problems),
    ]
    if problems:
        lines += ["", "| place | code | problem | hint |", "|---|---|---|---|"]
        rows = list(_rows(problems[:MOST_ROWS]))
        lines += rows
        if len(problems) > len(rows):
            lines += ["", f"... and {len(problems) - len(rows)} more"]
    return "\n".join(lines) + "\n"


def _annotation(problem: Diagnostic) -> str:
    message = (
        problem.message
        if problem.next_step is None
        else f"{problem.message}\nhint: {problem.next_step}"
    )
    properties = {
        "file": printable(problem.location.file),
        "line": str(problem.location.line),
        "col": str(problem.location.column),
        "title": f"{problem.code} at {problem.path}",
    }
    listed = ",".join(
        f"{name}={_escaped(value, _IN_PROPERTIES)}" for name, value in properties.items()
    )
    return f"::{problem.severity} {listed}::{_escaped(message, _IN_MESSAGES)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(char, char) for char in text)


def _rows(problems: Sequence[Diagnostic]) -> Iterator[str]:
    left = MOST_BYTES
    for row in map(_row, problems):
        left -= len(row.encode()) + 1
        if left < 0:
            return
        yield row


def _row(problem: Diagnostic) -> str:
    cells = (
        code(printable(str(problem.location))),
        f"{problem.severity} {problem.code}",
        cell(problem.message),
        cell(text_of(problem.next_step) or ""),
    )
    return f"| {' | '.join(cells)} |"
