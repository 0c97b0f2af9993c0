"""Reads what Prometheus exported as samples: answers of query_range as JSON, or rows of labels, time and value.

Which series are samples, and which of their labels say of what, is in documents of kind PrometheusNames.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from kadmin.documents import parse_prometheus_names
from kadmin.errors import InvalidInputError, name_some
from kadmin.inventory.columns import CLUSTER
from kadmin.inventory.samples import TIME, Metric, SampleKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

ENDINGS = (".json", ".json.gz", ".parquet")
BUILT_IN = Path(__file__).with_name("prometheus-names.yaml")

_PARTITIONED = (Metric.LOG_END_OFFSET, Metric.LOG_START_OFFSET, Metric.LOG_SIZE_BYTES, Metric.GROUP_OFFSET)
_GAUGES = (Metric.LOG_START_OFFSET, Metric.LOG_SIZE_BYTES)
_SERIES = "metric map<string,string>, values array<array<string>>"
_ANSWER = f"status string, error string, data struct<resultType: string, result: array<struct<{_SERIES}>>>"


@dataclass(frozen=True, slots=True)
class PrometheusNames:
    """What series mean: metric and kind by name, the labels that say of what, in order, and broker ids by instance."""

    metrics: Mapping[str, tuple[str, str]]
    labels: Mapping[str, Sequence[str]]
    brokers: Mapping[str, int]


def prometheus_names(file: Path | None) -> PrometheusNames:
    """Return the built-in names with what a file changes in them; raises InvalidInputError where it is not valid."""
    names = _read(BUILT_IN)
    return names if file is None else _together(names, _read(file))


def _read(file: Path) -> PrometheusNames:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"Cannot read {file}.", cause=error.strerror) from error
    spec = parse_prometheus_names(data, str(file))
    metrics = {name: (each["metric"], _kind(each)) for name, each in spec.get("metrics", {}).items()}
    return PrometheusNames(metrics, spec.get("labels", {}), spec.get("brokers", {}))


def _kind(entry: Mapping[str, str]) -> str:
    usual = SampleKind.GAUGE if entry["metric"] in _GAUGES else SampleKind.COUNTER
    return entry.get("kind", usual)


def _together(one: PrometheusNames, other: PrometheusNames) -> PrometheusNames:
    return PrometheusNames(
        {**one.metrics, **other.metrics}, {**one.labels, **other.labels}, {**one.brokers, **other.brokers}
    )


def series_samples(session: SparkSession, names: PrometheusNames, paths: Iterable[str]) -> list[DataFrame]:
    """Return the samples of exported files in the long form, times and values as they were written.

    Series without a name in `names` have no metric. `paths` are those that `unknown_instances` has checked.
    """
    answers, rows = _by_form(paths)
    frames = []
    if answers:
        points = _series(_answers(session, answers)).select("series", f.explode("values").alias("point"))
        frames.append(
            points.select("series", f.element_at("point", 1).alias(TIME), f.element_at("point", 2).alias("value"))
        )
    if rows:
        frames.append(_rows(session, rows))
    return [each.select(*_keys(f.col("series"), names), TIME, "value") for each in frames]


def unknown_instances(session: SparkSession, names: PrometheusNames, paths: Iterable[str]) -> list[str]:
    """Return the instances that report about topics of which no broker id is known, in order.

    Raises InvalidInputError for a file that is no export.
    """
    answers, rows = _by_form(paths)
    found = set[str]()
    for each in [
        *([_series(_checked(_answers(session, answers)))] if answers else ()),
        *([_rows(session, rows)] if rows else ()),
    ]:
        of_broker = each.select(*_keys(f.col("series"), names), _label(f.col("series"), names, "instance"))
        wanted = f.col("metric").isNotNull() & ~f.col("metric").isin(*_PARTITIONED) & f.col("topic").isNotNull()
        unknown = of_broker.where(wanted & f.col("broker_id").isNull() & f.col("instance").isNotNull())
        found.update(unknown.select("instance").distinct().toArrow().column("instance").to_pylist())
    return sorted(found)


def _by_form(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files with answers, and those with rows."""
    forms: tuple[list[str], list[str]] = ([], [])
    for path in paths:
        forms[path.endswith(".parquet")].append(path)
    return forms


def _rows(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return `series` (labels), time and value of each row; raises InvalidInputError for a table without them."""
    frame = session.read.parquet(*paths)
    types = dict(frame.dtypes)
    causes = [f"it has no column {name}" for name in ("labels", TIME, "value") if name not in types]
    if not causes and types["labels"] != "map<string,string>":
        causes = [f"labels are {types['labels']}, not a map of strings"]
    for cause in causes:
        raise InvalidInputError(f"{name_some(paths)} is no export of Prometheus.", cause=cause)
    return frame.select(f.col("labels").alias("series"), TIME, "value")


def _answers(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    reader = session.read.schema(_ANSWER).options(multiLine="true")
    return reader.json(list(paths)).select("*", f.col("_metadata.file_name").alias("file"))


def _checked(answers: DataFrame) -> DataFrame:
    """Return the answers; raises InvalidInputError for what is none of query_range."""
    good = (f.col("status") == "success") & (f.col("data.resultType") == "matrix")
    bad = answers.where(~f.coalesce(good, f.lit(False))).select("file", "error", "data.resultType")  # noqa: FBT003 - lit takes it by position
    for row in bad.limit(1).toArrow().to_pylist():
        form = row["resultType"] and f"its resultType is {row['resultType']}, not matrix"
        raise InvalidInputError(
            f"{row['file']} is no answer of Prometheus to query_range.",
            cause=row["error"] or form or "it has no status success",
            next_command="export it with the query in docs/load.md",
        )
    return answers


def _series(answers: DataFrame) -> DataFrame:
    """Return `series` (labels) and `values` of each series."""
    return answers.select(f.inline("data.result")).select(f.col("metric").alias("series"), "values")


def _keys(series: SparkColumn, names: PrometheusNames) -> list[SparkColumn]:
    """Return what series are of. Meters of several names add up: the name keeps them apart in `group`."""
    name = f.element_at(series, f.lit("__name__"))
    metric, kind = (_looked_up({key: each[place] for key, each in names.metrics.items()}, name) for place in (0, 1))
    of_partition = metric.isin(*_PARTITIONED)
    by_instance = _looked_up(names.brokers, _label(series, names, "instance"))
    return [
        _label(series, names, CLUSTER.name),
        _label(series, names, "topic"),
        _label(series, names, "partition").try_cast("int").alias("partition"),
        f.coalesce(_label(series, names, "broker_id").try_cast("int"), by_instance).alias("broker_id"),
        f.when(of_partition, _label(series, names, "group")).otherwise(name).alias("group"),
        metric.alias("metric"),
        kind.alias("kind"),
    ]


def _label(series: SparkColumn, names: PrometheusNames, of: str) -> SparkColumn:
    values = (f.element_at(series, f.lit(label)) for label in names.labels.get(of, ()))
    return f.coalesce(*values, f.lit(None).cast("string")).alias(of)


def _looked_up(table: Mapping[str, Any], key: SparkColumn) -> SparkColumn:
    """Return the value of a key, null where there is none."""
    if not table:
        return f.lit(None)
    return f.element_at(f.create_map(*(f.lit(each) for pair in table.items() for each in pair)), key)
