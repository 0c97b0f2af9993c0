"""Prints the cost of `kadmin load build`. Usage: make bench-load-build [MILLIONS="60 240"].

Spark makes the samples, of end offsets, leaders' log sizes with retention, offsets of a group,
bytes in and out of each topic on each broker: a week for each 60 million, of 5,952 partitions with
a sample every five minutes, or of 1,190 with one every minute. Each build is a process of its own.
"nothing new" is a build right after the first; "a day more" one of the newest seventh, after one of
all before it. Sizes after the first show how the build grows: they have the first build alone.
"limit" is the time in which pyarrow reads the samples and numpy groups those of each file by series
and hour, with a process for each core; "times" is the build's time over that.
Nothing here passes or fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pyarrow import parquet
from pyspark.sql import functions as f

from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import spark_session
from kadmin.report.text import table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PARTITIONS_OF_A_TOPIC = 8
BROKERS = 12
METRICS = ("log_end_offset", "log_size_bytes", "group_offset", "bytes_in", "bytes_out")
SERIES_EVERY_S = {300: 5_952 * len(METRICS), 60: 1_190 * len(METRICS)}
"""How many series have 60 million samples in a week, by the seconds between their samples."""
START_S = 1_772_409_600
"""Monday 2026-03-02 00:00 UTC."""

DAY_S = 86_400.0
SEGMENTS_BYTES = 2e9


def write_samples(session: SparkSession, folder: Path, rows: int, every_s: int) -> None:
    """Write the samples, in the order of time."""
    series = SERIES_EVERY_S[every_s]
    partitions = series // len(METRICS)
    row, kind = f.col("id") % series, f.floor(f.col("id") % series / partitions)
    number = row % partitions
    topic, partition = f.floor(number / PARTITIONS_OF_A_TOPIC), number % PARTITIONS_OF_A_TOPIC
    elapsed = f.floor(f.col("id") / series) * every_s
    swing = 0.5 * DAY_S / 6.2831853 * (1 - f.cos(elapsed * 6.2831853 / DAY_S))
    records = f.floor((10 + number % 97) * (elapsed + swing))
    size = records * (200 + topic % 300)
    kept = size - f.floor(size / SEGMENTS_BYTES) * (SEGMENTS_BYTES - 5e8)
    metric = f.element_at(f.array(*map(f.lit, METRICS)), (kind + 1).cast("int"))
    is_size, of_group, of_topic = (
        metric == METRICS[1],
        metric == METRICS[2],
        metric.startswith("bytes_"),
    )
    frame = session.range(0, rows, 1, max(rows // 500_000, 1)).select(
        f.timestamp_micros((START_S + elapsed) * 1_000_000 + f.col("id") % 999_983).alias("ts"),
        f.format_string("topic-%05d", topic.cast("int")).alias("topic"),
        f.when(~of_topic, partition.cast("int")).alias("partition"),
        f.when(~of_group, ((topic * 7 + partition) % BROKERS).cast("int")).alias("broker_id"),
        f.when(of_group, f.lit("billing")).alias("group"),
        metric.alias("metric"),
        f.when(is_size, f.lit("gauge")).otherwise(f.lit("counter")).alias("kind"),
        f.when(is_size, kept).when(of_topic, size).otherwise(records).cast("double").alias("value"),
    )
    session.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    frame.write.mode("overwrite").parquet(str(folder))


def build(samples: Path, out: Path) -> tuple[float, float, dict[str, object]]:
    """Build in a process of its own; returns seconds, the peak of memory in GB, and the answer."""
    started = time.monotonic()
    run = (
        "-m",
        "kadmin",
        "load",
        "build",
        "--samples",
        str(samples),
        "--out",
        str(out),
        "-o",
        "json",
    )
    process = subprocess.Popen((sys.executable, *run), stdout=subprocess.PIPE, text=True)
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, _memory_gb(process.pid))
        time.sleep(0.2)
    elapsed = time.monotonic() - started
    answer = json.loads(process.communicate()[0] or "{}")
    if process.returncode:
        sys.exit("the build failed")
    return elapsed, peak, answer


def _memory_gb(root: int) -> float:
    """Return the resident memory of a process and of those below it, as Linux tells it."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        parents[int(status.parent.name)] = int(fields[1]), int(fields[21])
    family, pages = {root}, 0
    for pid in sorted(parents):
        if pid in family or parents[pid][0] in family:
            family.add(pid)
            pages += parents[pid][1]
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e9


