"""Reads a load history as a Spark DataFrame, with the types of kadmin.planner.load.reading.

Absent columns have the values of load.reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as f

from kadmin.inventory.columns import CLUSTER
from kadmin.inventory.model import SINGLE_CLUSTER
from kadmin.planner.load import columns as load
from kadmin.planner.load.reading import (
    NAMED,
    RATE_COLUMNS,
    VALUES_OF_ABSENT,
    history_types,
)
from kadmin.planner.spark_session import local_url

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from kadmin.inventory.header import Header

_TYPES = {
    load.TOPIC: "string",
    load.PARTITION: "int",
    load.START: "timestamp",
    load.WEEKS: "int",
    **dict.fromkeys(RATE_COLUMNS, "array<float>"),
}
_INTEGERS = {8: "tinyint", 16: "smallint", 32: "int", 64: "bigint", 128: "decimal(20,0)"}
"""Spark's types of integers by their width in bits."""


def read_history_frame(session: SparkSession, path: Path, header: Header) -> DataFrame:
    """Return the load history of a header's clusters.

    Its columns are `cluster` and those of load.reading.ROWS. Raises InvalidInputError for a file
    that cannot be a history.
    """
    types = history_types(path, header)
    read = ", ".join(f"{name} {_stored_type(kind)}" for name, kind in types.items())
    frame = session.read.schema(read).parquet(local_url(path))
    named = f.col(CLUSTER.name) if CLUSTER.name in types else f.lit(None).cast("string")
    cluster = named if header.fleet else f.lit(SINGLE_CLUSTER)
    rows = [
        (f.col(name) if name in types else f.lit(VALUES_OF_ABSENT.get(name))).cast(kind).alias(name)
        for name, kind in _TYPES.items()
    ]
    frame = frame.select(cluster.alias(CLUSTER.name), named.alias(NAMED), *rows)
    return frame.where(f.col(CLUSTER.name).isin(list(header.clusters)))


def _stored_type(found: Any) -> str:  # noqa: ANN401 - pyarrow ships no type information
    """Return the Spark type of a Parquet column as stored.

    Spark reads unsigned integers as wider ones.
    """
    if pa.types.is_timestamp(found):
        return "timestamp" if found.tz else "timestamp_ntz"
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return f"array<{_stored_type(found.value_type)}>"
    if pa.types.is_integer(found):
        return _INTEGERS[
            found.bit_width * 2 if pa.types.is_unsigned_integer(found) else found.bit_width
        ]
    if pa.types.is_floating(found):
        return "float" if pa.types.is_float32(found) else "double"
    return "string"
