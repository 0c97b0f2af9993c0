"""Bad input: what `validate` prints, word for word.

KADMIN_WRITE_GOLDEN=1 writes the files anew, for a reader of the diff to judge.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.documents.bad_documents import BAD
from support.documents.invariants import is_valid

from kadmin.documents.check import examine
from kadmin.plan.codes import TABLE
from kadmin.report.problems.text import problems_text

GOLDEN = Path(__file__).parent / "golden"
WARNINGS_ONLY = {"b11-collision", "b08-throttle-sizes"}


@pytest.mark.parametrize("name", BAD)
def test_golden(name: str) -> None:
    source, data = BAD[name]
    checked = examine(data, source)
    text = problems_text({source: checked.text}, checked.problems, 100) + "\n"
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
    assert checked.problems
    assert is_valid(checked) == (name in WARNINGS_ONLY)
    assert {problem.code for problem in checked.problems} <= TABLE.keys()
    assert text.replace("\n", "").isprintable()


def test_every_golden_file_has_its_document() -> None:
    assert {path.stem for path in GOLDEN.glob("*.txt")} == set(BAD)


@pytest.mark.parametrize("name", BAD)
def test_narrow_terminals(name: str) -> None:
    source, data = BAD[name]
    checked = examine(data, source)
    text = problems_text({source: checked.text}, checked.problems, 20)
    quoted = [line for line in text.split("\n") if line.lstrip("0123456789 ").startswith("| ")]
    assert all(len(line) <= 20 for line in quoted)
