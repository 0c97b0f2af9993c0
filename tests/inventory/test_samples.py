"""Samples of a cluster's load, and the files that hold them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from support.live.waiting import wait_until

from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError, StalePlanError
from kadmin.inventory.sample_files import write_sample
from kadmin.inventory.samples import (
    ROW_ORDER,
    SAMPLE_COLUMNS,
    LoadSample,
    file_name,
    is_sample_file,
    sample_columns,
)

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 3, 1, 12, 5, 0, 250_000, tzinfo=UTC)
LATER = AT + timedelta(seconds=1)
P0, P1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
SAMPLE = LoadSample(
    AT,
    "one",
    {2: {P1: 7, P0: 2**53}},
    {2: {P0: 10}, 1: {P1: 0, P0: 11}},
    {"billing": {P0: 3}},
    LATER,
)

WRITER = """
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from kadmin.cluster.model import TopicPartition
from kadmin.inventory.sample_files import write_sample
from kadmin.inventory.samples import LoadSample

offsets = {TopicPartition("orders", number): number for number in range(100_000)}
for second in range(1_000_000):
    at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
    write_sample(Path(sys.argv[1]), LoadSample(at, "one", {1: offsets}, {}))
"""


def test_a_file_has_a_row_for_each_value_in_the_order_that_makes_it_small(tmp_path: Path) -> None:
    path = write_sample(tmp_path / "new" / "samples", SAMPLE)
    assert path.name == "samples-20260301T120500Z.parquet"
    table = pq.ParquetFile(path).read()
    assert table.column_names == [column.name for column in SAMPLE_COLUMNS]
    assert [str(each.type) for each in table.schema] == [
        "timestamp[us, tz=UTC]",
        "string",
        "int32",
        "int32",
        "string",
        "string",
        "string",
        "double",
    ]
    rows = [tuple(row.values()) for row in table.to_pylist()]
    assert rows == [
        (LATER, "orders", 0, None, "billing", "group_offset", "counter", 3.0),
        (AT, "orders", 0, 2, None, "log_end_offset", "counter", 2.0**53),
        (AT, "orders", 1, 2, None, "log_end_offset", "counter", 7.0),
        (AT, "orders", 0, 1, None, "log_size_bytes", "gauge", 11.0),
        (AT, "orders", 0, 2, None, "log_size_bytes", "gauge", 10.0),
        (AT, "orders", 1, 1, None, "log_size_bytes", "gauge", 0.0),
    ]
    assert set(ROW_ORDER) < set(table.column_names)


def test_the_same_sample_gives_the_same_bytes(tmp_path: Path) -> None:
    first, second = write_sample(tmp_path / "a", SAMPLE), write_sample(tmp_path / "b", SAMPLE)
    assert first.read_bytes() == second.read_bytes()


def test_a_cluster_without_partitions_is_a_sample_without_rows(tmp_path: Path) -> None:
    assert (
        pq.ParquetFile(write_sample(tmp_path, LoadSample(AT, None, {}, {}))).metadata.num_rows == 0
    )


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    path = write_sample(tmp_path, SAMPLE)
    before = path.read_bytes()
    with pytest.raises(NotCompletedError, match="not changed"):
        write_sample(tmp_path, LoadSample(AT, "one", {}, {}))
    assert path.read_bytes() == before
    (tmp_path / f".{file_name(LATER)}.partial").write_bytes(b"another process is at it")
    with pytest.raises(NotCompletedError, match="not changed"):
        write_sample(tmp_path, LoadSample(LATER, "one", {}, {}))
    assert list(tmp_path.glob("samples-*")) == [path]


def test_a_folder_is_of_one_cluster(tmp_path: Path) -> None:
    write_sample(tmp_path, SAMPLE)
    with pytest.raises(StalePlanError, match="samples of cluster one, this is cluster two"):
        write_sample(tmp_path, LoadSample(LATER, "two", {}, {}))
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    in_the_way = tmp_path / "samples"
    in_the_way.write_text("")
    with pytest.raises(NotCompletedError, match="Cannot write"):
        write_sample(in_the_way, SAMPLE)


def test_a_writer_that_is_killed_while_it_writes_leaves_whole_files(tmp_path: Path) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, tmp_path])
    try:
        wait_until(lambda: any(tmp_path.glob("samples-*")) and any(tmp_path.glob(".*.partial")), 60)
    finally:
        writer.kill()
        writer.wait()
    assert {pq.ParquetFile(path).read().num_rows for path in tmp_path.glob("samples-*")} == {
        100_000
    }


def test_names_of_files_are_times_in_utc() -> None:
    assert is_sample_file(file_name(AT))
    others = (
        "samples-20260301T120500Z.parquet.partial",
        ".samples-20260301T120500Z.parquet",
        "load.json",
    )
    assert not any(map(is_sample_file, (*others, "samples-20261301T120500Z.parquet")))
    assert {len(values) for values in sample_columns(SAMPLE).values()} == {6}


def test_time_is_stretched_from_the_start_of_a_run_on() -> None:
    begun = datetime(2026, 3, 2, tzinfo=UTC)
    taken = LoadSample(
        begun + timedelta(seconds=2), None, {}, {}, groups_at=begun + timedelta(seconds=2.5)
    )
    found = taken.stretched(begun, 3600)
    assert (found.taken_at - begun, found.groups_at) == (
        timedelta(hours=2),
        begun + timedelta(hours=2.5),
    )
    assert taken.stretched(begun, 1) == taken
