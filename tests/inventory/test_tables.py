from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.errors import InvalidInputError, NotCompletedError, UsageError
from kadmin.inventory import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    KafkaFacts,
    PartitionRow,
    read_inventory,
    write_inventory,
)

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("parquet", "csv", "jsonl")
TAKEN_AT = "2026-11-21T08:30:00Z"
ids = st.integers(0, 2**31 - 1)
longs = st.none() | st.integers(0, 2**63 - 1)
rates = st.none() | st.floats(0, 1e15, allow_nan=False)
racks = st.none() | st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1, max_size=8
)
topics = st.from_regex(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]{0,20}", fullmatch=True)
id_lists = st.lists(ids, unique=True, max_size=4).map(tuple)
broker_rows = st.builds(
    BrokerRow, ids, racks, st.none() | st.booleans(), longs, rates, rates, rates
)
partition_rows = st.builds(
    PartitionRow,
    topics,
    ids,
    id_lists.filter(bool),
    st.none() | st.integers(-1, 9),
    st.none() | id_lists,
    longs,
    rates,
    rates,
)
paths = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1, max_size=8)
disk_rows = st.builds(Disk, ids, paths, longs, longs, st.sampled_from(DiskState))
replica_rows = st.builds(DiskReplica, st.builds(TopicPartition, topics, ids), ids, paths, longs)
cluster_inventories = st.builds(
    ClusterInventory,
    st.none() | st.just("kHD57VOWjTBKdUaz6n7K6n"),
    st.lists(broker_rows, max_size=5, unique_by=lambda row: row.broker_id).map(tuple),
    st.lists(partition_rows, max_size=5, unique_by=lambda row: (row.topic, row.partition)).map(
        tuple
    ),
    st.just(KafkaFacts()),
    st.lists(disk_rows, max_size=5, unique_by=lambda row: (row.broker_id, row.path)).map(tuple),
    st.lists(replica_rows, max_size=5, unique_by=lambda row: (row.partition, row.broker_id)).map(
        tuple
    ),
)
inventories = st.builds(
    Inventory,
    st.just(TAKEN_AT),
    cluster_inventories.map(lambda one: {SINGLE_CLUSTER: one})
    | st.dictionaries(
        st.sampled_from(["north", "south.1", "west-2"]), cluster_inventories, min_size=1
    ),
)
SMALL = Inventory(
    TAKEN_AT,
    {
        SINGLE_CLUSTER: ClusterInventory(
            "kHD57VOWjTBKdUaz6n7K6n",
            (BrokerRow(1, "r1"), BrokerRow(2, "r2")),
            (
                PartitionRow("orders", 0, (1, 2), 1, (1, 2), 10, 1.5, 0.0),
                PartitionRow("orders", 1, (2, 1)),
            ),
        )
    },
)


def ordered(inventory: Inventory) -> Inventory:
    clusters = {
        name: replace(
            each,
            brokers=tuple(sorted(each.brokers, key=lambda row: row.broker_id)),
            partitions=tuple(sorted(each.partitions, key=lambda row: (row.topic, row.partition))),
            disks=tuple(sorted(each.disks, key=lambda row: (row.broker_id, row.path))),
            replicas=tuple(sorted(each.replicas, key=lambda row: (row.partition, row.broker_id))),
        )
        for name, each in inventory.clusters.items()
    }
    return replace(inventory, clusters=clusters)


