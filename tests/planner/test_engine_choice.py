"""`--engine auto`: where a proposal is planned, and how that is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError
from kadmin.inventory import (
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    write_inventory,
)
from kadmin.plan.model import Pin, PlanHeader, RebalanceRequest
from kadmin.planner import engine_choice
from kadmin.planner.engine_choice import SUBMITTED, Engine, choose_engine
from kadmin.planner.proposal import Options

if TYPE_CHECKING:
    from pathlib import Path

NOTHING = RebalanceRequest(PlanHeader())
CLUSTER = ClusterInventory(
    "c",
    (BrokerRow(1), BrokerRow(2)),
    tuple(PartitionRow("orders", number, (1,)) for number in range(3)),
)


def inventory(folder: Path, *names: str, table: str = "csv") -> Path:
    write_inventory(Inventory("2026-01-01T00:00:00Z", dict.fromkeys(names, CLUSTER)), folder, table)
    return folder


@pytest.mark.parametrize("table", ["csv", "jsonl", "parquet"])
def test_one_cluster_is_planned_in_this_process(tmp_path: Path, table: str) -> None:
    for names in (("",), ("north",)):
        found = choose_engine(
            NOTHING, inventory(tmp_path / f"i{names[0]}", *names, table=table), Options()
        )
        assert found == (Engine.LOCAL, "planning in this process: one cluster, 3 partitions")


@pytest.mark.parametrize("table", ["csv", "jsonl", "parquet"])
def test_a_very_large_cluster_is_planned_on_spark(
    tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = inventory(tmp_path / "inventory", "", table=table)
    monkeypatch.setattr(engine_choice, "MOST_LOCAL_PARTITIONS", 2)
    found = choose_engine(NOTHING, folder, Options())
    assert found == (Engine.SPARK, "planning on Spark: one cluster, 3 partitions")


def test_a_fleet_is_planned_on_spark(tmp_path: Path) -> None:
    folder = inventory(tmp_path / "fleet", "north", "south")
    found = choose_engine(NOTHING, folder, Options())
    assert found == (Engine.SPARK, "planning on Spark: a fleet of 2 clusters")


@pytest.mark.parametrize(
    "options",
    [Options(master="local[1]"), Options(remote="sc://h"), Options(conf={"spark.a": "1"})],
)
def test_spark_where_its_options_ask_for_it_without_a_word(
    tmp_path: Path, options: Options
) -> None:
    assert choose_engine(NOTHING, tmp_path / "not read", options) == (Engine.SPARK, None)


def test_spark_under_spark_submit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SUBMITTED, "1")
    assert choose_engine(NOTHING, tmp_path / "not read", Options()) == (Engine.SPARK, None)


def test_refusals_come_before_the_choice(tmp_path: Path) -> None:
    twice = (Pin(TopicPartition("orders", 0), (1,)),) * 2
    with pytest.raises(InvalidInputError, match="pinned 2 times"):
        choose_engine(RebalanceRequest(PlanHeader(), pins=twice), tmp_path, Options())
    with pytest.raises(InvalidInputError, match=r"inventory\.json"):
        choose_engine(NOTHING, tmp_path, Options())


def test_a_table_that_cannot_be_read_is_left_to_the_engine(tmp_path: Path) -> None:
    folder = inventory(tmp_path / "inventory", "", table="parquet")
    (folder / "partitions.parquet").write_bytes(b"no table")
    engine, _ = choose_engine(NOTHING, folder, Options())
    assert engine is Engine.LOCAL


def test_the_command_says_where_it_plans_in_one_line(tmp_path: Path) -> None:
    inventory(tmp_path / "inventory", "")
    (tmp_path / "request.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    arguments = ("propose", "rebalance", "request.yaml", "--inventory", "inventory", "--out")
    chosen = command(*arguments, "auto.json", cwd=tmp_path)
    assert (chosen.status, chosen.err) == (
        0,
        "planning in this process: one cluster, 3 partitions\n",
    )
    asked = command(*arguments, "local.json", "--engine", "local", cwd=tmp_path)
    assert (asked.status, asked.err) == (0, "")
    assert (tmp_path / "auto.json").read_bytes() == (tmp_path / "local.json").read_bytes()
