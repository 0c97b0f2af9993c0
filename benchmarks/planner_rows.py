"""The rows of the planner's table: clusters, requests, and the measured processes."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from family import SIZES, cluster, disk_tables, tables
from pyarrow import parquet

from kadmin.inventory import SINGLE_CLUSTER
from kadmin.inventory.header import Header, encode_header
from kadmin.plan.model import PlanHeader, Racks, RebalanceRequest
from kadmin.planner.assessment import assess
from kadmin.planner.cluster_arrays import cluster_arrays
from kadmin.planner.compiled_request import compile_request
from kadmin.planner.kernel.bounds import moves_per_partition
from kadmin.planner.kernel.entry_order import plan_order
from kadmin.planner.kernel.placement_problem import NONE
from kadmin.planner.kernel.solve import solve
from kadmin.schema.shapes import to_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from family import Size
    from planner_peers import Assignment, Peer, Peers

    from kadmin.planner.kernel.placement_problem import Ints, PlacementProblem

TAKEN_AT = "2026-01-01T00:00:00Z"
FAMILIES = ("drain", "mixed", "unequal", "heavy")
DISKS = {"disks2": 2, "disks4": 4}
"""Kinds of clusters by the disks of each broker."""
ROWS = (
    *("S", "M", "L"),
    *(f"{size}-{family}" for family in (*FAMILIES, *DISKS) for size in ("S", "M", "L")),
    *("1M", "5M", "fleet-200", "fleet-1000"),
)
MOST_LOCAL = 100_000
"""Clusters of more partitions are left to Spark."""
_REPEATED = 5
_SAMPLE_S = 0.2
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a size, the kind of cluster, and the number of clusters (0: no fleet)."""

    name: str
    size: Size
    kind: str
    fleet: int

    @classmethod
    def named(cls, name: str) -> Row:
        """Return the row of a name out of ROWS."""
        size, _, rest = name.partition("-")
        if size == "fleet":
            return cls(name, SIZES[size], "", int(rest))
        return cls(name, SIZES[size], rest, 0)

    @property
    def partitions(self) -> int:
        """How many partitions the row has in all."""
        return self.size.partitions * max(self.fleet, 1)

    def tables(self, seed: int) -> Iterator[tuple[Any, Any]]:
        """Yield the tables of brokers and partitions, cluster by cluster."""
        for each in range(max(self.fleet, 1)):
            kind = "" if self.kind in {"drain", *DISKS} else self.kind
            yield tables(self.size, seed + each, kind)

    @property
    def drained(self) -> tuple[int, ...]:
        """The brokers to be emptied.

        With `drain` the first of every rack, so that racks stay even.
        """
        return tuple(range(1, self.size.racks + 1)) if self.kind == "drain" else ()

    @property
    def request(self) -> RebalanceRequest:
        """The request of the row."""
        return RebalanceRequest(PlanHeader(), drain=self.drained, racks=Racks.STRICT)

    def write(self, folder: Path, seed: int) -> None:
        """Write inventory and request into a folder."""
        names = [f"cluster-{each:04d}" for each in range(self.fleet)]
        parts = list(self.tables(seed))
        for at, table in enumerate(("brokers", "partitions")):
            found = [part[at] for part in parts]
            for number, name in enumerate(names):
                found[number] = found[number].add_column(
                    0, "cluster", pa.array([name] * len(found[number]))
                )
            parquet.write_table(pa.concat_tables(found), folder / f"{table}.parquet")
        if self.kind in DISKS:
            disks, replicas = disk_tables(parts[0][1], self.size, DISKS[self.kind])
            parquet.write_table(disks, folder / "disks.parquet")
            parquet.write_table(replicas, folder / "replicas.parquet")
        clusters: dict[str, str | None] = dict.fromkeys(
            names or [SINGLE_CLUSTER], "generated-cluster-0001"
        )
        (folder / "inventory.json").write_text(encode_header(Header(TAKEN_AT, clusters)))
        requested = {
            "kind": "RebalanceRequest",
            "spec": {"brokers": {"drain": self.drained}, "racks": "strict"},
        }
        (folder / "request.json").write_text(json.dumps(requested))


