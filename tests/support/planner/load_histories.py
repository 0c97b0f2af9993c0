"""Writes load histories as `kadmin load build` does, from a few rates."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import parquet

from kadmin.planner.load.columns import HOURS, PARTITION_LOAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MONDAY = datetime(2026, 1, 5, tzinfo=UTC)
SCHEMA = pa.schema(
    [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("start", pa.timestamp("us", "UTC")),
        ("weeks", pa.int32()),
        ("bytes_in_per_s", pa.list_(pa.float32())),
        ("bytes_out_per_s", pa.list_(pa.float32())),
        ("coverage", pa.float64()),
    ]
)


def week(*rates: float | None) -> list[float | None]:
    """Return rates repeated over the hours of a week."""
    return [rates[hour % len(rates)] for hour in range(HOURS)]


def row(
    topic: str,
    partition: int,
    bytes_in: Sequence[float | None],
    **values: Any,  # noqa: ANN401 - a row's own values
) -> dict[str, Any]:
    """Return a row of one week; `bytes_out_per_s` is 0 unless given."""
    key = {"topic": topic, "partition": partition, "start": MONDAY, "weeks": 1}
    return {
        **key,
        "bytes_in_per_s": bytes_in,
        "bytes_out_per_s": week(0.0),
        "coverage": 1.0,
        **values,
    }


def table(rows: Sequence[Mapping[str, Any]], **columns: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    """Return the rows as an Arrow table; `columns` are types of further or other columns."""
    schema = SCHEMA
    for name, kind in columns.items():
        at = schema.get_field_index(name)
        schema = (
            schema.append(pa.field(name, kind)) if at < 0 else schema.set(at, pa.field(name, kind))
        )
    return pa.Table.from_pylist(list(rows), schema=schema)


def write(folder: Path, rows: Any) -> None:  # noqa: ANN401 - rows, or an Arrow table
    """Write a history's table into a folder."""
    folder.mkdir(exist_ok=True)
    parquet.write_table(
        rows if isinstance(rows, pa.Table) else table(rows), folder / PARTITION_LOAD
    )
