"""Writes an inventory folder.

The same values give the same bytes, and each file is replaced atomically.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.errors import NotCompletedError, UsageError
from kadmin.inventory.header import HEADER, Header, encode_header
from kadmin.inventory.parquet_tables import write_parquet
from kadmin.inventory.reading import FORMATS
from kadmin.inventory.rows import TABLES
from kadmin.inventory.text_tables import write_csv, write_jsonl
from kadmin.whole_files import replaced, write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.inventory.columns import Columns, InventoryTable
    from kadmin.inventory.model import Inventory


def write_inventory(inventory: Inventory, directory: Path, table: str = "parquet") -> None:
    """Write an inventory with sorted rows; `table` is one of FORMATS.

    Tables in the other formats are removed, and optional ones without rows. `inventory.json` is
    written last. Raises NotCompletedError with the path that cannot be written.
    """
    if table not in FORMATS:
        raise UsageError(f"Unknown table format {table}.", next_step=f"--table {'|'.join(FORMATS)}")
    clusters = {name: each.cluster_id for name, each in inventory.clusters.items()}
    facts = {name: each.facts for name, each in inventory.clusters.items()}
    header = Header(inventory.taken_at, clusters, facts)
    path = directory
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for each in TABLES:
            path = directory / f"{each.table.name}.{table}"
            columns = each.columns_of(inventory.clusters)
            shape = header.shape(each.table).as_written(columns)
            if shape.optional and not columns[shape.key[0]]:
                path.unlink(missing_ok=True)
            else:
                _write_table(path, columns, shape)
            _remove_others(path)
        path = directory / HEADER
        write_whole(path, encode_header(header))
    except OSError as error:
        raise NotCompletedError(
            f"Cannot write {path}.", cause=error.strerror or str(error)
        ) from error


def _write_table(path: Path, columns: Columns, shape: InventoryTable) -> None:
    with replaced(path) as file:
        if path.suffix == ".parquet":
            write_parquet(file, columns, shape)
        else:
            file.write(
                (write_csv if path.suffix == ".csv" else write_jsonl)(columns, shape).encode()
            )


def _remove_others(path: Path) -> None:
    for suffix in FORMATS:
        if path.suffix != f".{suffix}":
            path.with_suffix(f".{suffix}").unlink(missing_ok=True)
