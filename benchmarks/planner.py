"""The planner's kernel on the family of skewed clusters: how near the bounds, how fast.

    python benchmarks/planner.py [S M L XL] [--seed N]

One line for the extension alone and one with brokers drained besides; `again` is what a second run would move.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from family import SIZES, cluster

from kadmin.plan.model import PlanHeader, Racks, RebalanceRequest
from kadmin.planner.assessment import assess
from kadmin.planner.kernel.order import plan_order
from kadmin.planner.kernel.solve import solve
from kadmin.planner.tables import cluster_of, rows_as_arrow
from kadmin.planner.terms import terms_of

if TYPE_CHECKING:
    from family import Size

_DEFAULT_SIZES = ("S", "M", "L")
_SEED = 20_240_229
_LINE = (
    "{name:4}{case:10}{moves:>9}{bound:>9}{ratio:>8.4f}  {replicas:>12}{leaders:>12}"
    "{even:>8.4f}{cv:>8.2%}{failover:>8.3f}{reorders:>9}{again:>7}{seconds:>9.2f}{per_million:>9.1f}"
)
_HEADER = (
    f"{'size':4}{'case':10}{'moves':>9}{'bound':>9}{'ratio':>8}  {'replicas':>12}{'leaders':>12}"
    f"{'max/avg':>8}{'cv':>8}{'loss':>8}{'reorders':>9}{'again':>7}{'kernel s':>9}{'s / M':>9}"
)


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("sizes", nargs="*", metavar="SIZE", help=f"of {', '.join(SIZES)}")
    arguments.add_argument("--seed", type=int, default=_SEED)
    wished = arguments.parse_args()
    print(f"seed {wished.seed}")
    print(_HEADER)
    for name in wished.sizes or _DEFAULT_SIZES:
        size = SIZES[name]
        # Where a partition has replicas on every rack, a drained broker makes racks uneven, and with them everything.
        one_per_rack = tuple(range(1, size.racks + 1))
        print(line(name, "extend", size, wished.seed, ()))
        print(line(name, "+ drain", size, wished.seed, one_per_rack))


def line(name: str, case: str, size: Size, seed: int, drain: tuple[int, ...]) -> str:
    """Plan for one cluster and return its line."""
    found = cluster_of(*rows_as_arrow(cluster(size, seed)))
    terms = terms_of(found, RebalanceRequest(PlanHeader(), drain=drain, racks=Racks.STRICT))
    started = time.perf_counter()
    solution = solve(terms.problem)
    entries = plan_order(terms.problem, solution.target)
    seconds = time.perf_counter() - started
    second = solve(replace(terms.problem, current=solution.target, start=solution.target.copy()))
    figures = assess(found, terms, solution, entries, left_out=0)
    after = figures["after"]
    return _LINE.format(
        name=name,
        case=case,
        moves=figures["moves"],
        bound=figures["moves_bound"],
        ratio=figures["moves"] / figures["moves_bound"],
        replicas=f"{after['replicas_min']}-{after['replicas_max']}",
        leaders=f"{after['leaders_min']}-{after['leaders_max']}",
        even=after["bytes_max_over_mean"],
        cv=after["bytes_cv"],
        failover=after["failover_share"],
        reorders=figures["order_changes"],
        again=int((second.target != solution.target).any(axis=1).sum()),
        seconds=seconds,
        per_million=seconds / size.partitions * 10**6,
    )


if __name__ == "__main__":
    main()
