"""Generates a seeded family of skewed clusters, as they are after new brokers were added.

Racks of equal size; new brokers are empty and spread over the racks; replicas of one partition lie
on as many racks as there are, on old brokers drawn inside a rack with weights uniform in 0.5 to
1.5. Topics have at least one partition each, the others fall 70 % uniformly and 30 % by Pareto(1)
of the topic's rank; a partition's bytes are lognormal(6, 1.5) MiB per topic times lognormal(0,
0.3).

The kinds beside it: `mixed` has two replicas in every other topic; `unequal` has twice as many
brokers in two of the racks as in the others; `heavy` has topics of lognormal(6, 2.5) MiB a
partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kadmin.inventory import SINGLE_CLUSTER, BrokerRow, ClusterInventory, Inventory, PartitionRow
from kadmin.inventory.columns import BROKERS, DISKS, PARTITIONS, REPLICAS
from kadmin.planner.cluster_arrays import arrow_schema

if TYPE_CHECKING:
    import numpy.typing as npt

    from kadmin.inventory.columns import InventoryTable
    from kadmin.planner.cluster_arrays import ArrowTable

    Ints = npt.NDArray[np.int64]

REPLICATION_FACTOR = 3
_MIB = 2**20
_SPREAD = {"heavy": 2.5}


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
    "1M": Size(1_000_000, 20_000, 1_100, 100, 20),
    "5M": Size(5_000_000, 50_000, 2_200, 200, 6),
    "fleet": Size(5_000, 500, 33, 3, 3),
}


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A cluster as arrays: `replicas` [P, 3] of broker ids, 0 where a partition has only two."""

    rack: Ints
    topic: Ints
    number: Ints
    replicas: Ints
    size_bytes: Ints


def cluster(size: Size, seed: int, kind: str = "") -> ClusterInventory:
    """Return a cluster of the family; the same seed gives the same cluster."""
    drawn = _draw(size, seed, kind)
    brokers = tuple(
        BrokerRow(at + 1, f"rack-{rack}", alive=True) for at, rack in enumerate(drawn.rack.tolist())
    )
    rows = zip(
        drawn.topic.tolist(),
        drawn.number.tolist(),
        drawn.replicas.tolist(),
        drawn.size_bytes.tolist(),
        strict=True,
    )
    partitions = []
    for which, number, found, size_bytes in rows:
        ids = tuple(each for each in found if each)
        partitions.append(PartitionRow(f"topic-{which:05d}", number, ids, ids[0], ids, size_bytes))
    return ClusterInventory("generated-cluster-0001", brokers, tuple(partitions))


def inventory(size: Size, seed: int) -> Inventory:
    """Return the inventory of one cluster of the family."""
    return Inventory("2026-01-01T00:00:00Z", {SINGLE_CLUSTER: cluster(size, seed)})


def tables(size: Size, seed: int, kind: str = "") -> tuple[ArrowTable, ArrowTable]:
    """Return the same cluster as Arrow tables of brokers and partitions.

    Leaders and in-sync replicas unknown.
    """
    drawn = _draw(size, seed, kind)
    names = pa.array([f"topic-{each:05d}" for each in range(size.topics)])
    filled = drawn.replicas > 0
    offsets = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    brokers = {
        "broker_id": np.arange(1, size.brokers + 1),
        "rack": pa.array([f"rack-{each}" for each in drawn.rack.tolist()]),
        "alive": pa.array([True] * size.brokers),
    }
    partitions = {
        "topic": names.take(pa.array(drawn.topic)),
        "partition": drawn.number,
        "replicas": pa.ListArray.from_arrays(
            pa.array(offsets, pa.int32()), pa.array(drawn.replicas[filled])
        ),
        "size_bytes": drawn.size_bytes,
    }
    return _table(BROKERS, brokers, size.brokers), _table(PARTITIONS, partitions, size.partitions)


