"""Both engines read the same tables and make the same plan, byte for byte."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from family import SIZES, cluster, inventory
from pyarrow import parquet
from support.planner.load_histories import row, table, week
from support.planner.small_clusters import request

from kadmin.documents import dump_json
from kadmin.errors import InfeasibleError, InvalidInputError, KadminError, StalePlanError, UsageError
from kadmin.inventory import SINGLE_CLUSTER, BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory
from kadmin.inventory.columns import CLUSTER, PARTITIONS
from kadmin.inventory.text_tables import CSV_CELLS, read_csv
from kadmin.plan.model import LoadSpec, PlanHeader, Racks
from kadmin.planner import local, propose, spark
from kadmin.planner.load.columns import PARTITION_LOAD
from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import spark_session
from kadmin.planner.spark_tables import is_legible, read_frame
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Proposal

pytestmark = pytest.mark.xdist_group("engines")
TABLES = ("parquet", "csv", "jsonl")
TAKEN_AT = "2026-01-01T00:00:00Z"
DRAIN = request(drain=(2,), racks=Racks.RELAXED)


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[SparkSession]:
    """One JVM for all tests of this file; the planner uses an active session and does not stop it."""
    with spark_session(Options(master="local[2]", conf={"spark.driver.memory": "512m"})) as running:
        yield running


def fleet() -> Inventory:
    small = replace(cluster(SIZES["S"], 2), cluster_id="south-id")
    tiny = ClusterInventory(
        None, (BrokerRow(1), BrokerRow(2)), (PartitionRow("a", 0, (2,)), PartitionRow("a", 1, (2,)))
    )
    return Inventory(
        TAKEN_AT,
        {
            "north": cluster(SIZES["S"], 1),
            "south": small,
            "tiny": tiny,
            "void": replace(tiny, brokers=(), partitions=()),
        },
    )


def plans(proposals: Mapping[str, Proposal]) -> dict[str, str]:
    return {name: dump_json(proposal.plan) for name, proposal in proposals.items()}


def test_a_notebook_plans_on_its_own_session(session: SparkSession, tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path / "inventory", "parquet")
    file = tmp_path / "request.yaml"
    file.write_text("kind: RebalanceRequest\nspec: {brokers: {drain: [2]}, racks: relaxed}\n")
    with_session = propose(file, str(tmp_path / "inventory"), session=session)
    assert plans(with_session) == plans(propose(DRAIN, tmp_path / "inventory"))
    assert with_session[""].figures["moves"] > 0
    assert session.range(3).count() == 3, "it was not stopped"
    with pytest.raises(InvalidInputError, match=r"Cannot read .*none\.yaml"):
        propose(tmp_path / "none.yaml", tmp_path / "inventory")
    file.write_text("kind: Policy\nspec: {}\n")
    with pytest.raises(InvalidInputError, match="is not a RebalanceRequest"):
        propose(file, tmp_path / "inventory")


@pytest.mark.parametrize("table", TABLES)
def test_both_engines_give_the_same_plan_byte_for_byte(table: str, tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path, table)
    one, other = (engine.propose(DRAIN, tmp_path, Options()) for engine in (local, spark))
    assert plans(one) == plans(other)
    assert {name: each.figures for name, each in one.items()} == {name: each.figures for name, each in other.items()}
    assert one[SINGLE_CLUSTER].plan.reassignments


@pytest.mark.parametrize("table", TABLES)
def test_a_fleet_gets_a_plan_for_each_cluster(table: str, tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, table)
    one, other = (engine.propose(DRAIN, tmp_path, Options()) for engine in (local, spark))
    assert list(one) == list(other) == ["north", "south", "tiny", "void"]
    assert plans(one) == plans(other)
    assert [each.plan.header.cluster_id for each in other.values()] == [
        "generated-cluster-0001",
        "south-id",
        None,
        None,
    ]
    assert [target.replicas for target in other["tiny"].plan.reassignments] == [(1,), (1,)]
    alone = replace(fleet(), clusters={SINGLE_CLUSTER: fleet().clusters["south"]})
    write_inventory(alone, tmp_path, table)
    assert plans(spark.propose(DRAIN, tmp_path, Options()))[SINGLE_CLUSTER] == plans(other)["south"]
    figures = {"clusters": [dict(each.figures) for each in other.values()]}
    assert validate_value(json.loads(json.dumps(figures)), "answers/figures") == []


def test_both_engines_give_the_same_plan_and_figures_of_load(tmp_path: Path) -> None:
    """Rule: the rows of a history reach each cluster's task, in any files, and bad ones are reported alike."""
    write_inventory(fleet(), tmp_path / "inventory")
    keys = [
        (name, row.topic, row.partition) for name in ("north", "south") for row in fleet().clusters[name].partitions
    ]
    hours = [
        {**row(topic, number, week(len(name) + number % 7, None, number % 5)), "cluster": name}
        for name, topic, number in keys
    ]
    found = table([*hours[::-1], {**hours[0], "cluster": "west"}], cluster=pa.string())
    folder = tmp_path / "load" / PARTITION_LOAD
    folder.mkdir(parents=True)
    for part in range(2):
        parquet.write_table(found.slice(part * 700, 700 if part == 0 else None), folder / f"part-{part}.parquet")
    asked = request(racks=Racks.RELAXED, load=LoadSpec(str(tmp_path / "load")))
    one, other = (engine.propose(asked, tmp_path / "inventory", Options()) for engine in (local, spark))
    assert plans(one) == plans(other)
    assert [(each.figures, each.load_hours) for each in one.values()] == [
        (each.figures, each.load_hours) for each in other.values()
    ]
    assert ["load" in each.figures for each in other.values()] == [True, True, False, False]
    parquet.write_table(found.slice(0, 1), folder / "part-2.parquet")
    (kind, message, cause), told = both_errors(tmp_path / "inventory", asked)
    assert (kind, message, cause) == told
    assert (message, kind) == (f"{folder} has bad rows.", InvalidInputError)
    assert str(cause) == f"topic, partition, start: 1 row with a duplicate key (first: row {len(found) + 1})"


