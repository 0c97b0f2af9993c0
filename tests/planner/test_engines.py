"""Both engines make the same plan, byte for byte."""

from __future__ import annotations

import json
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
from support.planner.small_disks import with_disks

from kadmin.documents import dump_json
from kadmin.errors import InfeasibleError, InvalidInputError, KadminError, StalePlanError
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    write_inventory,
)
from kadmin.plan.model import LoadSpec, PlanHeader, Racks
from kadmin.planner import local, propose, spark
from kadmin.planner.load.columns import PARTITION_LOAD
from kadmin.planner.proposal import Options
from kadmin.planner.spark_session import spark_session
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession

    from kadmin.plan.model import RebalanceRequest
    from kadmin.planner.proposal import Proposal

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("engines")]
TAKEN_AT = "2026-01-01T00:00:00Z"
DRAIN = request(drain=(2,), racks=Racks.RELAXED)


@pytest.fixture(scope="module", autouse=True)
def session() -> Iterator[SparkSession]:
    """One JVM for all tests of this file; the planner uses an active session and does not stop
    it.
    """
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


def test_both_engines_give_the_same_plan_byte_for_byte(tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    one, other = (engine.propose(DRAIN, tmp_path, Options()) for engine in (local, spark))
    assert plans(one) == plans(other)
    assert {name: each.figures for name, each in one.items()} == {
        name: each.figures for name, each in other.items()
    }
    assert one[SINGLE_CLUSTER].plan.reassignments


def test_both_engines_give_the_same_disks(tmp_path: Path) -> None:
    """Rule: the tables of disks reach each cluster's task; a cluster may have none."""
    whole = fleet()
    clusters = {
        **whole.clusters,
        "north": with_disks(whole.clusters["north"], 1),
        "tiny": with_disks(whole.clusters["tiny"], 2),
    }
    for form in ("parquet", "csv"):
        write_inventory(replace(whole, clusters=clusters), tmp_path / form, form)
        one, other = (
            engine.propose(DRAIN, tmp_path / form, Options()) for engine in (local, spark)
        )
        assert plans(one) == plans(other)
        assert [each.figures for each in one.values()] == [each.figures for each in other.values()]
        assert ["disks" in each.figures for each in other.values()] == [True, False, True, False]
        named = [target.log_dirs for target in other["north"].plan.reassignments]
        assert any(each is not None for each in named)
    figures = {"clusters": [dict(each.figures) for each in other.values()]}
    assert validate_value(json.loads(json.dumps(figures)), "answers/figures") == []


def test_a_fleet_gets_a_plan_for_each_cluster(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path)
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
    write_inventory(alone, tmp_path)
    assert plans(spark.propose(DRAIN, tmp_path, Options()))[SINGLE_CLUSTER] == plans(other)["south"]
    figures = {"clusters": [dict(each.figures) for each in other.values()]}
    assert validate_value(json.loads(json.dumps(figures)), "answers/figures") == []


def test_both_engines_give_the_same_plan_and_figures_of_load(tmp_path: Path) -> None:
    """Rule: the rows of a history reach each cluster's task, in any files, also without `weeks`,
    and bad ones are reported alike.
    """
    write_inventory(fleet(), tmp_path / "inventory")
    keys = [
        (name, row.topic, row.partition)
        for name in ("north", "south")
        for row in fleet().clusters[name].partitions
    ]
    hours = [
        {**row(topic, number, week(len(name) + number % 7, None, number % 5)), "cluster": name}
        for name, topic, number in keys
    ]
    rows = [*hours[::-1], {**hours[0], "cluster": "west"}]
    found = table(rows, cluster=pa.string()).drop_columns(["weeks"])
    folder = tmp_path / "load" / PARTITION_LOAD
    folder.mkdir(parents=True)
    for part in range(2):
        parquet.write_table(
            found.slice(part * 700, 700 if part == 0 else None), folder / f"part-{part}.parquet"
        )
    asked = request(racks=Racks.RELAXED, load=LoadSpec(str(tmp_path / "load")))
    one, other = (
        engine.propose(asked, tmp_path / "inventory", Options()) for engine in (local, spark)
    )
    assert plans(one) == plans(other)
    assert [(each.figures, each.load_hours) for each in one.values()] == [
        (each.figures, each.load_hours) for each in other.values()
    ]
    assert ["load" in each.figures for each in other.values()] == [True, True, False, False]
    parquet.write_table(found.slice(0, 1), folder / "part-2.parquet")
    (kind, message, cause), told = both_errors(tmp_path / "inventory", asked)
    assert (kind, message, cause) == told
    assert (message, kind) == (f"{folder} has bad rows.", InvalidInputError)
    assert (
        str(cause)
        == f"topic, partition, start: 1 row with a duplicate key (first: row {len(found) + 1})"
    )


def both_errors(
    folder: Path, requested: RebalanceRequest = DRAIN
) -> list[tuple[type[KadminError], str, str | None]]:
    errors = []
    for engine in (local, spark):
        with pytest.raises(KadminError) as caught:
            engine.propose(requested, folder, Options())
        errors.append((type(caught.value), caught.value.message, caught.value.cause))
    return errors


def test_bad_rows_are_reported_alike(tmp_path: Path) -> None:
    """Rule: those that a cluster's task finds, too."""
    write_inventory(fleet(), tmp_path, "csv")
    table = tmp_path / "partitions.csv"
    table.write_text(table.read_text().replace("tiny,a,1,2", "tiny,a,0,2"))
    one, other = both_errors(tmp_path)
    assert one == other
    assert "partitions.csv: cluster, topic, partition: 1 row with a duplicate key" in str(one[2])


def test_errors_of_the_request_are_reported_alike(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, "parquet")
    for requested, kind, words in (
        (request(drain=(99,)), InvalidInputError, "broker 99"),
        (
            request(replication_factor={"*": 4}),
            InfeasibleError,
            "cluster north: RF 4 over 3 racks: topics topic-00000",
        ),
        (
            request(racks=Racks.STRICT, drain=(1, 2)),
            InfeasibleError,
            "cluster tiny: RF 1 over 0 brokers: topics a",
        ),
        (
            replace(request(), header=PlanHeader(cluster_id="other")),
            StalePlanError,
            "cluster other",
        ),
        (request(leaders_only=True, drain=(1,)), InvalidInputError, "spec.brokers.drain"),
    ):
        one, other = both_errors(tmp_path, requested)
        assert one == other
        assert one[0] is kind
        assert words in one[1]


def test_a_broker_that_one_cluster_has_is_no_unknown_name(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, "parquet")
    found = spark.propose(request(drain=(14,), racks=Racks.RELAXED), tmp_path, Options())
    assert all(
        14 not in target.replicas for each in found.values() for target in each.plan.reassignments
    )


@pytest.mark.matrix
def test_two_worker_processes_give_the_same_bytes_and_no_jvm_is_left_behind(tmp_path: Path) -> None:
    """Rule: the same plan on one thread, on local-cluster[2,1,1024] and in-process; the next JVM
    starts anew.
    """
    code = """
import json, os, subprocess, sys
from pathlib import Path
from kadmin.documents import dump_json
from kadmin.plan.model import PlanHeader, RebalanceRequest
from kadmin.planner.proposal import Options
from kadmin.planner.spark import propose
for master in ("local[1]", "local-cluster[2,1,1024]"):
    options = Options(master, {"spark.driver.memory": "512m"})
    found = propose(RebalanceRequest(PlanHeader()), Path(sys.argv[1]), options)
    print(json.dumps(dump_json(found[""].plan)))
    children = ["ps", "--ppid", str(os.getpid())]
    print("java" in subprocess.run(children, capture_output=True, text=True).stdout)
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
    assert (
        one_thread
        == two_workers
        == json.dumps(plans(local.propose(request(), tmp_path, Options()))[SINGLE_CLUSTER])
    )


def test_a_session_that_was_there_is_left_running(session: SparkSession, tmp_path: Path) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    spark.propose(request(), tmp_path, Options())
    assert session.range(3).count() == 3
