"""The planner's tables have the values of kadmin.inventory, and its errors."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from family import SIZES, cluster, inventory
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import parquet
from support.planner.small_clusters import request, tables_of

from kadmin.errors import InvalidInputError
from kadmin.inventory import (
    BrokerRow,
    ClusterInventory,
    Inventory,
    PartitionRow,
    read_inventory,
    write_inventory,
)
from kadmin.inventory.columns import PARTITIONS
from kadmin.inventory.header import read_header
from kadmin.inventory.text_tables import read_csv
from kadmin.planner import local
from kadmin.planner.cluster_arrays import rows_as_arrow
from kadmin.planner.inventory_tables import read_by_column, read_tables
from kadmin.planner.packed_rows import pack_batches, pack_tables, unpack
from kadmin.planner.proposal import Options

HEADER = "topic,partition,replicas,leader,size_bytes,bytes_in_per_s\n"
PLAIN = "orders,0,1;2;3,-1,635465148,12.25\npay-in,11,2,,,\n"
LEGIBLE = [
    "",
    "0",
    "007",
    "-1",
    "-0",
    '"5"',
    '""',
    "1.0",
    "1e3",
    "1E-05",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "9" * 400,
]
ILLEGIBLE = [
    "+5",
    "- 1",
    " 5",
    "5 ",
    ".5",
    "5.",
    "0x10",
    "1_0",
    "1;",
    "1;;2",
    "1;+2",
    "a",
    "true",
    "t",
    "5L",
    "1d",
]
ILLEGIBLE += [
    "9" * 20,
    '"a ""b"""',
    '"a,b"',
    '"a\nb"',
    '"5\n"',
    'a"b',
    "é",
    "\u0665",
    "5\u00a0",
    "null",
    "NULL",
    "NA",
]
cells = st.sampled_from([*LEGIBLE, *ILLEGIBLE, ";", "1;2", "99999999999", "9" * 19])


def fleet() -> Inventory:
    brokers = (
        BrokerRow(1, net_in_bytes_per_s=1.5),
        BrokerRow(2, "r", alive=False, capacity_bytes=7),
    )
    tiny = ClusterInventory(
        None,
        brokers,
        (PartitionRow("a", 0, (2,), 2, (), 5, 0.0, 2.5), PartitionRow("a", 1, (2, 1), -1, (1,))),
    )
    clusters = {
        "tiny": tiny,
        "north": cluster(SIZES["S"], 1),
        "void": replace(tiny, brokers=(), partitions=()),
    }
    return Inventory("2026-01-01T00:00:00Z", clusters)


@pytest.mark.parametrize("table", ["parquet", "csv", "jsonl"])
def test_each_cluster_has_the_rows_of_the_inventory(table: str, tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, table)
    found = read_tables(tmp_path, read_header(tmp_path))
    assert found == {
        name: tables_of(each) for name, each in read_inventory(tmp_path).clusters.items()
    }


def test_rows_packed_for_spark_are_the_same(tmp_path: Path) -> None:
    """Rule: packed cluster by cluster, or batch by batch of many clusters."""
    write_inventory(fleet(), tmp_path)
    partitions = {
        name: tables[1] for name, tables in read_tables(tmp_path, read_header(tmp_path)).items()
    }
    rows = read_by_column(tmp_path / "partitions.parquet", PARTITIONS.of_fleet())
    whole = pack_tables({(name, "partitions"): each for name, each in partitions.items()})
    by_batch = pa.Table.from_batches(pack_batches(rows.to_batches(max_chunksize=700), "partitions"))
    for cells in (whole.to_pylist(), by_batch.to_pylist()):
        for name, each in partitions.items():
            assert (
                unpack([cell["rows"] for cell in cells if cell["cluster"] == name], each.schema)
                == each
            )


