"""Reads the names of topics from a snapshot, without the rest of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.inventory.columns import CLUSTER, PARTITIONS
from kadmin.inventory.header import read_header
from kadmin.inventory.reading import read_columns, table_path

if TYPE_CHECKING:
    from pathlib import Path


def snapshot_topics(directory: Path, cluster: str) -> list[str]:
    """Return the topics of an inventory, sorted; in the inventory of a fleet, those of the cluster of this name.

    Only the files' form is checked; raises InvalidInputError.
    """
    fleet = read_header(directory).fleet
    names = [CLUSTER.name, "topic"] if fleet else ["topic"]
    columns = read_columns(table_path(directory, PARTITIONS), PARTITIONS, names)
    topics = columns["topic"]
    if fleet:
        topics = [topic for name, topic in zip(columns[CLUSTER.name], topics, strict=True) if name == cluster]
    return sorted({topic for topic in topics if isinstance(topic, str)})