def both_errors(folder: Path, requested: RebalanceRequest = DRAIN) -> list[tuple[type[KadminError], str, str | None]]:
    errors = []
    for engine in (local, spark):
        with pytest.raises(KadminError) as caught:
            engine.propose(requested, folder, Options())
        errors.append((type(caught.value), caught.value.message, caught.value.cause))
    return errors


BAD_TABLES = [
    ("partitions.csv", "topic,partition,replicas\na,0,1\na,x,1\n", "partition: 1 row not an integer (first: row 2)"),
    ("partitions.csv", "topic,partition,replicas\na,0,1;x\n", "replicas: 1 row not a list of integers (first: row 1)"),
    ("partitions.csv", "topic,partition,replicas\n,0,1\na,1,1\n", "topic: 1 row null (first: row 1)"),
    ("partitions.csv", "topic,partition,replicas,bytes_in_per_s\na,0,1,NaN\n", "bytes_in_per_s: 1 row NaN or infinite"),
    ("partitions.csv", "topic,partition,replicas,size_bytes\na,0,1,-4\n", "size_bytes: 1 row negative (first: row 1)"),
    ("partitions.csv", "replicas,topic,partition\n1,a,0\n2,a,0\n", "topic, partition: 1 row with a duplicate key"),
    ("brokers.csv", "broker_id,alive\n1,true\n2,maybe\n", "alive: 1 row not true or false (first: row 2)"),
    ("partitions.jsonl", '{"topic": 5, "partition": 0, "replicas": [1]}\n', "topic: 1 row not a string (first: row 1)"),
    ("partitions.jsonl", '{"topic": "a", "partition": 1.0, "replicas": [1]}\n', "partition: 1 row not an integer"),
    ("partitions.jsonl", '{"topic": "a", "partition": 0, "replicas": [1, 1]}\n', "replicas: 1 row with a broker twice"),
    ("partitions.jsonl", '{"topic": "a", "partition": 0}\n', None),
    ("partitions.jsonl", '{"topic": "a", "partition": 0, "replicas": [1], "size": 3}\n', None),
    ("partitions.jsonl", '{"topic": "a"\n', None),
]


@pytest.mark.parametrize(("name", "text", "complaint"), BAD_TABLES)
def test_bad_rows_are_reported_alike(name: str, text: str, complaint: str | None, tmp_path: Path) -> None:
    """Rule: both engines report null, negative, duplicate, mixed and NaN values with column and count."""
    write_inventory(inventory(SIZES["S"], 1), tmp_path, name.rpartition(".")[2])
    (tmp_path / name).write_text(text)
    one, other = both_errors(tmp_path)
    assert one == other
    assert one[0] is InvalidInputError
    assert complaint is None or f"{name}: {complaint}" in str(one[2])


