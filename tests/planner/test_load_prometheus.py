"""Exports of Prometheus to a load history: the same as from samples in the long form."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet
from support.cli.in_process import command
from support.planner import sample_history as history

from kadmin.errors import InvalidInputError
from kadmin.planner.load.columns import BROKER_LOAD, PARTITION_LOAD
from kadmin.planner.load_build.job import LoadTask, build_load
from kadmin.planner.load_build.prometheus_names import prometheus_names
from kadmin.planner.load_build.sources import SampleSource
from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import spark_session
from kadmin.report.load import load_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

pytestmark = pytest.mark.spark

SERIES = {
    "log_end_offset": "kafka_log_log_logendoffset",
    "log_start_offset": "kafka_log_log_logstartoffset",
    "log_size_bytes": "kafka_log_log_size",
    "group_offset": "kafka_consumergroup_current_offset",
    "bytes_in": "kafka_server_brokertopicmetrics_bytesin_total",
}
NAMES = """
kind: PrometheusNames
spec:
  metrics:
    acme_requests: {metric: requests, kind: gauge}
    acme_more_requests: {metric: requests, kind: gauge}
  brokers: {"kafka-1:7071": 1, "kafka-2:7071": 2}
"""
LABELS = {"group": "consumergroup"}


@pytest.fixture(scope="module", autouse=True)
def _session() -> Iterator[None]:
    """One JVM for all tests of this file; the builder uses an active session and does not stop
    it.
    """
    conf = {"spark.driver.memory": "768m", "spark.sql.shuffle.partitions": "2"}
    with spark_session(Options(master="local[2]", conf=conf)):
        yield


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("names") / "names.yaml"
    file.write_text(NAMES, encoding="utf-8")
    return file


def labels_of(row: Mapping[str, Any]) -> dict[str, str]:
    """What is scraped of an exporter on a broker, or of one of groups."""
    named = {
        LABELS.get(name, name): str(row[name])
        for name in ("topic", "partition", "group")
        if name in row
    }
    instance = f"kafka-{row['broker_id']}:7071" if "broker_id" in row else "exporter:9308"
    return {
        "__name__": SERIES.get(row["metric"], row["metric"]),
        "instance": instance,
        "job": "kafka",
        **named,
    }


def answer(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """What query_range answers."""
    series = defaultdict(list)
    for row in rows:
        series[tuple(labels_of(row).items())].append([row["ts"].timestamp(), str(row["value"])])
    result = [{"metric": dict(labels), "values": values} for labels, values in series.items()]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def build(samples: Path, out: Path, names: Path | None) -> Mapping[str, Any]:
    source = SampleSource(str(samples), "prometheus", names=prometheus_names(names))
    return build_load(LoadTask(source, out), Options()).figures


def exported(rows: list[history.Row], folder: Path) -> None:
    """Half of the samples as an answer, half as a table; one of them says nothing, one is of all
    topics.
    """
    folder.mkdir(exist_ok=True)
    of_all = {"ts": history.MONDAY, "broker_id": 1, "metric": "bytes_in", "value": "1"}
    silent = {**rows[0], "value": "NaN"}
    (folder / "monday.json").write_text(
        json.dumps(answer([of_all, silent, *rows[::2]])), encoding="utf-8"
    )
    labels = pa.array(
        [list(labels_of(row).items()) for row in rows[1::2]], pa.map_(pa.string(), pa.string())
    )
    columns = {
        "labels": labels,
        "ts": [row["ts"] for row in rows[1::2]],
        "value": [row["value"] for row in rows[1::2]],
    }
    parquet.write_table(pa.table(columns), folder / "tuesday.parquet")


def test_exports_give_what_samples_give(tmp_path: Path, names: Path) -> None:
    rows = [row for moment in history.moments() for row in history.rows_at(moment)]
    history.write(tmp_path / "samples" / "samples-1.parquet", rows)
    exported(rows, tmp_path / "exports")
    build_load(LoadTask(SampleSource(str(tmp_path / "samples")), tmp_path / "one"), Options())
    figures = build(tmp_path / "exports", tmp_path / "two", names)
    for table in (PARTITION_LOAD, BROKER_LOAD):
        assert parquet.read_table(tmp_path / "two" / table) == parquet.read_table(
            tmp_path / "one" / table
        )
    assert (figures["samples_read"], figures["samples_left_out"]) == (len(rows) + 2, 2)
    assert figures["instances_without_broker"] == []
    assert build(tmp_path / "exports", tmp_path / "two", names)["samples_read"] == 0


def test_meters_of_several_names_add_up_and_instances_without_a_broker_are_told(
    tmp_path: Path, names: Path
) -> None:
    rows = [
        {"ts": moment.time, "topic": "orders", "metric": metric, "value": value, **place}
        for moment in history.moments(range(2))
        for metric, value, place in (
            ("log_end_offset", moment.s * 7.0, {"partition": 0, "broker_id": 1}),
            ("acme_requests", 5.0, {"broker_id": 1}),
            ("acme_more_requests", 2.0, {"broker_id": 1}),
            ("bytes_in", moment.s * 100.0, {"broker_id": 3}),
        )
    ]
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "all.json").write_text(json.dumps(answer(rows)), encoding="utf-8")
    asked = (
        "load",
        "build",
        "--samples",
        str(tmp_path / "exports"),
        "--out",
        str(tmp_path / "load"),
    )
    told = command(*asked, "--format", "prometheus", "--names", str(names))
    assert told.status == 0, told.err
    assert 'spec.brokers: {"kafka-3:7071": ID}' in told.out
    (load,) = parquet.read_table(tmp_path / "load" / PARTITION_LOAD).to_pylist()
    assert load["requests_per_s"][:2] == [7.0, 7.0]


STEP_S = 300
START_S = int(history.MONDAY.timestamp())
OLDER = 499 * 10**9
"""What the counters of a broker that runs for longer are ahead."""


def counter(name: str, per_s: int, labels: Mapping[str, str], base: int = 0) -> dict[str, Any]:
    """A series of four hours of a counter."""
    values = [[START_S + s, str(base + per_s * s)] for s in range(0, 4 * 3600 + 1, STEP_S)]
    return {"metric": {"__name__": name, **labels}, "values": values}


def two_brokers(
    topic: str = "t", meter: str = SERIES["bytes_in"], **more: str
) -> list[dict[str, Any]]:
    """Of two brokers that no label names: one leads a partition with 1,000 B/s, one another with
    twice that.
    """
    series = []
    for number in (1, 2):
        labels = {"kubernetes_pod_name": f"kafka-{number}", "instance": f"k{number}:7071", **more}
        series.append(
            counter(meter, 1000 * number, {**labels, "topic": topic}, base=OLDER * number)
        )
        of_partition = {"topic": topic.replace("_", "."), "partition": str(number - 1)}
        series.append(counter(SERIES["log_end_offset"], 10 * number, {**labels, **of_partition}))
    return series


def write_answer(folder: Path, series: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    answered = {"status": "success", "data": {"resultType": "matrix", "result": series}}
    (folder / "all.json").write_text(json.dumps(answered), encoding="utf-8")
    return folder


def rates(out: Path) -> list[list[float]]:
    """The bytes in of the first four hours of each partition."""
    return [
        row["bytes_in_per_s"][:4] for row in parquet.read_table(out / PARTITION_LOAD).to_pylist()
    ]


def test_counters_of_brokers_that_no_label_names_are_not_read_as_one(tmp_path: Path) -> None:
    exports = write_answer(tmp_path / "exports", two_brokers())
    asked = (
        "load",
        "build",
        "--samples",
        str(exports),
        "--out",
        str(tmp_path / "load"),
        "--format",
        "prometheus",
    )
    built = command(*asked)
    assert built.status == 0, built.err
    assert rates(tmp_path / "load") == [[1000.0] * 4, [2000.0] * 4]
    assert "no label broker_id" in built.out
    assert 'spec.brokers: {"k1:7071": ID, "k2:7071": ID}' in built.out


@pytest.mark.parametrize("form", ["answer", "rows"])
def test_counters_that_no_label_tells_apart_are_refused(form: str, tmp_path: Path) -> None:
    exports = tmp_path / "exports"
    if form == "answer":
        write_answer(exports, [*two_brokers(job="pods"), *two_brokers(job="service")])
        cause = (
            "they differ by instance, job, kubernetes_pod_name: several brokers, or one counter "
            "twice"
        )
    else:
        labels = [("__name__", SERIES["bytes_in"]), ("topic", "t")]
        rows = [
            (float(START_S + s), base + s)
            for s in range(0, 3600, STEP_S)
            for base in (0.0, float(OLDER))
        ]
        exports.mkdir()
        columns = {
            "labels": pa.array([labels for _ in rows], pa.map_(pa.string(), pa.string())),
            "ts": [at for at, _ in rows],
            "value": [value for _, value in rows],
        }
        parquet.write_table(pa.table(columns), exports / "all.parquet")
        cause = "they have the same labels, and two values at the same time"
    with pytest.raises(
        InvalidInputError, match=r"bytesin_total about topic t cannot be distinguished"
    ) as refused:
        build(exports, tmp_path / "load", None)
    assert refused.value.cause == f"no label names the broker, and {cause}"


@pytest.mark.matrix
def test_names_that_map_nothing_and_topics_with_underscores_are_named_and_mapped(
    tmp_path: Path,
) -> None:
    exports = write_answer(tmp_path / "exports", two_brokers("pay_in", "acme_bytesinpersec_total"))
    names = tmp_path / "names.yaml"
    mapped = {"metrics": {"acme_bytesinpersec_total": {"metric": "bytes_in"}}}
    unknown = build(exports, tmp_path / "one", None)
    assert (unknown["coverage"], unknown["samples_left_out"]) == (0.0, 2 * 49)
    assert f"spec.metrics: {json.dumps(mapped['metrics'])}" in load_text(unknown, {})
    names.write_text(json.dumps({"kind": "PrometheusNames", "spec": mapped}), encoding="utf-8")
    underscored = build(exports, tmp_path / "two", names)
    assert 'spec.topics: {"pay_in": "pay.in"}' in load_text(underscored, {})
    spec = {**mapped, "topics": {"pay_in": "pay.in"}, "brokers": {"k1:7071": 1, "k2:7071": 2}}
    names.write_text(json.dumps({"kind": "PrometheusNames", "spec": spec}), encoding="utf-8")
    assert "warning" not in load_text(build(exports, tmp_path / "three", names), {})
    assert rates(tmp_path / "three") == [[1000.0] * 4, [2000.0] * 4]


def test_an_export_of_which_no_name_is_known_is_refused_with_them(tmp_path: Path) -> None:
    exports = write_answer(tmp_path / "exports", [counter("acme_bytes", 1, {"topic": "t"})])
    with pytest.raises(InvalidInputError, match="no row that can be used") as refused:
        build(exports, tmp_path / "load", None)
    assert refused.value.cause == "unknown names of series: acme_bytes"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            (
                '{"status": "error", "errorType": "bad_data", "error": "query processing would '
                'load too many samples"}'
            ),
            "load too many",
        ),
        (
            '{"status": "success", "data": {"resultType": "scalar", "result": [1, "2"]}}',
            "its resultType is scalar",
        ),
        ("<html>502</html>", "it has no status success"),
    ],
    ids=["error", "scalar", "no JSON"],
)
def test_what_is_no_answer_is_refused(text: str, cause: str, tmp_path: Path, names: Path) -> None:
    (tmp_path / "exports").mkdir()
    (tmp_path / "exports" / "all.json").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"all\.json is no answer of Prometheus") as refused:
        build(tmp_path / "exports", tmp_path / "load", names)
    assert cause in str(refused.value.cause)


@pytest.mark.parametrize(
    ("columns", "cause"),
    [
        ({"ts": [1.0], "value": [1.0]}, "it has no column labels"),
        (
            {"labels": ["{}"], "ts": [1.0], "value": [1.0]},
            "labels are string, not a map of strings",
        ),
    ],
    ids=["column", "type"],
)
def test_a_table_that_is_no_export_is_refused(
    columns: dict[str, list[Any]], cause: str, tmp_path: Path, names: Path
) -> None:
    (tmp_path / "exports").mkdir()
    parquet.write_table(pa.table(columns), tmp_path / "exports" / "all.parquet")
    with pytest.raises(InvalidInputError, match="is no export of Prometheus") as refused:
        build(tmp_path / "exports", tmp_path / "load", names)
    assert cause in str(refused.value.cause)


def test_names_that_are_wrong_are_refused_with_their_place(tmp_path: Path) -> None:
    file = tmp_path / "names.yaml"
    file.write_text(
        "kind: PrometheusNames\nspec:\n  metrics:\n    up: {metric: uptime}\n", encoding="utf-8"
    )
    asked = (
        "load",
        "build",
        "--samples",
        str(tmp_path),
        "--out",
        str(tmp_path / "load"),
        "--names",
        str(file),
    )
    refused = command(*asked, "--format", "prometheus")
    assert refused.status == 3
    assert f"{file}:4:18" in refused.err
    assert "--names goes with --format prometheus" in command(*asked).err
