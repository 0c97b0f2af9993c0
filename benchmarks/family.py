"""A seeded family of skewed clusters: what a broker extension leaves behind.

Racks of equal size; new brokers are empty and spread over the racks; replicas of one partition lie on as many racks as
there are, on old brokers drawn inside a rack with weights uniform in 0.5 to 1.5. Topics have at least one partition
each, the others fall 70 % uniformly and 30 % by Pareto(1) of the topic's rank; a partition's bytes are lognormal(6,
1.5) MiB per topic times lognormal(0, 0.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kadmin.inventory import SINGLE_CLUSTER, BrokerRow, ClusterInventory, Inventory, PartitionRow

if TYPE_CHECKING:
    import numpy.typing as npt

REPLICATION_FACTOR = 3
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Size:
    """How large a cluster of the family is; `new` brokers are among `brokers`."""

    partitions: int
    topics: int
    brokers: int
    new: int
    racks: int


SIZES = {
    "S": Size(1_000, 100, 15, 3, 3),
    "M": Size(10_000, 1_000, 66, 6, 3),
    "L": Size(100_000, 5_000, 110, 10, 5),
    "XL": Size(1_000_000, 20_000, 1_100, 100, 20),
}


def cluster(size: Size, seed: int) -> ClusterInventory:
    """Return a cluster of the family; the same seed gives the same cluster."""
    draw = np.random.default_rng(seed)
    brokers = _brokers(size)
    counts = _partition_counts(size, draw)
    topic = np.repeat(np.arange(size.topics), counts)
    number = np.concatenate([np.arange(count) for count in counts])
    replicas = _replicas(size, brokers, draw)
    scale = draw.lognormal(6, 1.5, size.topics)[topic] * draw.lognormal(0, 0.3, size.partitions)
    rows = zip(
        topic.tolist(), number.tolist(), replicas.tolist(), (scale * _MIB).astype(np.int64).tolist(), strict=True
    )
    partitions = [
        PartitionRow(f"topic-{which:05d}", each, tuple(ids), ids[0], tuple(ids), size_bytes)
        for which, each, ids, size_bytes in rows
    ]
    return ClusterInventory("generated-cluster-0001", brokers, tuple(partitions))


def inventory(size: Size, seed: int) -> Inventory:
    """Return the inventory of one cluster of the family."""
    return Inventory("2026-01-01T00:00:00Z", {SINGLE_CLUSTER: cluster(size, seed)})


def _brokers(size: Size) -> tuple[BrokerRow, ...]:
    return tuple(BrokerRow(each + 1, f"rack-{each % size.racks}", alive=True) for each in range(size.brokers))


def _partition_counts(size: Size, draw: np.random.Generator) -> npt.NDArray[np.int64]:
    rest = size.partitions - size.topics
    uniform = draw.integers(0, size.topics, int(rest * 0.7))
    by_rank = 1 / np.arange(1, size.topics + 1)
    pareto = draw.choice(size.topics, rest - len(uniform), p=by_rank / by_rank.sum())
    return np.asarray(1 + np.bincount(np.concatenate([uniform, pareto]), minlength=size.topics), np.int64)


def _replicas(size: Size, brokers: tuple[BrokerRow, ...], draw: np.random.Generator) -> npt.NDArray[np.int64]:
    old = size.brokers - size.new
    weight = draw.uniform(0.5, 1.5, old)
    ids = np.array([broker.broker_id for broker in brokers])
    racks = np.argsort(draw.random((size.partitions, size.racks)), axis=1)[:, :REPLICATION_FACTOR]
    replicas: npt.NDArray[np.int64] = np.zeros(racks.shape, np.int64)
    for rack in range(size.racks):
        members = np.arange(rack, old, size.racks)
        chosen = draw.choice(members, racks.shape, p=weight[members] / weight[members].sum())
        replicas = np.where(racks == rack, ids[chosen], replicas)
    return replicas
