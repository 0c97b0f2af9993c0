"""The clusters of an inventory as the rules compare documents with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.inventory.state import facts_of, state_of
from kadmin.plan.rules import World

if TYPE_CHECKING:
    from kadmin.inventory.model import ClusterInventory, Inventory


def world_of(cluster: ClusterInventory) -> World:
    """Return one cluster as its inventory shows it."""
    dead = {row.broker_id: row.rack for row in cluster.brokers if row.alive is False}
    return World(state_of(cluster), facts_of(cluster), dead)


def worlds_of(inventory: Inventory) -> dict[str, World]:
    """Return every cluster of an inventory by its name."""
    return {name: world_of(cluster) for name, cluster in inventory.clusters.items()}
