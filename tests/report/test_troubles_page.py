"""docs/troubles.md has one section per trouble, each with the same four parts."""

from __future__ import annotations

import re
from pathlib import Path

from kadmin.insight.diagnosis.finding import Trouble

PAGE = (Path(__file__).parents[2] / "docs" / "troubles.md").read_text(encoding="utf-8")
PARTS = ["Recognise it", "Evidence", "Type", "What kadmin does"]


def test_every_trouble_has_its_section() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
    assert {section.splitlines()[0] for section in sections} == {
        trouble.value for trouble in Trouble
    }
    for section in sections:
        assert re.findall(r"^- \*\*(.+):\*\*", section, flags=re.MULTILINE) == PARTS, section