@pytest.mark.parametrize("table", TABLES)
def test_what_is_written_is_read_again(
    table: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    @given(inventories)
    def round_trip(inventory: Inventory) -> None:
        """Rule: reading what was written gives the same rows, sorted, whatever the format."""
        folder = tmp_path_factory.mktemp("inventory")
        write_inventory(inventory, folder, table)
        assert read_inventory(folder) == ordered(inventory)

    round_trip()


@pytest.mark.parametrize("table", TABLES)
def test_the_same_rows_in_any_order_give_the_same_bytes(table: str, tmp_path: Path) -> None:
    one = SMALL.single()
    turned = replace(one, brokers=one.brokers[::-1], partitions=one.partitions[::-1])
    for name, each in (("a", SMALL), ("b", Inventory(TAKEN_AT, {SINGLE_CLUSTER: turned}))):
        write_inventory(each, tmp_path / name, table)
    written = [
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("a", "b")
    ]
    assert written[0] == written[1]
    assert sorted(written[0]) == sorted(
        [f"brokers.{table}", "inventory.json", f"partitions.{table}"]
    )


DISKS = replace(
    SMALL.single(),
    disks=(
        Disk(1, "/data/a", 100, 40),
        Disk(1, "/data/b", state=DiskState.FAILED),
        Disk(2, "/data/a", 100, 70, DiskState.CORDONED),
    ),
    replicas=(
        DiskReplica(TopicPartition("orders", 0), 1, "/data/a", 10),
        DiskReplica(TopicPartition("orders", 0), 2, "/data/a", None),
    ),
)


def test_disks_and_replicas_have_tables_of_their_own(tmp_path: Path) -> None:
    write_inventory(replace(SMALL, clusters={SINGLE_CLUSTER: DISKS}), tmp_path, "csv")
    assert (tmp_path / "disks.csv").read_text() == (
        "broker_id,path,total_bytes,usable_bytes,state\n"
        "1,/data/a,100,40,online\n"
        "1,/data/b,,,failed\n"
        "2,/data/a,100,70,cordoned\n"
    )
    assert (tmp_path / "replicas.csv").read_text() == (
        "topic,partition,broker_id,path,size_bytes\norders,0,1,/data/a,10\norders,0,2,/data/a,\n"
    )


@pytest.mark.parametrize("table", TABLES)
def test_disks_of_an_earlier_snapshot_are_removed_where_none_are_known(
    table: str, tmp_path: Path
) -> None:
    for other in TABLES:
        write_inventory(replace(SMALL, clusters={SINGLE_CLUSTER: DISKS}), tmp_path, other)
        write_inventory(SMALL, tmp_path, table)
        assert read_inventory(tmp_path) == SMALL
        assert [path for path in tmp_path.iterdir() if path.stem in {"disks", "replicas"}] == []


@pytest.mark.parametrize(
    ("file", "text", "cause"),
    [
        ("disks.csv", "1,/a,,,gone", "disks.csv: state: 1 row none of online, failed, cordoned"),
        ("disks.csv", "1,,,,online", "disks.csv: path: 1 row null"),
        ("disks.csv", "1,/a,,,online\n1,/a,,,failed", "disks.csv: broker_id, path: 1 row with a"),
        ("replicas.csv", "a b,0,1,/a,", "replicas.csv: topic: 1 row not a Kafka topic name"),
        ("replicas.csv", "a,0,1,/a,\na,0,1,/b,", "topic, partition, broker_id: 1 row with a"),
    ],
)
def test_bad_rows_of_disks_are_named(file: str, text: str, cause: str, tmp_path: Path) -> None:
    write_inventory(replace(SMALL, clusters={SINGLE_CLUSTER: DISKS}), tmp_path, "csv")
    header = (tmp_path / file).read_text().splitlines()[0]
    (tmp_path / file).write_text(f"{header}\n{text}\n")
    with pytest.raises(InvalidInputError) as error:
        read_inventory(tmp_path)
    assert error.value.cause is not None
    assert cause in error.value.cause


def test_what_brokers_can_carry_is_written_only_where_it_is_known(tmp_path: Path) -> None:
    """Rule: versions of kadmin that do not know these columns read every snapshot."""
    write_inventory(SMALL, tmp_path, "csv")
    assert (tmp_path / "brokers.csv").read_text().splitlines()[
        0
    ] == "broker_id,rack,alive,capacity_bytes"
    one = SMALL.single()
    able = replace(
        one, brokers=(replace(one.brokers[0], net_out_bytes_per_s=1.25e8), *one.brokers[1:])
    )
    write_inventory(replace(SMALL, clusters={SINGLE_CLUSTER: able}), tmp_path, "csv")
    lines = [
        "broker_id,rack,alive,capacity_bytes,net_out_bytes_per_s",
        "1,r1,,,125000000.0",
        "2,r2,,,",
    ]
    assert (tmp_path / "brokers.csv").read_text().splitlines() == lines


def test_a_table_of_another_format_is_removed(tmp_path: Path) -> None:
    for table in TABLES:
        write_inventory(SMALL, tmp_path, table)
        assert read_inventory(tmp_path) == SMALL
        assert len(list(tmp_path.iterdir())) == 3


def write_raw(folder: Path, table: str, name: str, columns: dict[str, list[Any]]) -> None:
    """Write columns as they are, right or wrong, in place of one table."""
    write_inventory(SMALL, folder, table)
    path = folder / f"{name}.{table}"
    if table == "parquet":
        parquet.write_table(pa.table(columns), path)
    elif table == "jsonl":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        cells = [
            ",".join(columns),
            *(",".join(map(cell, row)) for row in zip(*columns.values(), strict=True)),
        ]
        path.write_text("\n".join(cells) + "\n")


def cell(value: object) -> str:
    if isinstance(value, list):
        return ";".join(map(cell, value))
    return "" if value is None else str(value)


NAN = float("nan")
WHOLE: dict[str, list[Any]] = {
    "topic": ["a", "b", "c"],
    "partition": [0, 0, 0],
    "replicas": [[1], [2], [1]],
}
BAD_ROWS = [
    ({"topic": ["a", None, "c"]}, "topic: 1 row null (first: row 2)"),
    ({"partition": [None, 0, None]}, "partition: 2 rows null (first: row 1)"),
    ({"partition": [0, -1, -7]}, "partition: 2 rows negative (first: row 2)"),
    ({"partition": [0, 0, 2**31]}, "partition: 1 row above 2147483647 (first: row 3)"),
    ({"topic": ["a", "a", "a"]}, "topic, partition: 2 rows with a duplicate key (first: row 2)"),
    ({"topic": ["a", "..", "c/d"]}, "topic: 2 rows not a Kafka topic name (first: row 2)"),
    ({"replicas": [[1], None, [1]]}, "replicas: 1 row null (first: row 2)"),
    ({"replicas": [[1], [1, 2, 1], [1]]}, "replicas: 1 row with a broker twice (first: row 2)"),
    ({"replicas": [[1], [-1], [1]]}, "replicas: 1 row with a negative broker id (first: row 2)"),
    ({"size_bytes": [1, -5, -6]}, "size_bytes: 2 rows negative (first: row 2)"),
    ({"leader": [1, -1, -2]}, "leader: 1 row below -1 (first: row 3)"),
    ({"bytes_in_per_s": [0.5, NAN, 1.0]}, "bytes_in_per_s: 1 row NaN or infinite (first: row 2)"),
    ({"bytes_out_per_s": [0.5, -1.0, 1.0]}, "bytes_out_per_s: 1 row negative (first: row 2)"),
]


BAD_CELLS = [
    ("csv", {"partition": [0, "x", "1.0"]}, "partition: 2 rows not an integer (first: row 2)"),
    ("csv", {"size_bytes": [0, "1e3", 2]}, "size_bytes: 1 row not a long integer (first: row 2)"),
    (
        "csv",
        {"bytes_in_per_s": [0.5, "fast", 1]},
        "bytes_in_per_s: 1 row not a number (first: row 2)",
    ),
    (
        "csv",
        {"replicas": [[1], ["1;x"], [2]]},
        "replicas: 1 row not a list of integers (first: row 2)",
    ),
    ("jsonl", {"partition": [0, "1", 1.0]}, "partition: 2 rows not an integer (first: row 2)"),
    ("jsonl", {"partition": [0, True, 1]}, "partition: 1 row not an integer (first: row 2)"),
    ("jsonl", {"topic": ["a", 7, "c"]}, "topic: 1 row not a string (first: row 2)"),
    (
        "jsonl",
        {"replicas": [[1], 2, ["3"]]},
        "replicas: 2 rows not a list of integers (first: row 2)",
    ),
    (
        "jsonl",
        {"replicas": [[1], [1, None], [3]]},
        "replicas: 1 row with null in the list (first: row 2)",
    ),
    ("jsonl", {"replicas": [[1], [], [3]]}, "replicas: 1 row empty (first: row 2)"),
    ("parquet", {"partition": ["0", "1", "2"]}, "partition: 3 rows not an integer (first: row 1)"),
    (
        "parquet",
        {"partition": [0.0, 1.0, None]},
        (
            "partition: 2 rows not an integer (first: row 1); partitions.parquet: partition: 1 "
            "row null (first: row 3)"
        ),
    ),
    (
        "parquet",
        {"replicas": ["1;2", "1", "2"]},
        "replicas: 3 rows not a list of integers (first: row 1)",
    ),
]


BAD_TABLES = [*((table, *case) for case in BAD_ROWS for table in TABLES), *BAD_CELLS]


@pytest.mark.parametrize(
    ("table", "columns", "complaint"),
    BAD_TABLES,
    ids=[f"{case[0]} {case[2]}" for case in BAD_TABLES],
)
def test_bad_rows_are_named_by_column_and_count(
    table: str, columns: dict[str, list[Any]], complaint: str, tmp_path: Path
) -> None:
    write_raw(tmp_path, table, "partitions", {**WHOLE, **columns})
    with pytest.raises(InvalidInputError) as caught:
        read_inventory(tmp_path)
    assert caught.value.cause == f"partitions.{table}: {complaint}"


def test_every_problem_of_both_tables_is_reported_at_once(tmp_path: Path) -> None:
    write_raw(tmp_path, "csv", "partitions", {**WHOLE, "partition": [0, -1, None]})
    (tmp_path / "brokers.csv").write_text("broker_id,alive\n1,true\n1,maybe\n")
    with pytest.raises(InvalidInputError) as caught:
        read_inventory(tmp_path)
    assert str(caught.value.cause).split("; ") == [
        "brokers.csv: alive: 1 row not true or false (first: row 2)",
        "brokers.csv: broker_id: 1 row with a duplicate key (first: row 2)",
        "partitions.csv: partition: 1 row null (first: row 3)",
        "partitions.csv: partition: 1 row negative (first: row 2)",
    ]


@pytest.mark.parametrize("table", TABLES)
def test_absent_optional_columns_are_fine(table: str, tmp_path: Path) -> None:
    write_raw(tmp_path, table, "partitions", WHOLE)
    assert read_inventory(tmp_path).single().partitions[0] == PartitionRow("a", 0, (1,))


@pytest.mark.parametrize("table", TABLES)
def test_unknown_columns_are_an_error(table: str, tmp_path: Path) -> None:
    write_raw(tmp_path, table, "partitions", {**WHOLE, "size": [1, 2, 3]})
    with pytest.raises(InvalidInputError, match=r"unknown columns: size\.") as caught:
        read_inventory(tmp_path)
    assert "size_bytes" in str(caught.value.cause)


@pytest.mark.parametrize("table", TABLES)
def test_a_required_column_must_be_there(table: str, tmp_path: Path) -> None:
    write_raw(tmp_path, table, "partitions", {"topic": ["a"], "partition": [0]})
    with pytest.raises(InvalidInputError, match="lacks the columns: replicas"):
        read_inventory(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("partitions.csv", b"", "is empty"),
        (
            "partitions.csv",
            b"topic,partition,replicas\na,0\n",
            "row 1 has 2 cells, the header has 3",
        ),
        ("partitions.csv", b"topic,topic\n", "names a column twice"),
        ("partitions.csv", b'topic,partition,replicas\n"a\n', "is not CSV"),
        ("partitions.csv", b"topic\xff\n", "is not UTF-8"),
        ("partitions.jsonl", b"{\n", "row 1 is not JSON"),
        ("partitions.jsonl", b'{"topic": "a", "topic": "b"}\n', "row 1 is not JSON"),
        ("partitions.jsonl", b"[1]\n", "row 1 is not a JSON object"),
        ("partitions.parquet", b"PAR1", "is not a Parquet table"),
    ],
)
def test_a_broken_file_is_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    write_inventory(SMALL, tmp_path, name.rpartition(".")[2])
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_inventory(tmp_path)
    assert name in caught.value.message


