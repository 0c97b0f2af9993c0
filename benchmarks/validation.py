"""Prints the cost of validation as one table: large, ordinary and hostile plans. Usage: make bench.

Large and ordinary plans are whole processes, start included: processor time (user and system, the
same on a machine that does other things, too), wall time and the peak of their memory. Hostile
files are read in this process after a first one, so that the start is left out: the slowest of all,
and the most memory added.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import NamedTuple

from run import PLAN_ENTRIES, write_plan
from support.documents.bad_documents import BAD

from kadmin.documents.check import examine
from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory
from kadmin.report.text import table

MIB = 2**20
SMALL_BYTES = 64 * 1024
HOSTILE: dict[str, tuple[str, bytes]] = {
    **{name: found for name, found in BAD.items() if len(found[1]) <= SMALL_BYTES},
    "aliases": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [" + b"*a, " * 10_000 + b"]}"),
    "anchors": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [" + b"&a x, " * 10_000 + b"]}"),
    "duplicate keys": ("plan.yaml", b"a: 1\n" * 12_000),
    "bad names": (
        "plan.yaml",
        b"kind: TopicDeletion\nspec: {topics: [" + b"a/b, " * 12_000 + b"]}",
    ),
    "unknown fields": (
        "plan.json",
        b'{"kind": "TopicDeletion"' + b"".join(b', "f%d": 1' % n for n in range(4_000)) + b"}",
    ),
    "digits": ("plan.yaml", b"kind: TopicDeletion\nspec: {topics: [" + b"9" * 60_000 + b"]}"),
    "digits in json": ("plan.json", b'{"kind": ' + b"9" * 60_000 + b"}"),
    "one long line": (
        "plan.json",
        b'{"kind": "TopicDeletion", "spec": {"topics": ["' + b"a" * 60_000 + b'"]}}',
    ),
    "brackets": ("plan.yaml", b"[" * 60_000),
    "braces": ("plan.json", b'{"a":' * 12_000),
    "comments": ("plan.yaml", b"#\n" * 30_000),
    "folded text": ("plan.yaml", b"kind: >-\n" + b" a\n" * 20_000),
}


class Cost(NamedTuple):
    """Seconds of wall time, bytes of memory at the peak, seconds of processor time."""

    seconds: float
    peak_bytes: int
    processor_s: float


def process(*arguments: str) -> Cost:
    """Run `kadmin validate` as a process, with cached bytecode as in an installation.

    A verdict of invalid is as good as any.
    """
    started = time.perf_counter()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    command = [sys.executable, "-m", "kadmin", "validate", *arguments]
    running = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    _, _, usage = os.wait4(running.pid, 0)
    running.returncode = 0
    return Cost(
        time.perf_counter() - started, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime
    )


def hostile(source: str, data: bytes) -> Cost:
    """Read a document in this process: time without tracemalloc, memory with it."""
    started, before = time.perf_counter(), time.process_time()
    examine(data, source)
    taken, processor_s = time.perf_counter() - started, time.process_time() - before
    tracemalloc.start()
    examine(data, source)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return Cost(taken, peak, processor_s)


def write_large_inventory(folder: Path) -> None:
    """Write a snapshot of the cluster that the large plan was made on."""
    brokers = tuple(
        BrokerRow(number, f"r{number}", alive=True, capacity_bytes=10**15) for number in range(1, 5)
    )
    rows = tuple(
        PartitionRow(f"topic-{n // 100:04d}", n % 100, (1, 2, 3), 1, (1, 2, 3), 1000)
        for n in range(PLAN_ENTRIES)
    )
    write_inventory(
        Inventory("2026-11-21T08:30:00Z", {"": ClusterInventory("bench", brokers, rows)}), folder
    )


def rows(folder: Path) -> list[list[str]]:
    """Measure every row."""
    plain = folder / "small.yaml"
    plain.write_text(
        "kind: PartitionReassignment\nspec: {partitions: [{topic: a, partition: 0, replicas: "
        "[1]}]}\n"
    )
    found = []
    small = [process(str(plain)) for _ in range(9)]
    middle = Cost(*(statistics.median(values) for values in zip(*small, strict=True)))
    found.append(["validate an ordinary plan, medians of 9", *_measured(middle, 2), "< 0.5 s"])
    write_large_inventory(folder / "inventory")
    for suffix, target in ((".yaml", "< 12 s, < 1 GB"), (".json", "< 4 s, < 1 GB")):
        plan = folder / f"plan{suffix}"
        write_plan(plan, as_json=suffix == ".json")
        for more, label in (
            ((), ""),
            (("--inventory", str(folder / "inventory")), " against an inventory"),
        ):
            cost = process(str(plan), *more)
            name = f"validate {PLAN_ENTRIES:,} partitions, {suffix[1:]}{label}"
            found.append([name, *_measured(cost, 1), "" if more else target])
    for source, data in HOSTILE.values():
        examine(data, source)  # the first reading imports what it needs
    costs = {name: hostile(*document) for name, document in HOSTILE.items()}
    slowest = max(costs, key=lambda name: costs[name].processor_s)
    largest = max(costs, key=lambda name: costs[name].peak_bytes)
    label = f"{len(costs)} hostile files of up to 64 KiB"
    times = [
        f"{each * 1000:.0f} ms" for each in (costs[slowest].processor_s, costs[slowest].seconds)
    ]
    found.append([f"{label}, the slowest ({slowest})", *times, "", "< 100 ms"])
    found.append(
        [f"{label}, the largest ({largest})", "", "", _mib(costs[largest].peak_bytes), "< 50 MB"]
    )
    return found


def _measured(cost: Cost, digits: int) -> list[str]:
    return [
        f"{cost.processor_s:.{digits}f} s",
        f"{cost.seconds:.{digits}f} s",
        _mib(cost.peak_bytes),
    ]


def _mib(size_bytes: float) -> str:
    return f"{size_bytes / MIB:.0f} MiB"


def main() -> None:
    """Print the table."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as folder:
        print(table(["validation", "processor", "clock", "memory", "target"], rows(Path(folder))))


if __name__ == "__main__":
    main()
