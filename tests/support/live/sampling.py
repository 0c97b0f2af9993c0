"""Samples a live cluster while a known workload runs, and compares what grew with what was produced
and consumed.
"""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from support.cli.in_process import command
from support.live.waiting import wait_until

from kadmin.cli.sandbox_answers import moved_value
from kadmin.cluster.servers import Servers
from kadmin.inventory.samples import Metric
from kadmin.sandbox import traffic
from kadmin.sandbox.workload import Workload
from kadmin.schema import validate_value
from kadmin.worlds.kafka import sampling
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import pytest

    from kadmin.sandbox import Sandbox

HOURS = 10
RECORDS_PER_HOUR = 400
ALLOWED = 0.05
Series = dict[tuple[Any, ...], list[float]]


def sampled_traffic(
    sandbox: Sandbox, address: Sequence[str], topics: Sequence[str], folder: Path
) -> None:
    """Run a workload of ten seconds while samples are kept; each partition grew as was produced and
    consumed.

    Bytes in are the growth of the log by the bytes of a record, which are growth of the log over
    growth of the offset.
    """
    # The groups have committed once, and a sample has been taken, before anything is counted.
    run_traffic(sandbox, topics, 1, 1)
    assert sample(address, folder, "--once")["samples"] == 1
    ended: list[dict[str, Any]] = []
    producing = threading.Thread(
        target=lambda: ended.append(run_traffic(sandbox, topics, HOURS, RECORDS_PER_HOUR)),
        daemon=True,
    )
    producing.start()
    kept = sample(address, folder, "--every", "1s", "--for", f"{HOURS}s")
    producing.join()
    # The name of a sample has the second.
    newest = max(each.stat().st_mtime for each in folder.glob("*.parquet"))
    wait_until(lambda: time.time() >= newest + 1)
    sample(address, folder, "--once")
    assert kept["samples"] >= 3
    (moved,) = ended
    series = read(folder)
    sizes = _leading_replicas(series)
    for each in moved["produced"]:
        place = each["topic"], each["partition"]
        ends = _end_offsets(series, *place)
        assert ends == sorted(ends)
        assert growth(ends) == each["records"] > 0
        assert set(series[Metric.LOG_START_OFFSET, *place, None, None]) == {0}
        per_record = growth(sizes[place]) / growth(ends)
        assert abs(growth(ends) * per_record - each["value_bytes"]) <= ALLOWED * each["value_bytes"]
    assert {each["group"] for each in moved["consumed"]} == {"readers-1", "readers-2"}
    for each in moved["consumed"]:
        committed = series[
            Metric.GROUP_OFFSET, each["topic"], each["partition"], None, each["group"]
        ]
        assert committed == sorted(committed)
        assert growth(committed) == each["records"] > 0
    busiest = max(moved["produced"], key=lambda each: each["records"])
    ends = _end_offsets(series, busiest["topic"], busiest["partition"])
    assert len(set(ends)) > 2, "samples between the first and the last saw it grow"


def await_topics(sandbox: Sandbox, topics: Sequence[str]) -> None:
    """Wait until every broker knows topics: a new one reaches them one by one."""
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        wait_until(
            lambda: all(
                read_metadata(connection, topics, broker_id=each).topics.keys() == set(topics)
                for each in sandbox.broker_ports
            ),
            60,
        )


def frozen_broker(
    sandbox: Sandbox, address: Sequence[str], folder: Path, patience: pytest.MonkeyPatch
) -> tuple[dict[str, Any], Series]:
    """Return the answer of a sample while broker 3 is frozen, and the values of that sample."""
    patience.setattr(sampling, "REQUEST_S", 5.0)
    sandbox.freeze(3)
    try:
        kept = sample(address, folder, "--once")
    finally:
        sandbox.thaw(3)
    return kept["last"], read(folder)


def sample(address: Iterable[str], folder: Path, *arguments: str) -> dict[str, Any]:
    """Run `kadmin sample`, hold its answer against the schema, and return it."""
    answer = command("sample", *address, "--out", folder, *arguments, "-o", "json")
    assert answer.status == 0, answer.err
    value: dict[str, Any] = json.loads(answer.out)
    assert validate_value(value, "answers/sample") == []
    assert all(each in answer.err for each in value["last"]["unavailable"])
    return value


def run_traffic(sandbox: Sandbox, topics: Sequence[str], hours: int, rate: int) -> dict[str, Any]:
    """Run a workload on some topics whose hours last a second, and return what it moved.

    Not as a command: the output of one that runs in a thread would be that of another one.
    """
    workload = Workload.of(traffic.topics_of(sandbox, topics), rate, seed=3)
    return moved_value(traffic.run_traffic(sandbox, workload, hours, 1.0))


def read(folder: Path) -> Series:
    """Return the values of all samples in the order of time, by metric, topic, partition, broker
    and group.
    """
    series: Series = {}
    for path in sorted(folder.glob("*.parquet")):
        for row in pq.ParquetFile(path).read().to_pylist():
            key = row["metric"], row["topic"], row["partition"], row["broker_id"], row["group"]
            series.setdefault(key, []).append(row["value"])
    return series


def growth(values: Sequence[float]) -> float:
    """Return by how much a series grew."""
    return values[-1] - values[0]


def _end_offsets(series: Series, topic: str, partition: int) -> list[float]:
    """Return the end offsets of a partition that one broker led all the time."""
    (found,) = (
        values
        for key, values in series.items()
        if key[:3] == (Metric.LOG_END_OFFSET, topic, partition)
    )
    return found


def _leading_replicas(
    series: Mapping[tuple[Any, ...], list[float]],
) -> dict[tuple[str, int], list[float]]:
    """Return the sizes of the largest replica of each partition."""
    found: dict[tuple[str, int], list[float]] = {}
    for (metric, topic, partition, _, _), values in series.items():
        if (
            metric == Metric.LOG_SIZE_BYTES
            and values[-1] >= found.get((topic, partition), [0.0])[-1]
        ):
            found[topic, partition] = values
    return found
