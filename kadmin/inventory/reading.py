"""Reads an inventory folder: `inventory.json` and the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.errors import InvalidInputError
from kadmin.inventory.columns import CLUSTER, PARTITIONS, check_columns
from kadmin.inventory.header import HEADER, read_header
from kadmin.inventory.model import ClusterInventory, Inventory, KafkaFacts
from kadmin.inventory.parquet_tables import read_parquet
from kadmin.inventory.rows import TABLES
from kadmin.inventory.text_tables import read_csv, read_jsonl
from kadmin.next_step import command
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from kadmin.inventory.columns import Columns, InventoryTable
    from kadmin.inventory.header import Header

FORMATS = ("parquet", "csv", "jsonl")


def read_inventory(directory: Path) -> Inventory:
    """Read and check a whole inventory.

    Raises InvalidInputError, which names every column with bad rows and their number. A broker
    without a row that holds replicas is dead, not an error.
    """
    header = read_header(directory)
    tables = _read_checked(directory, header)
    refuse_unknown_clusters(directory, header, set().union(*tables.values()))
    clusters = {
        name: ClusterInventory(
            cluster_id,
            facts=header.facts.get(name, KafkaFacts()),
            **{table: rows.get(name, ()) for table, rows in tables.items()},
        )
        for name, cluster_id in sorted(header.clusters.items())
    }
    return Inventory(header.taken_at, clusters)


def inventory_files(directory: Path) -> tuple[Path, ...]:
    """Return every path that an inventory in this folder may use."""
    tables = (path for each in TABLES for path in _paths(directory, each.table))
    return (directory / HEADER, *tables)


def refuse_unknown_clusters(directory: Path, header: Header, found: Collection[str]) -> None:
    """Raise InvalidInputError for rows of clusters that `inventory.json` does not name."""
    if unknown := sorted(set(found) - set(header.clusters)):
        raise InvalidInputError(
            f"{directory}: rows of clusters that inventory.json does not name: "
            f"{name_some(unknown)}.",
            cause=f"its clusters are {name_some(header.clusters)}",
        )


def table_path(directory: Path, table: InventoryTable) -> Path:
    """Return the path of a table in its format.

    Raises InvalidInputError unless it exists in exactly one.
    """
    path = path_if_there(directory, table)
    if path is not None:
        return path
    raise InvalidInputError(
        f"{directory} holds no table {table.name} (.parquet, .csv or .jsonl).",
        next_step=command("snapshot", "--out", "DIR"),
    )


def path_if_there(directory: Path, table: InventoryTable) -> Path | None:
    """Return the path of a table in its format, None where there is none.

    Raises InvalidInputError where it exists in several.
    """
    found = [path for path in _paths(directory, table) if path.exists()]
    if len(found) == 1:
        return found[0]
    if found:
        names = name_some(path.name for path in found)
        raise InvalidInputError(
            f"{directory} holds the table {table.name} twice: {names}.",
            next_step="keep one of them",
        )
    return None


def _paths(directory: Path, table: InventoryTable) -> list[Path]:
    return [directory / f"{table.name}.{suffix}" for suffix in FORMATS]


def refuse_columns(path: Path, table: InventoryTable, found: Collection[str]) -> None:
    """Raise InvalidInputError for unknown columns and for required ones that are missing."""
    allowed = [column.name for column in table.columns]
    if unknown := sorted(set(found) - set(allowed)):
        raise InvalidInputError(
            f"{path} has unknown columns: {name_some(unknown)}.",
            cause=f"its columns are {', '.join(allowed)}",
        )
    missing = [
        column.name for column in table.columns if column.required and column.name not in found
    ]
    if missing:
        raise InvalidInputError(
            f"{path} lacks the columns: {', '.join(missing)}.",
            cause=f"it has {', '.join(sorted(found)) or 'none'}",
        )


def _read_checked(directory: Path, header: Header) -> Mapping[str, Mapping[str, tuple[Any, ...]]]:
    """Return the rows of every table that is there, by its name, and by cluster."""
    bad: list[str] = []
    read: dict[str, Mapping[str, tuple[Any, ...]]] = {}
    for each in TABLES:
        table = header.shape(each.table)
        find = path_if_there if table.optional else table_path
        path = find(directory, table)
        if path is None:
            continue
        columns = read_columns(path, table)
        refuse_columns(path, table, columns)
        bad.extend(found.message for found in check_columns(table, columns, name=path.name))
        if not bad:
            read[table.name] = each.rows_of(columns)
    if bad:
        raise InvalidInputError(f"The inventory {directory} has bad rows.", cause="; ".join(bad))
    return read


def read_columns(path: Path, table: InventoryTable, names: Sequence[str] | None = None) -> Columns:
    """Read the columns of a table, unchecked: all, or at least those of `names`.

    Raises InvalidInputError.
    """
    if path.suffix == ".parquet":
        return read_parquet(path, table, names)
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInputError(
            f"Cannot read {path}.", cause=error.strerror or str(error)
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{path} is not UTF-8.", cause=str(error)) from error
    read = read_csv if path.suffix == ".csv" else read_jsonl
    return read(text, table, path.name)


def snapshot_topics(directory: Path, cluster: str) -> list[str]:
    """Return the topics of an inventory, sorted.

    In the inventory of a fleet, those of the cluster of this name. Only the files' form is checked;
    raises InvalidInputError.
    """
    fleet = read_header(directory).fleet
    names = [CLUSTER.name, "topic"] if fleet else ["topic"]
    columns = read_columns(table_path(directory, PARTITIONS), PARTITIONS, names)
    topics = columns["topic"]
    if fleet:
        topics = [
            topic
            for name, topic in zip(columns[CLUSTER.name], topics, strict=True)
            if name == cluster
        ]
    return sorted({topic for topic in topics if isinstance(topic, str)})
