"""Prints how even the planner makes load over time.

Usage: make bench-load-kernel ROWS="S M L U" SEEDS=10. Each line is one generated cluster with its
week (load_family.py): the most of load over floored fair share of any broker and hour, of now, of
the plan without load and of the plan with it, in and out; the same in the next week, which the
planner did not see; what load adds in moves and leader changes; bytes; seconds and memory. The last
line of a row has median and worst beside their targets. Seconds depend on the machine's load.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import load_family
import numpy as np

from kadmin.planner.kernel.hourly_load import fair_shares, load_on
from kadmin.planner.kernel.load_over_time import leader_changes, moves
from kadmin.planner.kernel.placement_problem import bytes_on
from kadmin.planner.kernel.solve import solve

if TYPE_CHECKING:
    from kadmin.planner.kernel.hourly_load import HourlyLoad
    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

_TARGETS = {
    "S": "in 1.06, out 1.125 (worst 1.20)",
    "M": "in 1.15, out 1.22 (worst 1.35)",
    "L": "in 1.05, out 1.10 (worst 1.16)",
}
_HEADER = (
    "row seed     now in/out   without load      with load      next week  moves  added  leaders  "
    "times  bytes CV"
    "  seconds     MB"
)


@dataclass(frozen=True)
class Found:
    """The figures of one cluster: pairs are in and out."""

    before: tuple[float, ...]
    without: tuple[float, ...]
    after: tuple[float, ...]
    following: tuple[float, ...]
    moves: int
    extra_moves: int
    leader_changes: int
    times: float
    bytes_cv: float
    seconds: float

    def line(self, row: str, seed: int) -> str:
        """Return the line of the table."""
        pairs = "  ".join(
            f"{a:5.3f} / {b:5.3f}"
            for a, b in (self.before, self.without, self.after, self.following)
        )
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        added = f"{self.extra_moves / max(self.moves, 1):6.2%}"
        return (
            f"{row:3} {seed:4}  {pairs}  {self.moves:5} {added}  {self.leader_changes:7}  "
            f"{self.times:5.2f}"
            f"  {self.bytes_cv:7.2%}  {self.seconds:7.1f}  {memory:5}"
        )


def main() -> None:
    """Print the table, row by row."""
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("rows", nargs="*", default=list(load_family.SIZES), metavar="ROW")
    arguments.add_argument("--seeds", type=int, default=10)
    options = arguments.parse_args()
    print(_HEADER, flush=True)
    for row in options.rows:
        found = []
        for seed in range(options.seeds):
            found.append(measure(row, seed))
            print(found[-1].line(row, seed), flush=True)
        print(_summary(row, found), flush=True)


def measure(row: str, seed: int) -> Found:
    """Plan one cluster with and without its load."""
    problem = load_family.problem_of(row, seed)
    even = solve(replace(problem, load=None)).target
    begun = time.perf_counter()
    solution = solve(problem)
    seconds = time.perf_counter() - begun
    following = load_family.load_of(problem, load_family.weeks(problem.topic, seed)[1])
    held = bytes_on(problem, solution.target)
    load, changes = problem.load, leader_changes(problem, even[:, 0])
    return Found(
        before=_highest(problem, load, problem.current),
        without=_highest(problem, load, even),
        after=_highest(problem, load, solution.target),
        following=_highest(problem, following, solution.target),
        moves=moves(problem, even),
        extra_moves=solution.extra_moves,
        leader_changes=changes,
        times=leader_changes(problem, solution.target[:, 0]) / max(changes, 1),
        bytes_cv=float(held.std() / held.mean()),
        seconds=seconds,
    )


def _highest(problem: PlacementProblem, load: HourlyLoad | None, lists: Ints) -> tuple[float, ...]:
    of_brokers = problem.brokers
    return tuple(
        float(
            (load_on(each, lists, len(of_brokers)) / fair_shares(each, problem.rf))[
                each.capacity > 0
            ].max()
        )
        for each in (() if load is None else load.resources)
    )


def _summary(row: str, found: list[Found]) -> str:
    after = np.array([each.after for each in found])
    told = [
        f"{name} median {np.median(column):.3f} worst {column.max():.3f}"
        for name, column in zip(("in", "out"), after.T, strict=True)
    ]
    target = f"; target: {_TARGETS[row]}" if row in _TARGETS else ""
    return f"{row:3} {'; '.join(told)}{target}"


if __name__ == "__main__":
    main()
