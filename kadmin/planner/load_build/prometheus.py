"""Reads exports of Prometheus as samples.

They are answers of query_range as JSON, or rows of labels, time and value.
"""

from __future__ import annotations

import json
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as f

from kadmin.errors import InvalidInputError
from kadmin.inventory.columns import CLUSTER
from kadmin.inventory.samples import TIME, Metric
from kadmin.planner.load_build.export_series import Meter, Series, find_gaps, not_told_apart
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame, SparkSession

    from kadmin.planner.load_build.export_series import ExportGaps
    from kadmin.planner.load_build.prometheus_names import PrometheusNames

ENDINGS = (".json", ".json.gz", ".parquet")
_PARTITIONED = (
    Metric.LOG_END_OFFSET,
    Metric.LOG_START_OFFSET,
    Metric.LOG_SIZE_BYTES,
    Metric.GROUP_OFFSET,
)
_NAME = "__name__"
_SEEN = ("first_at", "last_at")
_METER = (CLUSTER.name, "name", "metric", "topic", "of_partition")
_SERIES = "metric map<string,string>, values array<array<string>>"
_ANSWER = (
    "status string, error string, data struct<resultType: string, result: "
    f"array<struct<{_SERIES}>>>"
)


def series_samples(
    session: SparkSession, names: PrometheusNames, paths: Iterable[str]
) -> list[DataFrame]:
    """Return the samples of exported files in the long form, times and values as they were written.

    Series without a name in `names` have no metric. `paths` are those that `export_gaps` has
    checked.
    """
    return [each.select(*_keys(names), TIME, "value") for each in _points(session, paths)]


def _points(session: SparkSession, paths: Iterable[str]) -> list[DataFrame]:
    """Return `series` (labels), time and value, of the files of each form."""
    answers, rows = _by_form(paths)
    frames = []
    if answers:
        points = _series(_answers(session, answers)).select(
            "series", f.explode("values").alias("point")
        )
        frames.append(
            points.select(
                "series",
                f.element_at("point", 1).alias(TIME),
                f.element_at("point", 2).alias("value"),
            )
        )
    if rows:
        frames.append(_rows(session, rows))
    return frames


def export_gaps(session: SparkSession, names: PrometheusNames, paths: Sequence[str]) -> ExportGaps:
    """Return the gaps in the mapping of the series.

    Raises InvalidInputError for a file that is no export, and for meters without a label that is
    unique per broker.
    """
    answers, rows = _by_form(paths)
    seen = []
    if answers:
        series = _series(_checked(_answers(session, answers)))
        ends = (
            f.element_at(f.try_element_at("values", f.lit(place)), 1).try_cast("double")
            for place in (1, -1)
        )
        seen.append(
            series.select(
                "series", *(end.alias(name) for name, end in zip(_SEEN, ends, strict=True))
            )
        )
    if rows:
        written = f.col(TIME)
        at = f.coalesce(
            written.try_cast("timestamp").try_cast("double"),
            written.try_cast("string").try_cast("double"),
        )
        seen.append(_rows(session, rows).select("series", *(at.alias(name) for name in _SEEN)))
    meters = _meters(reduce(lambda one, other: one.unionByName(other), seen), names)
    gaps = find_gaps(meters)
    if any(meter.without_broker for meter in meters):
        _require_one_value(session, names, paths)
    return gaps


def _meters(series: DataFrame, names: PrometheusNames) -> list[Meter]:
    """Return the series about topics by name and topic.

    Only those of no known broker are looked at one by one.
    """
    rows = series.where(f.col(_SEEN[0]).isNotNull()).select(
        *_keys(names), _label(names, "instance"), _left(names), *_SEEN
    )
    rows = rows.where(f.col("topic").isNotNull()).withColumn("of_partition", _is_of_partition())
    source = [
        f.when(_is_of_no_broker(), f.col(name)).alias(name)
        for name in ("partition", "left", "instance")
    ]
    each = rows.groupBy(*_METER, *source).agg(
        f.min(_SEEN[0]).alias(_SEEN[0]), f.max(_SEEN[1]).alias(_SEEN[1])
    )
    one = f.when(f.col("left").isNotNull(), f.struct("left", "instance", *_SEEN))
    found = each.groupBy(*_METER, "partition").agg(
        f.sort_array(f.collect_list(one)).alias("without_broker")
    )
    return [_meter(row) for row in found.orderBy(*_METER, "partition").toArrow().to_pylist()]


def _meter(row: dict[str, Any]) -> Meter:
    sources = [Series(json.loads(each.pop("left")), **each) for each in row.pop("without_broker")]
    return Meter(**{name: row[name] for name in _METER}, without_broker=sources)


