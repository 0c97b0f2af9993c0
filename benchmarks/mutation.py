"""Judges mutants of loader, validators and payload encoder by the tests.

It prints the score, module by module.

Usage: make mutation, or make mutation MUTANTS=200 for so many of those that are not judged yet,
taken evenly from all modules by a shuffle that is always the same. `benchmarks/mutation.py
--missed` judges those again that no test found, after there are new tests. What was judged is kept
in `mutants` until the code of its function changes, or `make clean`; the score is that of all
judged so far. A mutant is found when a test fails, or runs far too long, because of it. Mutants
that no test reaches count as missed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from kadmin.report.text import table

FOLDER = Path("mutants")
LOG = Path("mutation.log")
FIRST = "kadmin.documents.scalars.*__mutmut_1"
"""Judged where there are no mutants yet: the run that judges any makes them all."""
KILLED = {1, 3, 36, 24, 152, 255, -24, -11, -9}
"""Exit codes of a run of the tests that noticed something: a failure, a crash, or the end of its
time."""


def verdicts(folder: Path) -> dict[str, dict[str, str]]:
    """Return the verdict of each mutant by module: found, missed or open."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.rglob("*.py.meta")):
        codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
        if codes:
            module = str(path.relative_to(folder)).removesuffix(".py.meta")
            found[module] = {name: _verdict(code) for name, code in codes.items()}
    return found


def _verdict(code: int | None) -> str:
    return "open" if code is None else "found" if code in KILLED else "missed"


def judge(names: list[str], processes: int) -> None:
    """Run the tests on mutants, by names or patterns; the output goes into a log."""
    program = "from mutmut.__main__ import cli; cli()"
    command = [sys.executable, "-c", program, "run", "--max-children", str(processes), *names]
    with LOG.open("a", encoding="utf-8") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=True)


def those(verdict: str, folder: Path) -> list[str]:
    """Return the mutants of a verdict, shuffled with a fixed seed."""
    names = (
        name
        for each in verdicts(folder).values()
        for name, given in each.items()
        if given == verdict
    )
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())


def main() -> None:
    """Judge, and print the table and the mutants that no test found."""
    parser = argparse.ArgumentParser(description="Judge mutants by the tests.")
    parser.add_argument(
        "mutants", type=int, nargs="?", help="how many; all that are left if no number is given"
    )
    parser.add_argument(
        "--missed", action="store_true", help="judge those again that no test found"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if not verdicts(FOLDER):
        judge([FIRST], options.processes)
    chosen = those("missed" if options.missed else "open", FOLDER)[: options.mutants]
    if chosen:
        judge(chosen, options.processes)
    found = verdicts(FOLDER)
    counts = {module: Counter(each.values()) for module, each in found.items()}
    total: Counter[str] = sum(counts.values(), Counter())
    rows = [_row(module, each) for module, each in counts.items()]
    print(table(["module", "found", "missed", "not run", "score"], [*rows, _row("all", total)]))
    print("\n".join(["", *(f"missed: mutmut show {name}" for name in those("missed", FOLDER))]))


def _row(name: str, counts: Counter[str]) -> list[object]:
    judged = counts["found"] + counts["missed"]
    score = f"{counts['found'] / judged:.1%}" if judged else "-"
    return [name, counts["found"], counts["missed"], counts["open"], score]


if __name__ == "__main__":
    main()
