from __future__ import annotations

from pathlib import Path

from support.eras.page import eras_page

PAGE = Path(__file__).parents[2] / "docs" / "eras.md"


def test_the_page_is_what_the_table_says() -> None:
    """Write it anew with: PYTHONPATH=tests python -m support.eras.page"""
    assert PAGE.read_text(encoding="utf-8") == eras_page()