def _require_one_value(session: SparkSession, names: PrometheusNames, paths: Iterable[str]) -> None:
    """Refuse series with two values at the same time: their labels are ambiguous."""
    value, lowest, highest = (f.col(name) for name in ("value", "lowest", "highest"))
    for points in _points(session, paths):
        rows = points.select(*_keys(names), TIME, value.try_cast("double").alias("value"))
        rows = rows.where(f.col("topic").isNotNull() & (value >= 0) & ~f.isnan(value))
        rows = rows.withColumn("of_partition", _is_of_partition()).where(_is_of_no_broker())
        values = rows.groupBy(*_METER, "partition", "group", TIME).agg(
            f.min(value).alias("lowest"), f.max(value).alias("highest")
        )
        twice = values.where(lowest < highest).orderBy(*_METER, TIME).select(*_METER).limit(1)
        for row in twice.toArrow().to_pylist():
            raise not_told_apart(
                Meter(**row), "they have the same labels, and two values at the same time"
            )


def _by_form(paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the files with answers, and those with rows."""
    forms: tuple[list[str], list[str]] = ([], [])
    for path in paths:
        forms[path.endswith(".parquet")].append(path)
    return forms


def _rows(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return `series` (labels), time and value of each row.

    Raises InvalidInputError for a table without them.
    """
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
    """Return the answers; raises InvalidInputError for one that is not of query_range."""
    good = (f.col("status") == "success") & (f.col("data.resultType") == "matrix")
    bad = answers.where(~f.coalesce(good, f.lit(False))).select("file", "error", "data.resultType")  # noqa: FBT003 - lit takes it by position
    for row in bad.limit(1).toArrow().to_pylist():
        form = row["resultType"] and f"its resultType is {row['resultType']}, not matrix"
        raise InvalidInputError(
            f"{row['file']} is no answer of Prometheus to query_range.",
            cause=row["error"] or form or "it has no status success",
            next_step="export it with the query in docs/load.md",
        )
    return answers


def _series(answers: DataFrame) -> DataFrame:
    """Return `series` (labels) and `values` of each series."""
    return answers.select(f.inline("data.result")).select(f.col("metric").alias("series"), "values")


def _keys(names: PrometheusNames) -> list[SparkColumn]:
    """Return the key columns of series, such as topic and partition, and their `name`.

    Meters of several names add up: the name keeps them apart in `group`, and so do all labels that
    are left where none says the broker, since the counters of several brokers are not one.
    """
    metric = _looked_up({name: series.metric for name, series in names.metrics.items()}, _name())
    kind = _looked_up({name: series.sample_kind for name, series in names.metrics.items()}, _name())
    by_instance = _looked_up(names.brokers, _label(names, "instance"))
    broker = f.coalesce(_label(names, "broker_id").try_cast("int"), by_instance)
    topic = _label(names, "topic")
    own = f.when(metric.isin(*_PARTITIONED), _label(names, "group")).otherwise(_name())
    apart = broker.isNull() & (metric != Metric.GROUP_OFFSET)
    return [
        _label(names, CLUSTER.name),
        f.coalesce(_looked_up(names.topics, topic), topic).alias("topic"),
        _label(names, "partition").try_cast("int").alias("partition"),
        broker.alias("broker_id"),
        f.when(apart, f.concat(_name(), _left(names))).otherwise(own).alias("group"),
        metric.alias("metric"),
        kind.alias("kind"),
        _name().alias("name"),
    ]


def _name() -> SparkColumn:
    return f.element_at("series", f.lit(_NAME))


def _is_of_partition() -> SparkColumn:
    return f.coalesce(f.col("metric").isin(*_PARTITIONED), f.lit(False))  # noqa: FBT003 - lit takes it by position


def _is_of_no_broker() -> SparkColumn:
    """Whether a series is a meter of an unknown broker."""
    return f.col("metric").isNotNull() & ~f.col("of_partition") & f.col("broker_id").isNull()


def _left(names: PrometheusNames) -> SparkColumn:
    """Return the labels without a column, as JSON in their order."""
    used = [
        _NAME,
        *(
            label
            for of in (CLUSTER.name, "topic", "partition")
            for label in names.labels.get(of, ())
        ),
    ]
    left = f.map_filter("series", lambda label, _value: ~label.isin(*used))
    return f.to_json(f.map_from_entries(f.array_sort(f.map_entries(left)))).alias("left")


def _label(names: PrometheusNames, of: str) -> SparkColumn:
    values = (f.element_at("series", f.lit(label)) for label in names.labels.get(of, ()))
    return f.coalesce(*values, f.lit(None).cast("string")).alias(of)


def _looked_up(table: Mapping[str, Any], key: SparkColumn) -> SparkColumn:
    """Return the value of a key, null where there is none."""
    if not table:
        return f.lit(None)
    return f.element_at(
        f.create_map(*(f.lit(each) for pair in table.items() for each in pair)), key
    )
