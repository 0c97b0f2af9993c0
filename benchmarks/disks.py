"""Prints the cost of inventories with disks: 100,000 partitions x 3 replicas x 2 disks.

A part of make bench-insight. Each row is a process of its own, with its wall time and its peak
memory; writing includes neither the making of the rows nor the start of the process in its time,
and both in its memory. Nothing here passes or fails.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kadmin.cluster.disks import Disk, DiskReplica
from kadmin.cluster.model import TopicPartition
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    write_inventory,
)
from kadmin.report.text import table

PARTITIONS, OF_A_TOPIC, BROKERS, DISKS = 100_000, 100, 100, 2
FORMATS = ("parquet", "csv")
TARGET = "< 12 s, < 300 MB"


def inventory() -> Inventory:
    """Make up an inventory.

    Sizes are by a log-normal distribution, and differ a little between replicas.
    """
    chooser = random.Random(7)
    paths = [f"/var/lib/kafka/data-{number}" for number in range(DISKS)]
    partitions: list[PartitionRow] = []
    replicas: list[DiskReplica] = []
    for number in range(PARTITIONS):
        partition = TopicPartition(f"topic-{number // OF_A_TOPIC:04d}", number % OF_A_TOPIC)
        size = int(chooser.lognormvariate(20, 2))
        held = tuple((number * 7 + step * 33) % BROKERS for step in range(3))
        partitions.append(
            PartitionRow(partition.topic, partition.partition, held, held[0], held, size)
        )
        replicas += [
            DiskReplica(
                partition, broker, chooser.choice(paths), max(0, size - chooser.randrange(100_000))
            )
            for broker in held
        ]
    disks = [
        Disk(broker, path, 4 * 10**12, chooser.randrange(10**12))
        for broker in range(BROKERS)
        for path in paths
    ]
    cluster = ClusterInventory(
        "benchbenchbenchbenchbe",
        tuple(BrokerRow(broker, f"r{broker % 5}", alive=True) for broker in range(BROKERS)),
        tuple(partitions),
        disks=tuple(disks),
        replicas=tuple(replicas),
    )
    return Inventory("2026-11-28T00:00:00Z", {SINGLE_CLUSTER: cluster})


def figures(folder: Path) -> list[list[str]]:
    """Measure writing and reading in each format."""
    size = f"{PARTITIONS:,} partitions x 3 x {DISKS} disks"
    rows: list[list[str]] = []
    for form in FORMATS:
        made = folder / form
        written, write_mb = measured(__file__, str(made), form)
        _, read_mb, seconds = timed("-m", "kadmin", "inspect", "disks", "--inventory", str(made))
        rows += [
            [
                f"writing an inventory, {form}, {size}",
                f"{float(written):.1f} s, {write_mb} MB",
                TARGET,
            ],
            [
                f"inspect disks --inventory, {form}, {size}",
                f"{seconds:.1f} s, {read_mb} MB",
                TARGET,
            ],
        ]
    return rows


def timed(*arguments: str) -> tuple[str, int, float]:
    """Run a process; return its output, its peak memory in MB and its seconds."""
    began = time.perf_counter()
    output, peak_mb = measured(*arguments)
    return output, peak_mb, time.perf_counter() - began


def measured(*arguments: str) -> tuple[str, int]:
    """Run a process of Python; return its output and its peak memory in MB."""
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE, text=True) as child:
        output = "" if child.stdout is None else child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, arguments)
    return output, round(usage.ru_maxrss * 1024 / 1e6)


def main(arguments: list[str]) -> None:
    """Print the table; or write an inventory to a folder in a format, and print the seconds."""
    if arguments:
        made = inventory()
        began = time.perf_counter()
        write_inventory(made, Path(arguments[0]), arguments[1])
        print(time.perf_counter() - began)
        return
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    with tempfile.TemporaryDirectory() as name:
        print(table(["figure", "measured", "target"], figures(Path(name))))


if __name__ == "__main__":
    main(sys.argv[1:])
