"""Reads samples as a Spark DataFrame in the long form, from files or anything that Spark reads."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as f

from kadmin.errors import InvalidInputError
from kadmin.inventory.columns import CLUSTER, ColumnKind
from kadmin.inventory.samples import PROMETHEUS, SAMPLE_COLUMNS, TIME
from kadmin.planner.load_build import prometheus
from kadmin.planner.spark_session import local_url
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.prometheus_names import PrometheusNames

ENDINGS = {
    "parquet": (".parquet",),
    "csv": (".csv", ".csv.gz"),
    "json": (".json", ".jsonl", ".json.gz", ".jsonl.gz"),
    PROMETHEUS: prometheus.ENDINGS,
}
"""The formats whose files are listed one by one, so that the next run reads only new ones, and how
their names end."""

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/")
_TYPES = {
    ColumnKind.STRING: "string",
    ColumnKind.INT: "int",
    ColumnKind.DOUBLE: "double",
    ColumnKind.TIME: "timestamp",
}
_READING = {"csv": {"header": "true", "mode": "PERMISSIVE"}, "json": {"primitivesAsString": "true"}}


@dataclass(frozen=True, slots=True)
class SampleSource:
    """The source of samples: a file, folder or URL, or the name of a table.

    `format` is one of Spark's (spark.read.format), `options` are those of its reader; or that of
    exports of Prometheus, which need `names`.
    """

    place: str
    format: str = "parquet"
    options: Mapping[str, str] = field(default_factory=dict)
    table: bool = False
    names: PrometheusNames | None = None

    @property
    def listed(self) -> bool:
        """Whether its files are listed one by one; other sources are read whole by every run."""
        return not self.table and self.format in ENDINGS and _URL.match(self.place) is None

    @property
    def by_file(self) -> bool:
        """Whether tasks may read its files themselves, without the JVM."""
        return self.listed and self.format == "parquet" and not self.options

    @property
    def url(self) -> str:
        """The place as Spark reads it: a local file or folder as a URL, anything else as it is."""
        return local_url(Path(self.place)) if Path(self.place).exists() else self.place


def samples(session: SparkSession, source: SampleSource, paths: Sequence[str]) -> DataFrame:
    """Return the samples of a source, or of those of its files, with the columns of samples.

    A cell that cannot be read is null. Raises InvalidInputError where a column is missing.
    """
    if source.names is not None:
        exports = prometheus.series_samples(session, source.names, paths)
        return reduce(lambda one, other: one.unionByName(other), map(_in_columns, exports))
    if source.table:
        frame = session.read.table(source.place)
    else:
        options = {**_READING.get(source.format, {}), **source.options}
        frame = (
            session.read.format(source.format).options(**options).load(list(paths) or source.url)
        )
    missing = [
        column.name
        for column in SAMPLE_COLUMNS
        if column.required and column.name not in frame.columns
    ]
    if missing:
        raise InvalidInputError(
            f"{source.place} holds no samples.",
            cause=f"it has no column {name_some(missing)}; it has {name_some(frame.columns)}",
            next_step="name its columns as docs/load.md does, in a view or a copy",
        )
    return _in_columns(frame)


def _in_columns(frame: DataFrame) -> DataFrame:
    return frame.select(
        *(_column(frame, each.name, each.kind) for each in (CLUSTER, *SAMPLE_COLUMNS))
    )


def _column(frame: DataFrame, name: str, kind: ColumnKind) -> SparkColumn:
    if name not in frame.columns:
        return f.lit(None).cast(_TYPES[kind]).alias(name)
    value = f.col(f"`{name}`")
    if name == TIME and dict(frame.dtypes)[name] == "string":
        # Seconds since 1970 in a file of text: a string of digits is no time to Spark.
        value = f.coalesce(
            f.timestamp_micros((value.try_cast("double") * 1e6).try_cast("bigint")),
            value.try_cast("timestamp"),
        )
    return value.try_cast(_TYPES[kind]).alias(name)