@dataclass(frozen=True, slots=True)
class Run:
    """A process with its children: seconds, seconds of CPU, and their peak memory together."""

    seconds: float
    cpu_s: float
    peak_mib: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """The kernel in one process: seconds, seconds of CPU, and the entries of a second run."""

    seconds: float
    cpu_s: float
    again: int
    peak_mib: int


@dataclass(frozen=True, slots=True)
class Rival:
    """A peer's result for the row, scored by kadmin; `failure` where it made no plan."""

    name: str
    seconds: float
    figures: Mapping[str, Any] | None
    again: int | None
    failure: str


@dataclass(frozen=True, slots=True)
class Measured:
    """The whole command, read again from its answer (schemas/answers/figures.schema.json)."""

    row: Row
    figures: Mapping[str, Any]
    kernel: Kernel
    spark: Run
    local: Run | None
    same_bytes: bool | None
    without_disks: Run | None = None
    rivals: tuple[Rival, ...] = ()


def measure(row: Row, seed: int, folder: Path) -> Measured:
    """Measure a row, without the peers, in a new folder."""
    row.write(folder, seed)
    local = run_engine(folder, "local") if row.partitions <= MOST_LOCAL else None
    without_disks = _without_disks(row, seed, folder / "plain") if row.kind in DISKS else None
    spark = run_engine(folder, "spark")
    figures = of_all(json.loads((folder / "figures-spark.json").read_text())["clusters"])
    child = [
        sys.executable,
        str(Path(__file__).with_name("planner.py")),
        row.name,
        "--seed",
        str(seed),
        "--kernel",
    ]
    alone = json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout)
    if alone.pop("moves") != figures["moves"]:
        raise SystemExit(f"{row.name}: the engine's figures are not the kernel's")
    plans = [folder / f"plan-{engine}.json" for engine in ("local", "spark")]
    same = None if local is None else plans[0].read_bytes() == plans[1].read_bytes()
    return Measured(row, figures, Kernel(**alone), spark, local, same, without_disks)


def _without_disks(row: Row, seed: int, folder: Path) -> Run:
    """Run the local engine on the same cluster without its disks."""
    folder.mkdir()
    replace(row, kind="").write(folder, seed)
    return run_engine(folder, "local")


