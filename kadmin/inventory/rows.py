"""The rows of each table of an inventory: the values that they hold, and their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.cluster.model import TopicPartition
from kadmin.inventory.columns import BROKERS, CLUSTER, DISKS, PARTITIONS, REPLICAS
from kadmin.inventory.model import SINGLE_CLUSTER, BrokerRow, PartitionRow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.inventory.columns import Columns, InventoryTable
    from kadmin.inventory.model import ClusterInventory


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows of a table, which are in the field of ClusterInventory that has its name.

    `make` builds one from the cells of the table's columns. `attributes` are those of a row whose
    names differ from their columns.
    """

    table: InventoryTable
    make: Callable[..., Any]
    attributes: Mapping[str, str] = field(default_factory=dict)

    def columns_of(self, clusters: Mapping[str, ClusterInventory]) -> Columns:
        """Return the rows of clusters as columns, sorted by cluster and key."""
        by_name = {name: self._sorted(clusters[name]) for name in sorted(clusters)}
        return {
            CLUSTER.name: [name for name, rows in by_name.items() for _ in rows],
            **{
                column.name: [
                    cell for rows in by_name.values() for cell in map(self._cell(column.name), rows)
                ]
                for column in self.table.columns
            },
        }

    def rows_of(self, columns: Columns) -> dict[str, tuple[Any, ...]]:
        """Return the rows of each cluster, sorted; absent columns are null."""
        count = len(columns[self.table.key[0]])
        cells = [columns.get(column.name, [None] * count) for column in self.table.columns]
        rows: dict[str, list[Any]] = {}
        clusters: Sequence[Any] = columns.get(CLUSTER.name, [SINGLE_CLUSTER] * count)
        for cluster, row in zip(clusters, map(self.make, *cells), strict=True):
            rows.setdefault(cluster, []).append(row)
        return {cluster: tuple(sorted(found, key=self._key)) for cluster, found in rows.items()}

    def _sorted(self, cluster: ClusterInventory) -> list[Any]:
        return sorted(getattr(cluster, self.table.name), key=self._key)

    @property
    def _key(self) -> Callable[[Any], Any]:
        return attrgetter(*(self.attributes.get(name, name) for name in self.table.key))

    def _cell(self, column: str) -> Callable[[Any], Any]:
        return attrgetter(self.attributes.get(column, column))


def _disk(
    broker_id: int, path: str, total_bytes: int | None, usable_bytes: int | None, state: str
) -> Disk:
    return Disk(broker_id, path, total_bytes, usable_bytes, DiskState(state))


def _replica(
    topic: str, number: int, broker_id: int, path: str, size_bytes: int | None
) -> DiskReplica:
    return DiskReplica(TopicPartition(topic, number), broker_id, path, size_bytes)


TABLES = (
    TableRows(BROKERS, BrokerRow),
    TableRows(PARTITIONS, PartitionRow),
    TableRows(DISKS, _disk),
    TableRows(REPLICAS, _replica, {"topic": "partition.topic", "partition": "partition.partition"}),
)
"""The tables of an inventory, in the order in which they are read and written."""
