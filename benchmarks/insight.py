"""Prints the cost of reading a cluster of 100,000 partitions. Usage: make bench-insight.

In ZooKeeper mode the cluster has 100 brokers; through the brokers' API three that live and three that do not. Commands
are whole processes, wall time; the what-if is measured on a snapshot that is loaded already. Nothing here passes or
fails.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

from run import PARTITIONS, TOPICS, kadmin, load_cluster, timed
from support.kafka.crowd import crowd, reorder

from kadmin.insight.predict.whatif import placements_of, single_losses
from kadmin.inventory import read_inventory, state_of
from kadmin.report.text import table
from kadmin.sandbox import Sandbox, SandboxSpec

MOVES = 1_000
KRAFT_VERSION = "4.4.0"


def figures(connect: str, folder: Path) -> list[list[str]]:
    """Measure every row on a cluster that `load_cluster` wrote."""
    size = f"{TOPICS * PARTITIONS:,} partitions"
    looked = timed(lambda: kadmin("inspect", "partitions", "-z", connect))
    inventory, page = folder / "inventory", folder / "report.html"
    kadmin("snapshot", "-z", connect, "--out", str(inventory))
    state = state_of(read_inventory(inventory).single())
    placements = placements_of(state)
    lost = timed(lambda: single_losses(placements, state.brokers), 3)
    plan = write_moves(folder / "plan.json")
    seconds = timed(lambda: kadmin("report", str(plan), "--inventory", str(inventory), "--out", str(page)))
    return [
        [f"inspect partitions, {size}", f"{looked:.1f} s", "< 15 s"],
        [f"N-1 table, {size} x {len(state.brokers)} brokers, loaded", f"{lost:.1f} s", "< 3 s"],
        [f"report of {MOVES:,} moves, {size}, loading included", f"{seconds:.1f} s", "< 5 s"],
        ["size of that report", f"{page.stat().st_size / 1000:,.0f} kB", "< 300 kB"],
    ]


def figures_through_brokers(bootstrap: str, folder: Path) -> list[list[str]]:
    """Measure what reads a cluster of the same size through its brokers; snapshots name brokers that do not answer."""
    size = f"{TOPICS * PARTITIONS:,} partitions, -b"
    plan = folder / "reorder.json"
    plan.write_text(json.dumps(reorder(MOVES)))
    taken = timed(lambda: kadmin("snapshot", "-b", bootstrap, "--out", str(folder / "through-brokers")))
    compared = timed(lambda: kadmin("diff", str(plan), "-b", bootstrap), 3)
    return [
        [f"snapshot, {size}", f"{taken:.1f} s", "< 10 s"],
        [f"diff of {MOVES:,} entries, {size}", f"{compared:.1f} s", "< 5 s"],
    ]


def write_moves(path: Path) -> Path:
    """Write a plan that moves the first partitions of the cluster by one broker."""
    entries = [
        {
            "topic": f"topic-{n // PARTITIONS:04d}",
            "partition": n % PARTITIONS,
            "replicas": [1 + (n // PARTITIONS + n % PARTITIONS + step * 33 + 5) % 100 for step in range(3)],
        }
        for n in range(MOVES)
    ]
    header = {"apiVersion": "kadmin/v1", "kind": "PartitionReassignment", "metadata": {"name": "bench"}}
    path.write_text(json.dumps({**header, "spec": {"partitions": entries}}))
    return path


def main() -> None:
    """Print the table."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as name:
        bare = Sandbox.up(SandboxSpec(Path(name) / "bare", brokers=0))
        try:
            load_cluster(bare.connect_string)
            rows = figures(bare.connect_string, Path(name))
        finally:
            bare.down()
        with crowd(Path(name) / "kraft", KRAFT_VERSION, TOPICS * PARTITIONS) as bootstrap:
            rows += figures_through_brokers(",".join(bootstrap), Path(name))
    print(table(["figure", "measured", "target"], rows))


if __name__ == "__main__":
    main()