def disk_tables(partitions: ArrowTable, size: Size, disks: int) -> tuple[ArrowTable, ArrowTable]:
    """Return the tables of disks and of replicas on them, for a table of partitions.

    Each broker has so many disks, the second half as large as the first, the fourth twice. Replicas
    are on any with the same chance, as where brokers choose by number.
    """
    draw, total = np.random.default_rng(disks), [each * 8 * 10**12 for each in (2, 1, 2, 4)]
    lists = partitions.column("replicas").combine_chunks()
    row = np.repeat(np.arange(len(lists)), lists.value_lengths())
    path = pa.array([f"/var/lib/kafka/data-{each}" for each in range(disks)])
    bytes_ = np.tile(total[:disks], size.brokers)
    where = draw.integers(0, disks, len(row))
    disk = disks * (pc.cast(lists.flatten(), pa.int64()).to_numpy() - 1) + where
    sizes = partitions.column("size_bytes").take(pa.array(row))
    used = np.bincount(disk, sizes.to_numpy(), len(bytes_)).astype(np.int64)
    found = {
        "broker_id": np.repeat(np.arange(1, size.brokers + 1), disks),
        "path": path.take(pa.array(np.tile(np.arange(disks), size.brokers))),
        "total_bytes": bytes_,
        "usable_bytes": bytes_ - used,
        "state": pa.array(["online"] * len(bytes_)),
    }
    held = {
        name: partitions.column(name).take(pa.array(row))
        for name in ("topic", "partition", "size_bytes")
    }
    held["broker_id"] = lists.flatten()
    held["path"] = path.take(pa.array(where))
    return _table(DISKS, found, len(bytes_)), _table(REPLICAS, held, len(row))


def _table(shape: InventoryTable, columns: dict[str, Any], rows: int) -> ArrowTable:
    schema = arrow_schema(shape)
    found = [
        _array(columns[field.name]).cast(field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(found, schema=schema)


def _array(values: Any) -> Any:  # noqa: ANN401 - pyarrow ships no type information
    return values if isinstance(values, pa.ChunkedArray) else pa.array(values)


def _draw(size: Size, seed: int, kind: str) -> _Drawn:
    draw = np.random.default_rng(seed)
    rack = np.arange(size.brokers) % (size.racks + 2 * (kind == "unequal")) % size.racks
    counts = _partition_counts(size, draw)
    topic = np.repeat(np.arange(size.topics), counts)
    number = np.arange(size.partitions) - np.repeat(np.cumsum(counts) - counts, counts)
    replicas = _replicas(size, rack, draw)
    if kind == "mixed":
        replicas[topic % 2 == 0, REPLICATION_FACTOR - 1] = 0
    scale = draw.lognormal(6, _SPREAD.get(kind, 1.5), size.topics)[topic] * draw.lognormal(
        0, 0.3, size.partitions
    )
    return _Drawn(rack, topic, number, replicas, (scale * _MIB).astype(np.int64))


def _partition_counts(size: Size, draw: np.random.Generator) -> Ints:
    rest = size.partitions - size.topics
    uniform = draw.integers(0, size.topics, int(rest * 0.7))
    by_rank = 1 / np.arange(1, size.topics + 1)
    pareto = draw.choice(size.topics, rest - len(uniform), p=by_rank / by_rank.sum())
    return np.asarray(
        1 + np.bincount(np.concatenate([uniform, pareto]), minlength=size.topics), np.int64
    )


def _replicas(size: Size, rack: Ints, draw: np.random.Generator) -> Ints:
    old = size.brokers - size.new
    weight = draw.uniform(0.5, 1.5, old)
    racks = np.argsort(draw.random((size.partitions, size.racks)), axis=1)[:, :REPLICATION_FACTOR]
    replicas: Ints = np.zeros(racks.shape, np.int64)
    for each in range(size.racks):
        members = np.flatnonzero(rack[:old] == each)
        chosen = draw.choice(members, racks.shape, p=weight[members] / weight[members].sum())
        replicas = np.where(racks == each, 1 + chosen, replicas)
    return replicas
