"""Problems as JUnit XML, which every CI system shows as tests; the only junitparser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents.text import printable
from kadmin.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from junitparser import TestCase

    from kadmin.diagnostics import Diagnostic


def junit(files: Sequence[str], problems: Sequence[Diagnostic]) -> str:
    """Return a suite per file with a failed case per error.

    Warnings are in the case of the file itself. Raises UsageError where the library is not
    installed.
    """
    try:
        from junitparser import JUnitXml, TestSuite
    except ImportError as error:
        raise UsageError(
            "The format junit needs the library junitparser.",
            next_step="pip install 'kadmin-kafka[report]'",
        ) from error
    report = JUnitXml("kadmin validate")
    for file in files:
        suite = TestSuite(printable(file))
        suite.add_testcases(
            _cases(file, [problem for problem in problems if problem.location.file == file])
        )
        report.add_testsuite(suite)
    report.update_statistics()  # type: ignore[no-untyped-call]  # junitparser's own gap
    text: bytes = report.tostring()  # type: ignore[no-untyped-call]  # as above
    return text.decode()


def _cases(file: str, problems: Sequence[Diagnostic]) -> list[TestCase]:
    from junitparser import Failure, TestCase

    errors = [problem for problem in problems if problem.severity == "error"]
    warnings = [problem for problem in problems if problem.severity == "warning"]
    whole = TestCase("document", classname=printable(file), time=0.0)
    whole.system_out = "\n".join(map(_text, warnings))
    cases = [] if errors and not warnings else [whole]
    for problem in errors:
        case = TestCase(f"{problem.code} {problem.path}", classname=printable(file), time=0.0)
        failure = Failure(problem.message, problem.code)
        failure.text = _text(problem)
        case.result = [failure]
        cases.append(case)
    return cases


def _text(problem: Diagnostic) -> str:
    next_step = "" if problem.next_step is None else f"\nhint: {problem.next_step}"
    return (
        f"{printable(str(problem.location))}: {problem.severity} {problem.code}: "
        f"{problem.message}{next_step}"
    )