def build_newest(samples: Path, out: Path) -> float:
    """Build without the newest seventh; returns the seconds that it then takes."""
    files, aside = sorted(samples.glob("part-*")), samples.with_name("newest")
    aside.mkdir()
    for each in files[-max(len(files) // 7, 1) :]:
        each.rename(aside / each.name)
    build(samples, out)
    for each in aside.iterdir():
        each.rename(samples / each.name)
    aside.rmdir()
    return build(samples, out)[0]


def group(path: Path) -> int:
    """Group the samples of a file by series and hour as roll-ups do; returns the groups."""
    names = ("topic", "group", "metric", "kind")
    read = parquet.read_table(path, read_dictionary=names)
    at = read.column("ts").cast("int64").to_numpy()
    value = read.column("value").to_numpy()
    key = at // 3_600_000_000
    for name in (*names, "partition", "broker_id"):
        column = read.column(name).combine_chunks()
        codes = column.indices if name in names else column
        code = codes.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64) + 1
        key = key * (int(code.max(initial=0)) + 1) + code
    order = np.lexsort((at, key))
    at, value, key = at[order], value[order], key[order]
    begins = np.flatnonzero(np.diff(key, prepend=key[0] - 1))
    for reduced in (np.minimum, np.maximum, np.add):
        reduced.reduceat(value, begins)
        reduced.reduceat(at, begins)
    return len(begins)


def limit_s(samples: Path) -> float:
    """Return the seconds in which all files are read and grouped."""
    started = time.monotonic()
    with ProcessPoolExecutor() as pool:
        groups = sum(pool.map(group, samples.glob("part-*")))
    elapsed = time.monotonic() - started
    print(f"{groups:,} groups in the files", file=sys.stderr)
    return elapsed


def measure(folder: Path, number: int, every_s: int, *, alone: bool) -> list[str]:
    """Return the row of a table of so many samples; `alone`: of the first build alone."""
    samples, out = folder / "samples", folder / "load"
    with spark_session(Options()) as session:
        write_samples(session, samples, number, every_s)
    elapsed, peak, answer = build(samples, out)
    limit = limit_s(samples)
    later = ["", ""]
    if not alone:
        again, _, _ = build(samples, out)
        shutil.rmtree(out)
        later = [f"{build_newest(samples, out):.1f} s", f"{again:.1f} s"]
    shutil.rmtree(samples)
    shutil.rmtree(out)
    speed, memory = f"{number / elapsed:,.0f}", f"{peak:.2f} GB"
    first = [f"{number:,}", f"{every_s} s", f"{elapsed:.1f} s", speed, memory]
    against = [f"{limit:.1f} s", f"{elapsed / limit:.1f}"]
    return [*first, *against, *later, str(answer["agreement"])]


def main() -> None:
    """Print the table."""
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}")
    first, *others = [int(float(each) * 1e6) for each in sys.argv[1:]] or [60_000_000]
    with tempfile.TemporaryDirectory() as name:
        rows = [measure(Path(name), first, every_s, alone=False) for every_s in SERIES_EVERY_S]
        rows += [
            measure(Path(name), number, next(iter(SERIES_EVERY_S)), alone=True) for number in others
        ]
    headings = (
        "samples",
        "one every",
        "build",
        "samples/s",
        "memory",
        "limit",
        "times",
        "a day more",
        "nothing new",
        "agreement",
    )
    print(table(headings, rows))


if __name__ == "__main__":
    main()
