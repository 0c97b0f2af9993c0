"""Samples as Parquet files of a folder: written one file each, whole or not at all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError, NotCompletedError, StalePlanError
from kadmin.inventory.parquet_tables import arrow_types, pyarrow_modules
from kadmin.inventory.samples import (
    ROW_ORDER,
    SAMPLE_COLUMNS,
    TIME,
    Metric,
    SampleExistsError,
    file_name,
    is_sample_file,
    sample_columns,
)
from kadmin.next_step import command
from kadmin.whole_files import created

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime
    from pathlib import Path

    from kadmin.inventory.samples import LoadSample

_CLUSTER_ID = b"kadmin.cluster_id"
_LEVEL = 9
"""zstd's level: a quarter of a second for 400,000 rows."""
_DELTAS = "partition"
"""The column whose differences are kept: numbers of partitions in order."""
_PLAIN = "value"
"""The column without a dictionary: there are as many values as rows."""


def write_sample(folder: Path, sample: LoadSample) -> Path:
    """Write a sample and return its file. The same sample gives the same bytes.

    Raises StalePlanError for a folder with samples of another cluster, SampleExistsError where
    there is one of that second, and NotCompletedError where the file cannot be written.
    """
    arrow, parquet = pyarrow_modules()
    path = folder / file_name(sample.taken_at)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_same_cluster(parquet, folder, sample.cluster_id)
        with created(path) as file:
            _write(arrow, parquet, file, sample)
    except OSError as error:
        if isinstance(error, FileExistsError) and folder.is_dir():
            raise SampleExistsError(
                f"There is {path} already; it was not changed.",
                cause="another process keeps its samples in this folder",
                next_step="give each its own --out DIR",
            ) from error
        raise NotCompletedError(
            f"Cannot write {path}.", cause=error.strerror or str(error)
        ) from error
    return path


def last_end_offsets(
    folder: Path, cluster_id: str | None, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, tuple[int, datetime]]:
    """Return the end offset of partitions in their last sample of a folder, and its time in UTC.

    Partitions without a sample are left out. Raises InvalidInputError for a folder without samples
    and for a file that is none, StalePlanError for samples of another cluster.
    """
    arrow, parquet = pyarrow_modules()
    files = sorted(each for each in folder.glob("*.parquet") if is_sample_file(each.name))
    if not files:
        raise InvalidInputError(
            f"{folder} has no samples.", next_step=command("sample", "--out", folder)
        )
    _require_same_cluster(parquet, folder, cluster_id)
    wanted = set(partitions)
    found: dict[TopicPartition, tuple[int, datetime]] = {}
    while files and wanted:
        path = files.pop()
        filters = [
            ("metric", "=", Metric.LOG_END_OFFSET.value),
            ("topic", "in", sorted({each.topic for each in wanted})),
        ]
        try:
            rows = parquet.read_table(path, filters=filters).to_pylist()
        except (arrow.ArrowInvalid, OSError) as error:
            raise InvalidInputError(f"{path} is not a sample.", cause=str(error)) from error
        for row in rows:
            partition = TopicPartition(row["topic"], row["partition"])
            if partition in wanted:
                found[partition] = int(row["value"]), row[TIME]
                wanted.discard(partition)
    return found


def _write(arrow: Any, parquet: Any, file: Any, sample: LoadSample) -> None:  # noqa: ANN401 - pyarrow ships no type information
    columns, types = sample_columns(sample), arrow_types(arrow)
    fields = [
        arrow.field(each.name, types[each.kind], nullable=not each.required)
        for each in SAMPLE_COLUMNS
    ]
    schema = arrow.schema(fields, metadata={_CLUSTER_ID: sample.cluster_id or ""})
    table = arrow.Table.from_arrays(
        [arrow.array(columns[each.name], each.type) for each in fields], schema=schema
    )
    parquet.write_table(
        table.sort_by([(name, "ascending") for name in ROW_ORDER]),
        file,
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[each.name for each in fields if each.name not in {_DELTAS, _PLAIN}],
        column_encoding={_DELTAS: "DELTA_BINARY_PACKED"},
    )


def _require_same_cluster(parquet: Any, folder: Path, cluster_id: str | None) -> None:  # noqa: ANN401 - as above
    """Raise StalePlanError where the last sample of a folder is of another cluster."""
    names = [each for each in os.listdir(folder) if is_sample_file(each)]  # noqa: PTH208 - names alone are needed
    if not names:
        return
    found = (parquet.read_schema(folder / max(names)).metadata or {}).get(_CLUSTER_ID, b"").decode()
    if found and cluster_id and found != cluster_id:
        raise StalePlanError(
            f"{folder} holds samples of cluster {found}, this is cluster {cluster_id}.",
            next_step="give another --out DIR",
        )
