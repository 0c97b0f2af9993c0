from __future__ import annotations

from support.pages.faults import PAGE, ROWS, page, shown_by


def test_every_fault_has_a_test() -> None:
    rows = {row.number for row in ROWS}
    assert rows == {f"F{number:02}" for number in range(1, 45)} | {
        f"K{number:02}" for number in range(1, 21)
    }
    assert set(shown_by()) == rows


def test_the_page_is_what_the_tests_say() -> None:
    """Write it anew with: python -m support.pages.faults"""
    assert PAGE.read_text(encoding="utf-8") == page()
