from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import (
    CLAIMS,
    DISK_CLAIMS,
    KRAFT_CLAIMS,
    READING_CLAIMS,
    TIER_CLAIMS,
)
from support.eras.page import PAGE, eras_page

if TYPE_CHECKING:
    from support.eras.claims import Claim

TESTS = Path(__file__).parents[1]


def test_the_page_is_what_the_tables_say() -> None:
    """Write it anew with: PYTHONPATH=tests python -m support.eras.page"""
    assert PAGE.read_text(encoding="utf-8") == eras_page()


@pytest.mark.parametrize(
    ("files", "claims"),
    [
        ("live/test_eras*.py", CLAIMS),
        ("kraft/test_eras_api*.py", KRAFT_CLAIMS),
        ("live/test_eras_reading.py", READING_CLAIMS),
        ("live/test_eras_*disks.py", DISK_CLAIMS),
        ("live/test_eras_tiers.py", TIER_CLAIMS),
    ],
    ids=["znodes", "kraft", "reading", "disks", "tiers"],
)
def test_every_claim_has_its_test(files: str, claims: tuple[Claim, ...]) -> None:
    tests = {
        name
        for file in TESTS.glob(files)
        for name in re.findall(r"\btest_(\w+)", file.read_text(encoding="utf-8"))
    }
    assert {each.name for each in claims} <= tests
