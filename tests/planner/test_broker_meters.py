"""The load of a live cluster, as brokers' own meters have it and as kadmin's samples of its
partitions add up to.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from support.cli.in_process import command
from support.live.sampling import await_topics, run_traffic, sample
from support.live.waiting import wait_until

from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError, UnknownOutcomeError
from kadmin.inventory.samples import Metric, SampleKind
from kadmin.java import cache_folder, find_java
from kadmin.planner.load.columns import BROKER_LOAD
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.sandbox.jars import class_path
from kadmin.sandbox.processes import free_ports
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.spark

SECONDS = 24
"""Seconds of traffic, each of which is an hour of the load."""
HOUR_S = 3600
ALLOWED = 0.05
METERS = {"BytesInPerSec": Metric.BYTES_IN, "BytesOutPerSec": Metric.BYTES_OUT}
TOPICS = ("orders", "payments")


@pytest.fixture
def metered(tmp_path: Path) -> Iterator[tuple[Sandbox, Mapping[int, int]]]:
    """Three brokers of 2.8.2 and the ports of their JMX; each of two topics has a partition that
    each broker leads.
    """
    sandbox = Sandbox.up(SandboxSpec(tmp_path / "sandbox", "2.8.2"))
    try:
        ports = dict(zip(sandbox.brokers, free_ports(3), strict=True))
        with pytest.MonkeyPatch.context() as patch:
            for broker, port in ports.items():
                options = {
                    "port": port,
                    "host": "127.0.0.1",
                    "authenticate": "false",
                    "ssl": "false",
                }
                words = (
                    f"-Dcom.sun.management.jmxremote.{name}={value}"
                    for name, value in options.items()
                )
                patch.setenv(
                    "JDK_JAVA_OPTIONS", " ".join([*words, "-Djava.rmi.server.hostname=127.0.0.1"])
                )
                sandbox.stop_broker(broker)
                sandbox.start_broker(broker)
        yield sandbox, ports
    finally:
        sandbox.down()


@pytest.mark.matrix
def test_what_partitions_add_up_to_is_what_each_broker_reports(
    metered: tuple[Sandbox, Mapping[int, int]], tmp_path: Path
) -> None:
    sandbox, ports = metered
    for topic in TOPICS:
        wait_until(partial(created, sandbox, topic))
    await_topics(sandbox, TOPICS)
    # The meter of a topic is there from its first record on.
    run_traffic(sandbox, TOPICS, 1, 100)
    load = broker_load([*run_watched(sandbox, ports, tmp_path)], tmp_path)
    for broker, way in itertools.product(ports, ("in", "out")):
        hours = [each for each in load if each["broker_id"] == broker]
        reported, partitions = (
            sum(hour[f"{side}_{way}_per_s"] or 0 for hour in hours)
            for side in ("reported", "partitions")
        )
        assert reported > 0
        assert abs(partitions - reported) <= ALLOWED * reported, (broker, way)


def created(sandbox: Sandbox, topic: str) -> bool:
    """Whether a topic is there of which each broker leads a partition; asks for it where it is not.

    While the brokers do not agree on who is the controller, they refuse it or leave open whether it
    was created.
    """
    with (
        suppress(NotCompletedError, UnknownOutcomeError),
        KafkaConnection(Servers(sandbox.bootstrap)) as connection,
    ):
        if topic in read_metadata(connection, [topic]).topics:
            return True
        create_topic(connection, topic, {0: (1, 2), 1: (2, 3), 2: (3, 1)})
    return False


def run_watched(
    sandbox: Sandbox, ports: Mapping[int, int], folder: Path
) -> Iterator[dict[str, Any]]:
    """Run traffic and return the samples of the partitions and of the meters meanwhile, an hour for
    each second.
    """
    with ExitStack() as watching:
        files = {broker: folder / f"meters-{broker}.csv" for broker in ports}
        for broker, file in files.items():
            watching.enter_context(watched(sandbox.spec.version, ports[broker], file))
        named = [word for topic in TOPICS for word in ("--topic", topic)]
        hours = (
            "--dir",
            str(sandbox.spec.directory),
            "--hour",
            "1s",
            "--for",
            f"{SECONDS}h",
            "--rate",
            "2000",
        )
        command_line = [sys.executable, "-m", "kadmin", "sandbox", "traffic", *hours, *named]
        traffic = watching.enter_context(subprocess.Popen(command_line))
        # Readers end late on a busy machine, and the last of what they read is to be in both.
        flowing = True
        while flowing:
            flowing = traffic.poll() is None
            sample(
                ("-b", ",".join(sandbox.bootstrap)),
                folder / "taken",
                "--every",
                "1s",
                "--for",
                "3s",
            )
    taken = [
        row
        for path in (folder / "taken").glob("*.parquet")
        for row in pq.ParquetFile(path).read().to_pylist()
    ]
    taken = [{**row, "ts": row["ts"].timestamp()} for row in taken]
    begun = min(row["ts"] for row in taken)
    for row in [*taken, *(row for broker, file in files.items() for row in meters(file, broker))]:
        yield {**row, "ts": begun + (row["ts"] - begun) * HOUR_S}


@contextmanager
def watched(version: str, port: int, file: Path) -> Iterator[None]:
    """Have Kafka's own tool write what the meters of a broker count, once a second."""
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    options = [
        "--jmx-url",
        f"service:jmx:rmi:///jndi/rmi://127.0.0.1:{port}/jmxrmi",
        "--reporting-interval",
        "1000",
    ]
    for name, topic in itertools.product(METERS, TOPICS):
        options += [
            "--object-name",
            f"kafka.server:type=BrokerTopicMetrics,name={name},topic={topic}",
        ]
    words = [
        str(java.executable),
        "-cp",
        class_path(version, java, cache),
        "kafka.tools.JmxTool",
        *options,
    ]
    with (
        file.open("w") as output,
        subprocess.Popen([*words, "--attributes", "Count"], stdout=output) as tool,
    ):
        try:
            wait_until(lambda: len(list(meters(file, 0))) > 0)
            yield
        finally:
            tool.kill()


def meters(file: Path, broker: int) -> Iterator[dict[str, Any]]:
    """Return the samples that a file of Kafka's tool holds, of whole lines."""
    header, *lines = list(csv.reader(file.read_text().rpartition("\n")[0].splitlines())) or [[]]
    for line in lines:
        at_ms, *values = map(float, line)
        for name, value in zip(header[1:], values, strict=True):
            meter, topic = re.findall(r"(?:name|topic)=([^,:]+)", name)
            yield {
                "ts": at_ms / 1000,
                "topic": topic,
                "broker_id": broker,
                "metric": METERS[meter],
                "kind": SampleKind.COUNTER,
                "value": value,
            }


def broker_load(rows: Iterable[Mapping[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """Return both sides of each broker and hour that `load build` makes of samples."""
    samples = folder / "samples"
    samples.mkdir()
    (samples / "all.json").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    built = command(
        "load", "build", "--samples", samples, "--format", "json", "--out", folder / "load"
    )
    assert built.status == 0, built.err
    found: list[dict[str, Any]] = pq.ParquetFile(folder / "load" / BROKER_LOAD).read().to_pylist()
    return found
