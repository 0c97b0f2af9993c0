"""Problems of documents: for people with the line quoted, for programs as `validate`'s JSON."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from kadmin.answers.validation import Problem, ValidationAnswer
from kadmin.documents.text import lines_of, printable
from kadmin.inventory.validation import is_applied
from kadmin.next_step import text_of
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.diagnostics import Diagnostic

_NARROWEST = 20
_ELLIPSIS = "..."


def problems_text(texts: Mapping[str, str], problems: Sequence[Diagnostic], width: int) -> str:
    """Return one paragraph per problem, and a summary.

    The problem's line is quoted from `texts` in at most `width` columns.
    """
    lines = {
        name: lines_of(text)
        for name, text in texts.items()
        if any(each.location.file == name for each in problems)
    }
    paragraphs = [
        "\n".join(_paragraph(problem, lines[problem.location.file], width)) for problem in problems
    ]
    return "\n".join([*paragraphs, summary(texts, problems)])


def problems_answer(files: Iterable[str], problems: Sequence[Diagnostic]) -> ValidationAnswer:
    """Answer `validate`; in file names, unprintable characters are replaced."""
    errors, warnings = tally(problems)
    found = (
        Problem(
            problem.code,
            problem.severity,
            problem.message,
            text_of(problem.next_step),
            printable(problem.location.file),
            problem.location.line,
            problem.location.column,
            problem.path,
        )
        for problem in problems
    )
    return ValidationAnswer(
        errors == 0, tuple(map(printable, files)), errors, warnings, tuple(found)
    )


def tally(problems: Iterable[Diagnostic]) -> tuple[int, int]:
    """Return the numbers of errors and of warnings."""
    severities = [problem.severity for problem in problems]
    return severities.count("error"), severities.count("warning")


def _paragraph(problem: Diagnostic, lines: Sequence[str], width: int) -> Iterable[str]:
    at = problem.location
    yield printable(f"{at}: {problem.severity} {problem.code}: {problem.message}")
    gutter = len(str(max(at.line, at.first_line or 0)))
    quoted_width = max(width, _NARROWEST) - gutter - 3
    if at.first_line is not None and at.first_line != at.line:
        first, _ = _clip(_line(lines, at.first_line), 0, quoted_width)
        yield f"{at.first_line:>{gutter}} | {first}"
    quoted, caret = _clip(_line(lines, at.line), at.column - 1, quoted_width)
    if quoted:
        yield f"{at.line:>{gutter}} | {quoted}"
        yield f"{' ' * gutter} | {' ' * caret}^"
    if problem.next_step:
        yield printable(f"  hint: {problem.next_step}")


def _line(lines: Sequence[str], number: int) -> str:
    """Return a line, "" for a file that is no text."""
    return lines[number - 1] if number <= len(lines) else ""


def _clip(line: str, position: int, width: int) -> tuple[str, int]:
    """Return a stretch of the line around a position that fits the width.

    Also return the column of the position in it.
    """
    start, before, after = 0, "", ""
    if len(line) > width:
        inner = width - 2 * len(_ELLIPSIS)
        start = max(0, min(position - inner // 2, len(line) - inner))
        before, after = _ELLIPSIS if start else "", _ELLIPSIS if start + inner < len(line) else ""
        line = line[start : start + inner]
    shown = printable(line)
    caret = sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in shown[: position - start]
    )
    return f"{before}{shown}{after}", len(before) + caret


def summary(files: Collection[str], problems: Sequence[Diagnostic]) -> str:
    """Return `2 files: 1 error, 0 warnings`; `files` are the names of those that were read."""
    errors, warnings = tally(problems)
    found = f"{count(errors, 'error')}, {count(warnings, 'warning')}" if problems else "no problem"
    applied = sum(map(is_applied, files))
    alone = f" ({applied} applied, checked by the schema alone)" if applied else ""
    return f"{count(len(files), 'file')}{alone}: {found}"