def both(text: str) -> tuple[dict[str, list[object]] | None, dict[str, list[object]]]:
    careful = {
        name: list(values) for name, values in read_csv(text, PARTITIONS, "partitions.csv").items()
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "partitions.csv"
        path.write_text(text, encoding="utf-8")
        try:
            rows = read_by_column(path, PARTITIONS).to_pydict()
        except pa.ArrowInvalid:
            return None, careful
    lists = {
        name: [each if each is None else tuple(each) for each in rows[name]]
        for name in ("replicas", "isr")
    }
    return {name: {**rows, **lists}[name] for name in careful}, careful


@given(st.lists(st.tuples(cells, cells, cells, cells, cells, cells), min_size=1, max_size=3))
@example([("a", "0", "1", "", "", each) for each in LEGIBLE])
@example([("a", each, "1", "", "", "") for each in ("", "0", "007", "-1", "-0", '"5"', '""')])
@example([("a", "0", "1;2", "", "9" * 19, "")])
def test_odd_cells_are_read_alike_or_left_to_the_inventory_reader(
    rows: list[tuple[str, ...]],
) -> None:
    text = HEADER + PLAIN + "".join(",".join(row) + "\n" for row in rows)
    by_column, careful = both(text)
    assert by_column is None or repr(by_column) == repr(careful)


def test_plain_cells_are_read_by_column() -> None:
    by_column, careful = both(HEADER + PLAIN + "a,007,1;2,-0,,1E-05\n")
    assert by_column == careful
    assert careful["size_bytes"] == [635465148, None, None]


@pytest.mark.parametrize("odd", ILLEGIBLE)
def test_an_illegible_number_is_left_to_the_inventory_reader(odd: str) -> None:
    by_column, _ = both(HEADER + PLAIN + f"a,{odd},1,,,\n")
    assert by_column is None


BAD_TABLES = [
    (
        "partitions.csv",
        "topic,partition,replicas\na,0,1\na,x,1\n",
        "partition: 1 row not an integer (first: row 2)",
    ),
    (
        "partitions.csv",
        "topic,partition,replicas\na,0,1;x\n",
        "replicas: 1 row not a list of integers (first: row 1)",
    ),
    (
        "partitions.csv",
        "topic,partition,replicas\n,0,1\na,1,1\n",
        "topic: 1 row null (first: row 1)",
    ),
    (
        "partitions.csv",
        "topic,partition,replicas,bytes_in_per_s\na,0,1,NaN\n",
        "bytes_in_per_s: 1 row NaN or infinite",
    ),
    (
        "partitions.csv",
        "topic,partition,replicas,size_bytes\na,0,1,-4\n",
        "size_bytes: 1 row negative (first: row 1)",
    ),
    (
        "partitions.csv",
        "replicas,topic,partition\n1,a,0\n2,a,0\n",
        "topic, partition: 1 row with a duplicate key",
    ),
    (
        "brokers.csv",
        "broker_id,alive\n1,true\n2,maybe\n",
        "alive: 1 row not true or false (first: row 2)",
    ),
    (
        "partitions.jsonl",
        '{"topic": 5, "partition": 0, "replicas": [1]}\n',
        "topic: 1 row not a string (first: row 1)",
    ),
    (
        "partitions.jsonl",
        '{"topic": "a", "partition": 0, "replicas": [1, 1]}\n',
        "replicas: 1 row with a broker twice",
    ),
    ("partitions.csv", "topic,partition\na,0\n", None),
    ("partitions.csv", "topic,topic,partition,replicas\na,a,0,1\n", None),
    ("partitions.csv", "topic,partition,replicas,size\na,0,1,3\n", None),
    ("partitions.csv", "topic,partition,replicas\na,0\n", None),
    ("partitions.jsonl", "null\n", None),
]


@pytest.mark.parametrize(("name", "text", "complaint"), BAD_TABLES)
def test_bad_tables_are_refused_as_by_the_inventory(
    name: str, text: str, complaint: str | None, tmp_path: Path
) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path, name.rpartition(".")[2])
    (tmp_path / name).write_text(text)
    refused_alike(tmp_path, complaint and f"{name}: {complaint}")


KEY: dict[str, list[object]] = {"topic": ["a", "a"], "partition": [0, 1], "replicas": [[1], [1]]}
BAD_PARQUET = [
    ({"partition": [0.0, 1.0]}, "partition: 2 rows not an integer"),
    ({"partition": [2**40, 0]}, "partition: 1 row above 2147483647"),
    ({"replicas": [["1"], ["1"]]}, "replicas: 2 rows not a list of integers"),
    ({"topic": ["a", None], "replicas": [[1], None]}, "topic: 1 row null (first: row 2)"),
    ({"partition": [0, 0]}, "topic, partition: 1 row with a duplicate key (first: row 2)"),
    (
        {"size_bytes": pa.array([1, 2**63], pa.uint64())},
        "size_bytes: 1 row above 9223372036854775807",
    ),
    ({"size_bytes": [-1, -1]}, "size_bytes: 2 rows negative (first: row 1)"),
    ({"bytes_in_per_s": [math.nan, 1.0]}, "bytes_in_per_s: 1 row NaN or infinite (first: row 1)"),
]


@pytest.mark.parametrize(
    ("columns", "complaint"), BAD_PARQUET, ids=[complaint for _, complaint in BAD_PARQUET]
)
def test_bad_rows_of_parquet_are_refused_as_by_the_inventory(
    columns: dict[str, object], complaint: str, tmp_path: Path
) -> None:
    write_inventory(inventory(SIZES["S"], 1), tmp_path)
    parquet.write_table(pa.table({**KEY, **columns}), tmp_path / "partitions.parquet")
    refused_alike(tmp_path, f"partitions.parquet: {complaint}")


def test_a_fleets_bad_clusters_are_refused_as_by_the_inventory(tmp_path: Path) -> None:
    write_inventory(fleet(), tmp_path, "csv")
    table = tmp_path / "brokers.csv"
    whole = table.read_text()
    table.write_text(whole + "west,1" + "," * (whole.splitlines()[0].count(",") - 1) + "\n")
    refused_alike(tmp_path, None)
    table.write_text(whole.replace("tiny,1,", ",1,"))
    refused_alike(tmp_path, "brokers.csv: cluster: 1 row null")


def refused_alike(folder: Path, complaint: str | None) -> None:
    with pytest.raises(InvalidInputError) as careful:
        read_inventory(folder)
    with pytest.raises(InvalidInputError) as planned:
        local.propose(request(), folder, Options())
    assert planned.value.lines() == careful.value.lines()
    assert complaint is None or complaint in str(careful.value.cause)


def test_parquet_of_wider_integers_and_fewer_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "partitions.parquet"
    parquet.write_table(pa.table({**KEY, "partition": pa.array([0, 1], pa.uint16())}), path)
    rows = tuple(PartitionRow("a", each, (1,)) for each in range(2))
    assert read_by_column(path, PARTITIONS) == rows_as_arrow(ClusterInventory(None, (), rows))[1]
