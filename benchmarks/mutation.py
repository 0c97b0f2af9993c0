"""Prints the score of a mutation run, module by module. Usage: make mutation, or benchmarks/mutation.py FOLDER.

A mutant is found when a test fails, or runs far too long, because of it. Mutants that no test reaches count as missed.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

from kadmin.report.text import table

KILLED = {1, 3, 36, 24, 152, 255, -24, -11, -9}
"""Exit codes of a run of the tests that noticed something: a failure, a crash, or the end of its time."""


def scores(folder: Path) -> dict[str, Counter[str]]:
    """Count what became of the mutants of each module that has any."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(folder.rglob("*.py.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"].values()
        counts = Counter("open" if code is None else "found" if code in KILLED else "missed" for code in codes)
        if counts:
            found[str(path.relative_to(folder)).removesuffix(".py.meta")] = counts
    return found


def main() -> None:
    """Print the table."""
    found = scores(Path(sys.argv[1] if len(sys.argv) > 1 else "mutants"))
    total: Counter[str] = sum(found.values(), Counter())
    rows = [_row(name, counts) for name, counts in found.items()]
    print(table(["module", "found", "missed", "not run", "score"], [*rows, _row("all", total)]))


def _row(name: str, counts: Counter[str]) -> list[object]:
    judged = counts["found"] + counts["missed"]
    score = f"{counts['found'] / judged:.1%}" if judged else "-"
    return [name, counts["found"], counts["missed"], counts["open"], score]


if __name__ == "__main__":
    main()
