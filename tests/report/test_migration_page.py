"""docs/migration.md has a row for each finding of the migration, each with the test that makes
it.
"""

from __future__ import annotations

from pathlib import Path

from support.live.migration_traps import TRAPS, WALKED
from support.pages.migration import PAGE, page

from kadmin.insight.diagnosis.finding import MigrationTrouble, Trouble

LIVE = Path(__file__).parents[1] / "live"


def test_the_table_is_that_of_the_tests() -> None:
    """Write it anew with: python -m support.pages.migration"""
    assert PAGE.read_text(encoding="utf-8") == page()
    written = "".join(file.read_text(encoding="utf-8") for file in LIVE.glob("test_migration_*.py"))
    assert all(f"def {test}(" in written for *_, test in WALKED)


def test_every_finding_is_made_by_a_test() -> None:
    codes = {trap.code for trap in TRAPS.values()} | {code for _, code, *_ in WALKED}
    assert (
        {each.value for each in MigrationTrouble}
        <= codes
        <= {each.value for each in (*MigrationTrouble, *Trouble)}
    )
    assert len(TRAPS) + len(WALKED) >= 14
