"""Prints kadmin's figures as one table, with the machine's core count. Usage: make bench.

Whole processes, wall time; medians where a row says so. Nothing here passes or fails.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from kazoo.client import KazooClient

from kadmin.report.text import table
from kadmin.sandbox import Sandbox, SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Callable

TOPICS, PARTITIONS = 1_000, 100
PLAN_ENTRIES = 50_000


def timed(run: Callable[[], object], repeats: int = 1) -> float:
    """Return the median of some runs, in seconds."""
    found = []
    for _ in range(repeats):
        started = time.perf_counter()
        run()
        found.append(time.perf_counter() - started)
    return statistics.median(found)


def kadmin(*arguments: str) -> None:
    """Run the command line as a process; raises on failure."""
    subprocess.run(
        [sys.executable, "-m", "kadmin", *arguments], check=True, stdout=subprocess.DEVNULL
    )


def load_cluster(connect: str) -> None:
    """Write the znodes of a cluster of TOPICS x PARTITIONS partitions into a bare ZooKeeper."""
    client = KazooClient(connect)
    client.start()
    for path in (
        "/admin/delete_topics",
        "/brokers/ids",
        "/brokers/topics",
        "/cluster",
        "/config/topics",
    ):
        client.ensure_path(path)
    client.create("/controller_epoch", b"1")
    client.create("/cluster/id", b'{"version":"1","id":"benchbenchbenchbenchbe"}')
    registration = {
        "version": 4,
        "host": "127.0.0.1",
        "port": 9,
        "endpoints": ["SSL://127.0.0.1:9"],
        "rack": "r1",
    }
    for broker in range(1, 101):
        body = {
            **registration,
            "listener_security_protocol_map": {"SSL": "SSL"},
            "rack": f"r{broker % 5}",
        }
        client.create(f"/brokers/ids/{broker}", json.dumps(body).encode(), ephemeral=True)
    for number in range(TOPICS):
        write_topic(client, f"topic-{number:04d}", number)
    # The session stays open to the end of the benchmark, and with it the registrations.
    load_cluster.client = client  # type: ignore[attr-defined]


def write_topic(client: KazooClient, topic: str, number: int) -> None:
    """Write one topic with all its states."""
    replicas = {
        n: [1 + (number + n + step * 33) % 100 for step in range(3)] for n in range(PARTITIONS)
    }
    client.create(
        f"/brokers/topics/{topic}", json.dumps({"version": 1, "partitions": replicas}).encode()
    )
    client.create(f"/brokers/topics/{topic}/partitions", b"")
    pending = []
    for n, ids in replicas.items():
        state = {
            "controller_epoch": 1,
            "leader": ids[0],
            "version": 1,
            "leader_epoch": 0,
            "isr": ids,
        }
        base = f"/brokers/topics/{topic}/partitions/{n}"
        pending.append(client.create_async(base, b""))
        pending.append(client.create_async(f"{base}/state", json.dumps(state).encode()))
    for each in pending:
        each.get(60)


def write_plan(path: Path, *, as_json: bool) -> None:
    """Write a plan of PLAN_ENTRIES entries."""
    entries = [
        {
            "topic": f"topic-{n // 100:04d}",
            "partition": n % 100,
            "current": [1, 2, 3],
            "replicas": [2, 3, 4],
        }
        for n in range(PLAN_ENTRIES)
    ]
    if as_json:
        path.write_text(
            json.dumps({"kind": "PartitionReassignment", "spec": {"partitions": entries}})
        )
        return
    lines = [
        (
            f"    - {{topic: {e['topic']}, partition: {e['partition']}, current: [1, 2, 3], "
            "replicas: [2, 3, 4]}"
        )
        for e in entries
    ]
    path.write_text("kind: PartitionReassignment\nspec:\n  partitions:\n" + "\n".join(lines) + "\n")


def figures(folder: Path) -> list[list[str]]:
    """Measure every row."""
    rows = [
        ["kadmin --help, median of 9", f"{timed(lambda: kadmin('--help'), 9):.2f} s", "< 0.3 s"]
    ]
    started = time.perf_counter()
    sandbox = Sandbox.up(SandboxSpec(folder / "three", brokers=3))
    rows.append(
        ["sandbox of 3 brokers up, warm cache", f"{time.perf_counter() - started:.1f} s", "< 15 s"]
    )
    sandbox.down()
    bare = Sandbox.up(SandboxSpec(folder / "bare", brokers=0))
    try:
        load_cluster(bare.connect_string)
        taken = timed(
            lambda: kadmin(
                "snapshot", "-z", bare.connect_string, "--out", str(folder / "inventory")
            )
        )
    finally:
        bare.down()
    rows.append([f"snapshot of {TOPICS * PARTITIONS:,} partitions", f"{taken:.1f} s", "< 15 s"])
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rows.append(["largest process among the above", f"{peak:.0f} MiB", ""])
    return rows


def main() -> None:
    """Print the table."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        print(table(["figure", "measured", "target"], figures(Path(folder))))


if __name__ == "__main__":
    main()
