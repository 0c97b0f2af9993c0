"""Prints the cost of reading a cluster of 100,000 partitions. Usage: make bench-insight.

In ZooKeeper mode the cluster has 100 brokers; through the brokers' API three that live and three
that do not. Commands are whole processes, wall time; the what-if is measured on a snapshot that is
loaded already. Nothing here passes or fails.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import disks
from run import PARTITIONS, TOPICS, kadmin, load_cluster, timed
from support.kafka.crowd import crowd, reorder
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.insight.predict.whatif import placements_of, single_losses
from kadmin.inventory import read_inventory, state_of
from kadmin.inventory.sample_files import write_sample
from kadmin.inventory.samples import LoadSample
from kadmin.operations.context import Clock
from kadmin.report.text import table
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.sampling import take_sample
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.topics import create_topic

MOVES = 1_000
SAMPLED_BROKERS, OF_A_TOPIC = 12, 500
LAGGING = 0.3
BROKERS_HEAP = "-Xmx1g"
"""With a sandbox's 256 MB, brokers of 8,000 logs each beside the metadata of 100,000 partitions
only collect garbage.

Java reads `_JAVA_OPTIONS` after all other options.
"""
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
    seconds = timed(
        lambda: kadmin("report", str(plan), "--inventory", str(inventory), "--out", str(page))
    )
    return [
        [f"inspect partitions, {size}", f"{looked:.1f} s", "< 15 s"],
        [f"N-1 table, {size} x {len(state.brokers)} brokers, loaded", f"{lost:.1f} s", "< 3 s"],
        [f"report of {MOVES:,} moves, {size}, loading included", f"{seconds:.1f} s", "< 5 s"],
        ["size of that report", f"{page.stat().st_size / 1000:,.0f} kB", "< 300 kB"],
    ]


def figures_through_brokers(bootstrap: str, folder: Path) -> list[list[str]]:
    """Measure what reads a cluster of the same size through its brokers.

    Snapshots name brokers that do not answer.
    """
    size = f"{TOPICS * PARTITIONS:,} partitions, -b"
    plan = folder / "reorder.json"
    plan.write_text(json.dumps(reorder(MOVES)))
    taken = timed(
        lambda: kadmin("snapshot", "-b", bootstrap, "--out", str(folder / "through-brokers"))
    )
    compared = timed(lambda: kadmin("diff", str(plan), "-b", bootstrap), 3)
    return [
        [f"snapshot, {size}", f"{taken:.1f} s", "< 10 s"],
        [f"diff of {MOVES:,} entries, {size}", f"{compared:.1f} s", "< 5 s"],
    ]


def figures_of_samples(folder: Path) -> list[list[str]]:
    """Measure a sample of brokers that keep 100,000 empty partitions.

    Measure the file of one with made-up values, too.
    """
    os.environ["_JAVA_OPTIONS"] = BROKERS_HEAP
    sandbox = Sandbox.up(
        SandboxSpec(
            folder / "sampled", version=KRAFT_VERSION, mode="kraft", brokers=SAMPLED_BROKERS
        )
    )
    bootstrap = sandbox.bootstrap
    partitions = TOPICS * PARTITIONS
    try:
        with KafkaConnection(Servers(bootstrap)) as connection:
            for number in range(partitions // OF_A_TOPIC):
                holders = {
                    each: (1 + (number + each) % SAMPLED_BROKERS,) for each in range(OF_A_TOPIC)
                }
                create_topic(connection, f"topic-{number:04d}", holders)
            wait_until(lambda: len(read_metadata(connection).partitions) == partitions, 600)
            wait_until(lambda: not take_sample(connection, Clock()).unavailable, 600)
        arguments = "sample", "-b", ",".join(bootstrap), "--once", "--out", str(folder / "samples")
        taken = timed(lambda: kadmin(*arguments), 3)
    finally:
        sandbox.down()
    made_up = sample_of(partitions)
    written = timed(lambda: write_sample(folder / "made-up", made_up))
    (path,) = (folder / "made-up").iterdir()
    size = f"{partitions:,} partitions x 3"
    return [
        [
            f"sample, {partitions:,} partitions on {SAMPLED_BROKERS} brokers, -b",
            f"{taken:.1f} s",
            "< 5 s",
        ],
        [f"writing a sample, {size}", f"{written:.1f} s", ""],
        [f"size of a sample, {size}", f"{path.stat().st_size / 1e6:.2f} MB", "< 2 MB"],
    ]


def sample_of(partitions: int) -> LoadSample:
    """Make up a sample.

    Sizes by a log-normal distribution, and three of ten replicas that lag behind.
    """
    chooser = random.Random(7)
    ends: dict[TopicPartition, int] = {}
    sizes: dict[int, dict[TopicPartition, int]] = {}
    for number in range(partitions):
        partition = TopicPartition(f"topic-{number // PARTITIONS:04d}", number % PARTITIONS)
        size = int(chooser.lognormvariate(20, 2))
        ends[partition] = int(size * chooser.uniform(0.002, 0.06))
        for broker in chooser.sample(range(100), 3):
            lag = chooser.randrange(100_000) if chooser.random() < LAGGING else 0
            sizes.setdefault(broker, {})[partition] = max(0, size - lag)
    return LoadSample(datetime.now(UTC), "made-up", {1: ends}, sizes)


def write_moves(path: Path) -> Path:
    """Write a plan that moves the first partitions of the cluster by one broker."""
    entries = [
        {
            "topic": f"topic-{n // PARTITIONS:04d}",
            "partition": n % PARTITIONS,
            "replicas": [
                1 + (n // PARTITIONS + n % PARTITIONS + step * 33 + 5) % 100 for step in range(3)
            ],
        }
        for n in range(MOVES)
    ]
    header = {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "metadata": {"name": "bench"},
    }
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
        rows += figures_of_samples(Path(name))
        rows += disks.figures(Path(name) / "disks")
    print(table(["figure", "measured", "target"], rows))


if __name__ == "__main__":
    main()