CELLS = [
    "0",
    "007",
    "-0",
    "-1",
    "+5",
    " 5",
    "5 ",
    "- 1",
    "5.0",
    ".5",
    "5.",
    "1e3",
    "1E-05",
    "1e999",
    "0x10",
    "1_0",
    "5L",
]
CELLS += [
    "1d",
    "1f",
    "nan",
    "NaN",
    "-nan",
    "inf",
    "Infinity",
    "null",
    "NULL",
    "NA",
    "true",
    "TRUE",
    " true",
    "t",
    "yes",
]
CELLS += ["1", ";", "1;", ";1", "1;;2", "1;2", "1; 2", "1;+2", "99999999999", "9" * 19, "9" * 20, "9" * 400, "\u0665"]
CELLS += ["5\n", "5\u00a0", "fal\u017fe", "1,5", "'5'", "5;x"]


def test_the_same_cells_are_legible_to_both_engines(session: SparkSession) -> None:
    """Rule: both engines accept the same cells, whatever the engine's own reader would accept."""
    rows = session.createDataFrame([(cell,) for cell in CELLS], "cell string")
    told = rows.select(*(is_legible(rows.cell, kind) for kind in CSV_CELLS)).collect()
    assert [list(row) for row in told] == [
        [CSV_CELLS[kind].fullmatch(cell) is not None for kind in CSV_CELLS] for cell in CELLS
    ]


def test_every_legible_cell_of_csv_has_the_same_value(session: SparkSession, tmp_path: Path) -> None:
    rows = ["007,-0,1;2,-1,;,9223372036854775807,1e3,12.25", "a,8,-0;3,,3,0,1E-05,-0", '"b","9","1",1,"",,"",9e9']
    rows += ["", "   ", "null,10,4,0,1;0,5,1e400,nan"]
    (tmp_path / "partitions.csv").write_text("\n".join([",".join(each.name for each in PARTITIONS.columns), *rows]))
    told = [tuple(row) for row in read_frame(session, tmp_path, PARTITIONS).drop(CLUSTER.name).collect()]
    careful = read_csv((tmp_path / "partitions.csv").read_text(), PARTITIONS, "partitions.csv").values()
    alike = [
        tuple(list(cell) if isinstance(cell, tuple) else cell for cell in row) for row in zip(*careful, strict=True)
    ]
    assert list(map(repr, told)) == list(map(repr, alike))


def test_many_bad_cells_of_one_table_are_reported_alike(tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path, "csv")
    names = [each.name for each in PARTITIONS.columns]
    bad = [cell for cell in CELLS if "," not in cell and "\n" not in cell]
    rows = [["a", str(at), "1", *([cell] * (len(names) - 3))] for at, cell in enumerate(bad)]
    rows += [["a", cell, cell, "", "", "", "", ""] for cell in bad]
    (tmp_path / "partitions.csv").write_text("\n".join(map(",".join, [names, *rows])) + "\n", encoding="utf-8")
    (tmp_path / "brokers.csv").write_text("broker_id,alive\n1, true\n+2,yes\n 3,true\n")
    one, other = both_errors(tmp_path)
    assert one == other
    for complaint in ("brokers.csv: broker_id: 2 rows not an integer", "partitions.csv: size_bytes: "):
        assert complaint in str(one[2])


