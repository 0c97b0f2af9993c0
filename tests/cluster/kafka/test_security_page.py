from __future__ import annotations

from support.pages.security import PAGE, page


def test_the_page_is_as_it_is_generated() -> None:
    """Write it anew with: python -m support.pages.security"""
    assert PAGE.read_text(encoding="utf-8") == page()
