"""The inventory: tables of brokers and partitions, read, checked and written."""

from kadmin.inventory.model import SINGLE_CLUSTER, BrokerRow, ClusterInventory, Inventory, PartitionRow
from kadmin.inventory.reading import read_inventory
from kadmin.inventory.state import inbound_of, inventory_of, sizes_of, state_of
from kadmin.inventory.writing import write_inventory

__all__ = [
    "SINGLE_CLUSTER",
    "BrokerRow",
    "ClusterInventory",
    "Inventory",
    "PartitionRow",
    "inbound_of",
    "inventory_of",
    "read_inventory",
    "sizes_of",
    "state_of",
    "write_inventory",
]