def test_a_table_that_is_there_twice_or_not_at_all_is_refused(tmp_path: Path) -> None:
    write_inventory(SMALL, tmp_path, "csv")
    (tmp_path / "partitions.jsonl").touch()
    with pytest.raises(InvalidInputError, match=r"twice: partitions\.csv, partitions\.jsonl"):
        read_inventory(tmp_path)
    for path in tmp_path.glob("partitions.*"):
        path.unlink()
    with pytest.raises(InvalidInputError, match="no table partitions"):
        read_inventory(tmp_path)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"kind": "ClusterInventory"}, "not valid"),
        ({"kind": "ClusterInventory", "taken_at": "yesterday"}, "not valid"),
        ({"kind": "TopicDeletion", "spec": {"topics": ["a"]}}, "not a ClusterInventory"),
        (
            {
                "kind": "ClusterInventory",
                "taken_at": TAKEN_AT,
                "cluster_id": "a",
                "clusters": {"b": "c"},
            },
            "both",
        ),
    ],
)
def test_the_header_is_checked(header: dict[str, Any], message: str, tmp_path: Path) -> None:
    write_inventory(SMALL, tmp_path, "csv")
    (tmp_path / "inventory.json").write_text(json.dumps(header))
    with pytest.raises(InvalidInputError, match=message):
        read_inventory(tmp_path)


