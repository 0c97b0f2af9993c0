"""Writes the inventory of a small cluster, or of a fleet of such clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.inventory import BrokerRow, ClusterInventory, Inventory, PartitionRow, write_inventory

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.cluster.model import Replicas


CLUSTER_ID = "kHD57VOWjTBKdUaz6n7K6n"


def small_inventory(folder: Path, **clusters: str) -> str:
    """Write the inventory of one cluster, or of the clusters that are named with their ids; return
    its folder.
    """

    def partitions(name: str, *lists: Replicas) -> list[PartitionRow]:
        return [PartitionRow(name, number, replicas) for number, replicas in enumerate(lists)]

    def cluster(cluster_id: str) -> ClusterInventory:
        brokers = tuple(BrokerRow(number, f"r{number}") for number in (1, 2, 3))
        rows = (*partitions("orders", (1, 2), (2, 3)), *partitions("payments", (3, 1)))
        return ClusterInventory(cluster_id, brokers, rows)

    named = clusters or {"": CLUSTER_ID}
    inventory = Inventory(
        "2024-01-31T12:30:45+00:00", {name: cluster(each) for name, each in named.items()}
    )
    write_inventory(inventory, folder, "csv")
    return str(folder)
