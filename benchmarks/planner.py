"""The planner's figures as one table: how near the bounds, and how fast. Usage: make bench-planner.

    python benchmarks/planner.py [ROW ...] [--seed N] [--exact N]

Rows: S M L, their families (S-drain, M-mixed, L-unequal, L-heavy ...), 1M, 5M, fleet-200, fleet-1000; without any, all
of them. `kernel s` is the best of some runs in one process; `local s` and `spark s` are whole processes, start of
Python and JVM included; `again` counts what a second run would reassign; the last column names targets that are
missed. Nothing here passes or fails. Figures in seconds depend on what else the machine does: its load is printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from family import SIZES, tables
from pyarrow import parquet

from kadmin.inventory import SINGLE_CLUSTER
from kadmin.inventory.header import Header, encode_header
from kadmin.plan.model import PlanHeader, Racks, RebalanceRequest
from kadmin.planner.assessment import assess
from kadmin.planner.kernel.order import plan_order
from kadmin.planner.kernel.solve import solve
from kadmin.planner.tables import cluster_of
from kadmin.planner.terms import terms_of
from kadmin.report.text import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from family import Size

_SEED = 20_240_229
_TAKEN_AT = "2026-01-01T00:00:00Z"
_FAMILIES = ("drain", "mixed", "unequal", "heavy")
_ROWS = (
    *("S", "M", "L"),
    *(f"{size}-{family}" for family in _FAMILIES for size in ("S", "M", "L")),
    *("1M", "5M", "fleet-200", "fleet-1000"),
)
_MOST_LOCAL = 100_000
_HEADERS = (
    *(
        "row",
        "moves",
        "bound",
        "ratio",
        "replicas",
        "leaders",
        "bytes max/mean",
        "cv",
        "loss",
        "racks",
        "leader changes",
    ),
    *("reorders", "again", "kernel s", "local s", "spark s", "MiB", "s per M", "missed"),
)
_SPARK_TARGETS = {"S": 12, "M": 12, "L": 20, "1M": 45, "5M": 90, "fleet-200": 30, "fleet-1000": 90}
_LOCAL_TARGETS = {"S": 1, "M": 2, "L": 6}
_LOSS_TARGETS = {"S": 1.20, "M": 1.08, "L": 1.04}


@dataclass(frozen=True, slots=True)
class Run:
    """A whole process: seconds, and the peak of its largest process in MiB."""

    seconds: float
    peak_mib: int


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(_ROWS)}")
    arguments.add_argument("--seed", type=int, default=_SEED)
    arguments.add_argument("--exact", type=int, default=5_000, help="small clusters put to an exact solver")
    arguments.add_argument("--kernel", action="store_true", help=argparse.SUPPRESS)
    wished = arguments.parse_args()
    if wished.kernel:
        print(json.dumps(kernel_figures(wished.rows[0], wished.seed)))
        return
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"seed {wished.seed}, {os.cpu_count()} cores, load {load}, Python {sys.version.split()[0]}", flush=True)
    rows = [row(name, wished.seed) for name in wished.rows or _ROWS]
    print(table(_HEADERS, rows))
    print(exactness(wished.exact))


def exactness(cases: int) -> str:
    """Put many small clusters to an exact solver and say how often the planner found the optimum."""
    from exact_cases import exact_case, judge

    verdicts = Counter(judge(*exact_case(seed)) for seed in range(cases))
    solved = cases - verdicts["infeasible"]
    others = {verdict: times for verdict, times in verdicts.items() if verdict not in ("optimal", "infeasible")}
    return (
        f"exact solver: {verdicts['optimal']} of {solved} feasible small clusters optimal; others: {others or 'none'}"
    )


def row(name: str, seed: int) -> list[str]:
    """Measure one row of the table."""
    print(f"... {name}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        fleet = name.startswith("fleet-")
        partitions = write_fleet(at, int(name[6:]), seed) if fleet else write_one(at, name, seed)
        request = at / "request.json"
        request.write_text(json.dumps({"kind": "RebalanceRequest", "spec": spec(name)}))
        local = run_engine(at, "local") if partitions <= _MOST_LOCAL else None
        spark = run_engine(at, "spark")
        if fleet:
            told = of_fleet(json.loads((at / "figures.json").read_text())["clusters"])
        else:
            child = [sys.executable, __file__, name, "--seed", str(seed), "--kernel"]
            told = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
    return line(name, told, partitions, local, spark)


def spec(name: str) -> dict[str, Any]:
    """Return what is asked for: with `drain`, the first broker of every rack is emptied, so that racks stay even."""
    drained = list(range(1, SIZES[name.partition("-")[0]].racks + 1)) if name.endswith("-drain") else []
    return {"brokers": {"drain": drained}, "racks": "strict"}


def write_one(folder: Path, name: str, seed: int) -> int:
    """Write the inventory of a cluster; returns its partitions."""
    size, kind = _size_and_kind(name)
    _write(folder, tables(size, seed, kind), Header(_TAKEN_AT, {SINGLE_CLUSTER: "generated-cluster-0001"}))
    return size.partitions


def write_fleet(folder: Path, clusters: int, seed: int) -> int:
    """Write the inventory of a fleet; returns its partitions."""
    names = [f"cluster-{each:04d}" for each in range(clusters)]
    parts = [tables(SIZES["fleet"], seed + each) for each in range(clusters)]
    together = [
        pa.concat_tables(
            [
                part[which].add_column(0, "cluster", pa.array([name] * len(part[which])))
                for name, part in _zip(names, parts)
            ]
        )
        for which in (0, 1)
    ]
    _write(folder, (together[0], together[1]), Header(_TAKEN_AT, dict.fromkeys(names, "generated-cluster-0001")))
    return clusters * SIZES["fleet"].partitions


def _zip(names: list[str], parts: list[Any]) -> Iterator[tuple[str, Any]]:
    return zip(names, parts, strict=True)


def _write(folder: Path, found: tuple[Any, Any], header: Header) -> None:
    for name, each in zip(("brokers", "partitions"), found, strict=True):
        parquet.write_table(each, folder / f"{name}.parquet")
    (folder / "inventory.json").write_text(encode_header(header))


def _size_and_kind(name: str) -> tuple[Size, str]:
    size, _, family = name.partition("-")
    return SIZES[size], "" if family == "drain" else family


def run_engine(folder: Path, engine: str) -> Run:
    """Run `kadmin propose rebalance` as a person would."""
    memory = ("--conf", "spark.driver.memory=5g") if engine == "spark" else ()
    command = [sys.executable, "-m", "kadmin", "propose", "rebalance", "request.json", "--inventory", "."]
    command += ["--out", "plans", "--figures", "figures.json", "--engine", engine, *memory]
    started = time.perf_counter()
    with (folder / "errors").open("w") as errors:
        child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if child.returncode:
        raise SystemExit((folder / "errors").read_text())
    return Run(seconds, usage.ru_maxrss // 1024)


def kernel_figures(name: str, seed: int) -> dict[str, Any]:
    """Plan in this process and return the figures, with the kernel's seconds and what a second run would do."""
    size, kind = _size_and_kind(name)
    found = cluster_of(*tables(size, seed, kind))
    wished = RebalanceRequest(PlanHeader(), drain=tuple(spec(name)["brokers"]["drain"]), racks=Racks.STRICT)
    terms = terms_of(found, wished)
    taken = []
    for _ in range(5 if size.partitions <= _MOST_LOCAL else 1):
        started = time.perf_counter()
        solution = solve(terms.problem)
        entries = plan_order(terms.problem, solution.target)
        taken.append(time.perf_counter() - started)
    figures = assess(found, terms, solution, entries, left_out=0)
    again = solve(replace(terms.problem, current=solution.target, start=solution.target.copy()))
    figures["again"] = int((again.target != solution.target).any(axis=1).sum())
    figures["kernel_s"] = min(taken)
    figures["kernel_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return figures


def of_fleet(clusters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums and the worst figures of a fleet, in the shape of one cluster's."""
    totals = ("moves", "moves_bound", "leader_changes", "leader_changes_bound", "order_changes")
    told: dict[str, Any] = {key: sum(each[key] for each in clusters) for key in totals}
    for side in ("after", "bound"):
        found = [each[side] for each in clusters]
        told[side] = {key: (min if key.endswith("_min") else max)(one[key] for one in found) for key in found[0]}
    return told | {"again": None, "kernel_s": None}


def line(name: str, told: dict[str, Any], partitions: int, local: Run | None, spark: Run) -> list[str]:
    """Return the cells of a row."""
    after, kernel = told["after"], told["kernel_s"]
    return [
        name,
        f"{told['moves']}",
        f"{told['moves_bound']}",
        f"{told['moves'] / max(told['moves_bound'], 1):.4f}",
        *(f"{after[f'{key}_min']}-{after[f'{key}_max']}" for key in ("replicas", "leaders")),
        f"{after['bytes_max_over_mean']:.3f}",
        f"{after['bytes_cv']:.2%}",
        f"{after['failover_share']:.3f}",
        f"{after['rack_violations']}",
        f"{told['leader_changes']}/{told['leader_changes_bound']}",
        f"{told['order_changes']}",
        "-" if told["again"] is None else f"{told['again']}",
        "-" if kernel is None else f"{kernel:.2f}",
        "-" if local is None else f"{local.seconds:.1f}",
        f"{spark.seconds:.1f}",
        f"{max(spark.peak_mib, local.peak_mib if local else 0)}",
        f"{(spark.seconds if kernel is None else kernel) / partitions * 10**6:.1f}",
        " ".join(missed(name, told, local, spark)) or "none",
    ]


def missed(name: str, told: dict[str, Any], local: Run | None, spark: Run) -> Iterator[str]:
    """Name the columns of a row that miss their target."""
    after, bound, size = told["after"], told["bound"], name.partition("-")[0]
    if told["moves"] > told["moves_bound"] * (1.003 if size == "L" else 1.005):
        yield "ratio"
    for key in ("replicas", "leaders"):
        if after[f"{key}_max"] > bound[f"{key}_max"] or after[f"{key}_min"] < bound[f"{key}_min"]:
            yield key
    if after["bytes_cv"] >= 0.01:  # noqa: PLR2004 - one percent, as the column shows it
        yield "cv"
    if after["failover_share"] >= _LOSS_TARGETS.get(size, 2):
        yield "loss"
    if after["rack_violations"] or told["again"]:
        yield "racks" if after["rack_violations"] else "again"
    if size == "L" and told["kernel_s"] >= 0.5:  # noqa: PLR2004 - half a second
        yield "kernel"
    if local is not None and local.seconds >= _LOCAL_TARGETS.get(size, 10**6):
        yield "local"
    if spark.seconds >= _SPARK_TARGETS.get(name, _SPARK_TARGETS.get(size, 10**6)):
        yield "spark"


if __name__ == "__main__":
    main()