def run_engine(folder: Path, engine: str) -> Run:
    """Run `kadmin propose rebalance` as a process."""
    memory = ("--conf", "spark.driver.memory=5g") if engine == "spark" else ()
    command = [
        sys.executable,
        "-m",
        "kadmin",
        "propose",
        "rebalance",
        "request.json",
        "--inventory",
        ".",
    ]
    command += [
        "--out",
        f"plan-{engine}.json",
        "--figures",
        f"figures-{engine}.json",
        "--engine",
        engine,
        *memory,
    ]
    started = time.perf_counter()
    with (folder / "errors").open("w") as errors:
        child = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        watch = _Watch(child.pid)
        watch.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        watch.end()
    if child.returncode:
        raise SystemExit((folder / "errors").read_text())
    return Run(
        seconds, usage.ru_utime + usage.ru_stime, max(watch.peak_mib, usage.ru_maxrss // _KIB)
    )


class _Watch(threading.Thread):
    """Samples the memory of all processes of one session: Python, JVM and Spark's workers.

    Shared memory counts once (PSS). Without /proc the peak stays 0.
    """

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._over = threading.Event()
        self.peak_mib = 0

    def run(self) -> None:
        """Sample until end() is called."""
        while not self._over.wait(_SAMPLE_S):
            self.peak_mib = max(
                self.peak_mib, sum(map(self._memory_kib, Path("/proc").glob("[0-9]*"))) // _KIB
            )

    def end(self) -> None:
        """Stop sampling."""
        self._over.set()
        self.join()

    def _memory_kib(self, process: Path) -> int:
        with suppress(OSError, IndexError, ValueError):
            # After the name in parentheses come state, parent, group and session.
            if int((process / "stat").read_text().rpartition(")")[2].split()[3]) == self._session:
                lines = (process / "smaps_rollup").read_text().splitlines()
                return next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        return 0


def kernel_alone(row: Row, seed: int) -> dict[str, Any]:
    """Plan in this process: the fields of Kernel, and the moves for comparison."""
    seconds = cpu_s = 0.0
    moves = again = 0
    for found in row.tables(seed):
        problem = compile_request(cluster_arrays(*found), row.request).problem
        runs = [_timed(problem) for _ in range(_REPEATED if row.partitions <= MOST_LOCAL else 1)]
        seconds, cpu_s = (
            seconds + min(each[0] for each in runs),
            cpu_s + min(each[1] for each in runs),
        )
        target = runs[0][2]
        moves += int(moves_per_partition(problem, target).sum())
        second = solve(replace(problem, current=target, start=target.copy()))
        again += int((second.target != target).any(axis=1).sum())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // _KIB
    return {"seconds": seconds, "cpu_s": cpu_s, "again": again, "peak_mib": peak, "moves": moves}


def _timed(problem: PlacementProblem) -> tuple[float, float, Ints]:
    """Return seconds, seconds of CPU and the target."""
    started, cpu = time.perf_counter(), time.process_time()
    target = solve(problem).target
    plan_order(problem, target)
    return time.perf_counter() - started, time.process_time() - cpu, target


def of_all(clusters: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums and the worst figures of a fleet, in the shape of one cluster's."""
    totals = (
        "reassignments",
        "moves",
        "moves_bound",
        "leader_changes",
        "leader_changes_bound",
        "order_changes",
    )
    figures: dict[str, Any] = {key: sum(each[key] for each in clusters) for key in totals}
    figures["proved_optimal"] = sum(each["proved_optimal"] for each in clusters)
    for side in ("before", "after", "bound"):
        found = [each[side] for each in clusters]
        figures[side] = {
            key: (min if key.endswith("_min") else max)(
                one[key] for one in found if one[key] is not None
            )
            for key in found[0]
        }
    return figures if "disks" not in clusters[0] else {**figures, "disks": clusters[0]["disks"]}


def rival(row: Row, seed: int, peer: Peer, ring: Peers) -> Rival:
    """Run a peer on the row's cluster, score its plan, and run it again on its result."""
    before = cluster(row.size, seed)
    first = ring.run(peer, before)
    if first.after is None:
        return Rival(peer.name, first.seconds, None, None, first.failure)
    second = ring.run(peer, before, first.after)
    again = None if second.after is None else _changes(first.after, second.after)
    return Rival(peer.name, first.seconds, _scored(row, seed, first.after), again, second.failure)


def _changes(before: Assignment, after: Assignment) -> int:
    return sum(
        ids != before[topic][number]
        for topic, numbers in after.items()
        for number, ids in numbers.items()
    )


def _scored(row: Row, seed: int, after: Assignment) -> dict[str, Any]:
    """Return kadmin's figures of another planner's assignment."""
    (found,) = row.tables(seed)
    one = cluster_arrays(*found)
    compiled = compile_request(one, row.request)
    at = {broker: index for index, broker in enumerate(one.broker_ids.tolist())}
    target: Ints = np.full_like(compiled.problem.current, NONE)
    for index, (topic, number) in enumerate(
        zip(one.topic.tolist(), one.partition.tolist(), strict=True)
    ):
        ids = after[one.topics[topic]][number]
        target[index, : len(ids)] = [at[broker] for broker in ids]
    solution = replace(solve(compiled.problem), target=target)
    entries = np.flatnonzero((target != compiled.problem.current).any(axis=1))
    figures: dict[str, Any] = json.loads(
        to_json(assess(one, compiled, solution, entries, left_out=0))
    )
    return figures