def test_bad_rows_of_parquet_are_reported_alike(tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    path = tmp_path / "partitions.parquet"
    key: dict[str, list[object]] = {"topic": ["a", "a"], "partition": [0, 1], "replicas": [[1], [1]]}
    for columns, complaint in (
        ({**key, "partition": [0.0, 1.0]}, "partition: 2 rows not an integer"),
        ({**key, "partition": [2**40, 0]}, "partition: 1 row above 2147483647"),
        ({**key, "replicas": [["1"], ["1"]]}, "replicas: 2 rows not a list of integers"),
        ({**key, "topic": ["a", None], "replicas": [[1], None]}, "topic: 1 row null (first: row 2)"),
        ({**key, "partition": [0, 0]}, "topic, partition: 1 row with a duplicate key (first: row 2)"),
        ({**key, "size_bytes": pa.array([1, 2**63], pa.uint64())}, "size_bytes: 1 row above 9223372036854775807"),
        ({**key, "size_bytes": [-1, -1]}, "size_bytes: 2 rows negative (first: row 1)"),
        ({**key, "bytes_in_per_s": [math.nan, 1.0]}, "bytes_in_per_s: 1 row NaN or infinite (first: row 1)"),
    ):
        parquet.write_table(pa.table(columns), path)
        one, other = both_errors(tmp_path)
        assert one == other
        assert one[0] is InvalidInputError
        assert f"partitions.parquet: {complaint}" in str(one[2])


def test_a_broker_without_a_row_is_reported_alike(tmp_path: Path) -> None:
    """Rule: a replica on a broker without a row in the table of brokers is no bad row; that broker is dead."""
    write_inventory(inventory(SIZES["S"], 1), tmp_path, "csv")
    (tmp_path / "brokers.csv").write_text("broker_id\n1\n2\n")
    (tmp_path / "partitions.csv").write_text("topic,partition,replicas\na,0,1\na,1,1;77\na,2,1;78\na,3,1\n")
    notes = [
        engine.propose(request(), tmp_path, Options())[SINGLE_CLUSTER].figures["notes"] for engine in (local, spark)
    ]
    assert notes[0] == notes[1]
    assert "2 partitions with a replica on dead brokers (77, 78) stay as they are" in notes[0][0]


def test_parquet_of_wider_integers_and_fewer_columns_is_fine(tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    parquet.write_table(
        pa.table({"topic": ["a", "a"], "partition": [0, 1], "replicas": [[1], [1]]}), tmp_path / "partitions.parquet"
    )
    parquet.write_table(pa.table({"broker_id": pa.array([1, 2], pa.uint16())}), tmp_path / "brokers.parquet")
    one, other = (engine.propose(request(), tmp_path, Options()) for engine in (local, spark))
    assert plans(one) == plans(other)
    assert one[SINGLE_CLUSTER].figures["moves"] == 1


def test_quoted_names_and_empty_cells_are_read_alike(tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path, "csv")
    brokers = 'broker_id,rack\n1,"a ""left"", row 1"\n2,""\n3,b\n'
    (tmp_path / "brokers.csv").write_text(brokers)
    (tmp_path / "partitions.csv").write_text("topic,partition,replicas,isr\na,0,1;3,;\na,1,3;1,3\n")
    one, other = (engine.propose(request(racks=Racks.RELAXED), tmp_path, Options()) for engine in (local, spark))
    assert plans(one) == plans(other)


def test_errors_of_the_request_are_reported_alike(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, "parquet")
    for requested, kind, words in (
        (request(drain=(99,)), InvalidInputError, "broker 99"),
        (request(replication_factor={"*": 4}), InfeasibleError, "cluster north: RF 4 over 3 racks: topics topic-00000"),
        (request(racks=Racks.STRICT, drain=(1, 2)), InfeasibleError, "cluster tiny: RF 1 over 0 brokers: topics a"),
        (replace(request(), header=PlanHeader(cluster_id="other")), StalePlanError, "cluster other"),
        (request(leaders_only=True, drain=(1,)), InvalidInputError, "spec.brokers.drain"),
    ):
        one, other = both_errors(tmp_path, requested)
        assert one == other
        assert one[0] is kind
        assert words in one[1]


def test_a_broker_that_one_cluster_has_is_no_unknown_name(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, "parquet")
    found = spark.propose(request(drain=(14,), racks=Racks.RELAXED), tmp_path, Options())
    assert all(14 not in target.replicas for each in found.values() for target in each.plan.reassignments)


def test_the_local_engine_refuses_sparks_options(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--engine local does not use"):
        local.propose(request(), tmp_path, Options(master="local[1]"))


def test_two_worker_processes_give_the_same_bytes_and_no_jvm_is_left_behind(tmp_path: Path) -> None:
    """Rule: the same plan on one thread, on local-cluster[2,1,1024] and in-process; the next JVM starts anew."""
    code = """
import json, os, subprocess, sys
from pathlib import Path
from kadmin.documents import dump_json
from kadmin.plan.model import PlanHeader, RebalanceRequest
from kadmin.planner.proposal import Options
from kadmin.planner.spark import propose
for master in ("local[1]", "local-cluster[2,1,1024]"):
    options = Options(master, {"spark.driver.memory": "512m"})
    print(json.dumps(dump_json(propose(RebalanceRequest(PlanHeader()), Path(sys.argv[1]), options)[""].plan)))
    print("java" in subprocess.run(["ps", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout)
"""
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    workers = {"SPARK_WORKER_DIR": str(tmp_path / "workers")}
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **workers},
    )
    assert (done.returncode, done.stderr) == (0, "")
    one_thread, left_by_one, two_workers, left_by_two = done.stdout.splitlines()
    assert left_by_one == left_by_two == "False"
    assert one_thread == two_workers == json.dumps(plans(local.propose(request(), tmp_path, Options()))[SINGLE_CLUSTER])


def test_a_session_that_was_there_is_left_running(session: SparkSession, tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    spark.propose(request(), tmp_path, Options())
    assert session.range(3).count() == 3
