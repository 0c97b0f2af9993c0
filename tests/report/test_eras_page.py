from __future__ import annotations

from pathlib import Path

from kadmin.report.eras import eras_page

PAGE = Path(__file__).parents[2] / "docs" / "eras.md"


def test_the_page_is_what_the_table_says() -> None:
    """Write it anew with: python -c 'from kadmin.report.eras import eras_page; print(eras_page(), end="")'"""
    assert PAGE.read_text(encoding="utf-8") == eras_page()