def test_no_inventory_at_all_names_the_file_and_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"inventory\.json") as caught:
        read_inventory(tmp_path / "nowhere")
    assert caught.value.next_command == f"kadmin snapshot --out {tmp_path / 'nowhere'}"


def test_a_fleets_rows_belong_to_its_clusters(tmp_path: Path) -> None:
    fleet = Inventory(
        TAKEN_AT, {"north": SMALL.single(), "south": replace(SMALL.single(), cluster_id=None)}
    )
    write_inventory(fleet, tmp_path, "csv")
    assert read_inventory(tmp_path) == fleet
    with pytest.raises(UsageError, match="a fleet \\(north, south\\)"):
        fleet.single()
    with (tmp_path / "brokers.csv").open("a") as table:
        table.write("west,1,,,\n")
    with pytest.raises(InvalidInputError, match=r"does not name: west\."):
        read_inventory(tmp_path)


@pytest.mark.parametrize("table", TABLES)
def test_a_disk_that_refuses_is_reported_with_the_path(table: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotCompletedError, match=r"Cannot write .*file\."):
        write_inventory(SMALL, tmp_path / "file", table)
    (tmp_path / "folder" / f"partitions.{table}").mkdir(parents=True)
    with pytest.raises(NotCompletedError, match=rf"Cannot write .*partitions\.{table}"):
        write_inventory(SMALL, tmp_path / "folder", table)
    assert not list((tmp_path / "folder").glob(".*"))


