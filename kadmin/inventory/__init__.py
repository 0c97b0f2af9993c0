"""Reads, checks and writes inventories: a folder with tables of brokers and partitions."""

from kadmin.inventory.model import (
    SINGLE_CLUSTER,
    BrokerRow,
    ClusterInventory,
    Inventory,
    KafkaFacts,
    PartitionRow,
)
from kadmin.inventory.reading import inventory_files, read_inventory
from kadmin.inventory.state import (
    facts_of,
    inventory_of,
    publish_limits_of,
    replicas_of,
    state_of,
    world_of,
)
from kadmin.inventory.writing import write_inventory

__all__ = [
    "SINGLE_CLUSTER",
    "BrokerRow",
    "ClusterInventory",
    "Inventory",
    "KafkaFacts",
    "PartitionRow",
    "facts_of",
    "inventory_files",
    "inventory_of",
    "publish_limits_of",
    "read_inventory",
    "replicas_of",
    "state_of",
    "world_of",
    "write_inventory",
]
