"""Checks what must hold for any bytes as a document; for the fuzzer and the property tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.documents import dump_json, dump_yaml
from kadmin.documents.check import examine
from kadmin.documents.text import lines_of
from kadmin.report.problems.github import annotation_lines, step_summary
from kadmin.report.problems.gitlab import code_quality
from kadmin.report.problems.junit import junit
from kadmin.report.problems.sarif import sarif
from kadmin.report.problems.text import problems_answer, problems_text
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from kadmin.diagnostics import Diagnostic
    from kadmin.documents.check import Checked
    from kadmin.plan.model import Document

SOURCES = ("plan.yaml", "plan.json", "-")


def is_valid(checked: Checked) -> bool:
    """Whether there is no error; warnings do not count."""
    return all(problem.severity != "error" for problem in checked.problems)


def check_document(data: bytes, source: str) -> tuple[Document | None, tuple[Diagnostic, ...]]:
    """The document, None where there is any error, and what is wrong with it."""
    checked = examine(data, source)
    return (checked.document if is_valid(checked) else None), checked.problems


def check_invariants(data: bytes, source: str) -> Checked:
    """Nothing is raised; every problem lies within the text; a valid document is the same dumped
    and read again.
    """
    checked = examine(data, source)
    lines = lines_of(checked.text)
    for problem in checked.problems if checked.text else ():
        assert 1 <= problem.location.line <= len(lines), problem
        assert 1 <= problem.location.column <= len(lines[problem.location.line - 1]) + 1, problem
    if checked.document is None:
        assert checked.problems or checked.value["kind"] == "ClusterInventory"
    elif is_valid(checked):
        for dump, name in ((dump_yaml, "plan.yaml"), (dump_json, "plan.json")):
            again, problems = check_document(dump(checked.document).encode(), name)
            assert again == checked.document, (name, problems)
    return checked


def render(checked: Checked) -> None:
    """Every format can be written."""
    for write in (annotation_lines, step_summary, sarif, junit):
        write([checked.source], checked.problems)
    code_quality(checked.problems)
    to_json(problems_answer([checked.source], checked.problems))
    problems_text({checked.source: checked.text}, checked.problems, 80)