def test_an_unknown_format_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Unknown table format orc"):
        write_inventory(SMALL, tmp_path, "orc")


def test_without_pyarrow_csv_still_works_and_parquet_says_so(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
sys.modules["pyarrow"] = None  # as on a machine without it
from kadmin.errors import UsageError
from kadmin.inventory import read_inventory, write_inventory
folder = Path(sys.argv[1])
inventory = read_inventory(folder)
write_inventory(inventory, folder, "jsonl")
try:
    write_inventory(inventory, folder, "parquet")
except UsageError as error:
    print(error.message, error.next_command)
"""
    write_inventory(SMALL, tmp_path, "csv")
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True
    )
    assert "need pyarrow" in done.stdout
    assert "--table csv" in done.stdout
    assert "pip install 'kadmin-kafka[planner]'" in done.stdout


def test_facts_that_no_command_uses_are_read_over(tmp_path: Path) -> None:
    write_inventory(
        Inventory(TAKEN_AT, {SINGLE_CLUSTER: ClusterInventory("one", (), ())}), tmp_path
    )
    header = json.loads((tmp_path / "inventory.json").read_text())
    unused = {"version": "2.0", "controller": 1, "controller_epoch": 7}
    (tmp_path / "inventory.json").write_text(
        json.dumps({**header, "kafka": {**unused, "delete_topic_enable": False}})
    )
    assert read_inventory(tmp_path).single().facts == KafkaFacts(delete_topic_enable=False)
