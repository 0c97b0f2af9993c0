"""Prints the planner's figures, bounds and times as one table.

Usage: make bench-planner ROWS="S M".

    python benchmarks/planner.py [ROW ...] [--seed N] [--exact N] [--no-peers]

Rows: S M L, their families (S-drain, M-mixed, L-unequal, L-heavy, L-disks4 ...), 1M, 5M, fleet-200,
fleet-1000 and exact; without any, all of them. Each row prints one figure a line with its target,
and MISSED where the target is not reached. `kernel` is the best of several runs in one process;
`whole process` is `kadmin propose rebalance` on Spark, with the start of Python and JVM; memory is
that of all its processes together. `exact` compares small clusters with an exact solver. At S and M
two planners from PyPI get the same cluster, and kadmin scores all three plans. The exit code does
not depend on the figures. Seconds depend on the machine's load, which is printed, as are seconds of
CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from planner_figures import header, lines_of, text_of
from planner_peers import PEERS, peers
from planner_rows import ROWS, Row, kernel_alone, measure, rival

from kadmin.errors import KadminError

if TYPE_CHECKING:
    from planner_peers import Peers

_SEED = 20_240_229
_EXACT = "exact"
_WITH_PEERS = ("S", "M")


def main() -> None:
    """Print the table, row by row."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument(
        "rows", nargs="*", metavar="ROW", help=f"of {', '.join((*ROWS, _EXACT))}"
    )
    arguments.add_argument("--seed", type=int, default=_SEED)
    arguments.add_argument(
        "--exact", type=int, default=9_000, help="small clusters put to an exact solver"
    )
    arguments.add_argument("--no-peers", action="store_true", help="kadmin alone")
    arguments.add_argument("--kernel", action="store_true", help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if unknown := sorted(set(options.rows) - {*ROWS, _EXACT}):
        arguments.error(f"no such row: {', '.join(unknown)}")
    if options.kernel:
        print(json.dumps(kernel_alone(Row.named(options.rows[0]), options.seed)))
        return
    print(
        f"seed {options.seed}, {os.cpu_count()} cores, Python {sys.version.split()[0]}\n{header()}",
        flush=True,
    )
    names = options.rows or [*ROWS, _EXACT]
    with ExitStack() as stack:
        ring = None if options.no_peers or not set(names) & set(_WITH_PEERS) else _ring(stack)
        missed = {name: print_row(name, options.seed, ring) for name in names if name != _EXACT}
    if _EXACT in names:
        print(exactness(options.exact))
    lines = [f"{name}: {', '.join(figures)}" for name, figures in missed.items() if figures]
    print("\n".join(["targets missed:", *lines]) if lines else "no target is missed")


def print_row(name: str, seed: int, ring: Peers | None) -> list[str]:
    """Measure and print one row; returns the figures whose targets are missed."""
    row, load = Row.named(name), _load()
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(row, seed, Path(folder))
    if ring is not None and name in _WITH_PEERS:
        measured = replace(measured, rivals=tuple(rival(row, seed, peer, ring) for peer in PEERS))
    lines = list(lines_of(measured))
    clusters = f"{row.fleet or 1} x {row.size.partitions:,} partitions, {row.size.brokers} brokers"
    print(f"{name}: {clusters}, {row.size.racks} racks; load {load} before, {_load()} after")
    print("\n".join(text_of(name, line) for line in lines))
    print("".join(f"{each.failure}\n" for each in measured.rivals if each.failure), flush=True)
    return [line.figure for line in lines if line.missed]


def exactness(cases: int) -> str:
    """Compare many small clusters with an exact solver.

    Returns one line with the optimal ones per family.
    """
    from support.planner.exact_cases import FAMILIES

    return "\n".join(_exactness(family, cases // len(FAMILIES)) for family in FAMILIES)


def _exactness(family: str, cases: int) -> str:
    from support.planner.exact_cases import exact_case, judge

    verdicts = Counter(judge(*exact_case(seed, family)) for seed in range(cases))
    solved = cases - verdicts["infeasible"]
    others = {
        verdict: times
        for verdict, times in verdicts.items()
        if verdict not in ("optimal", "infeasible")
    }
    return (
        f"exact solver, {family}: {verdicts['optimal']} of {solved} feasible optimal; others: "
        f"{others or 'none'}"
    )


def _ring(stack: ExitStack) -> Peers | None:
    """Start the peers; returns None where they cannot be installed."""
    try:
        return stack.enter_context(peers(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
    except KadminError as error:
        print(f"the peers are left out: {error.message} {error.cause or ''}")
        return None


def _load() -> str:
    return f"{os.getloadavg()[0]:.1f}"


if __name__ == "__main__":
    main()
