"""Reads and encodes `inventory.json`.

It has the time of the inventory, its cluster or clusters, and their facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar, TypeAlias

from kadmin.documents.parse import parse_inventory_header
from kadmin.errors import InvalidInputError
from kadmin.inventory.model import SINGLE_CLUSTER, KafkaFacts
from kadmin.next_step import command
from kadmin.plan.model.field_types import CLUSTER_ID, NON_NEGATIVE, BrokerId, ClusterId, Text
from kadmin.schema.documents import read, write
from kadmin.schema.shapes import Defined, Keywords, WrittenAs
from kadmin.wording import name_some

if TYPE_CHECKING:
    from pathlib import Path

    from kadmin.inventory.columns import InventoryTable

HEADER = "inventory.json"


@dataclass(frozen=True, slots=True)
class FactsFields(KafkaFacts):
    """KafkaFacts in `inventory.json`, with the fields that kadmin does not read."""

    KEYS: ClassVar = (
        "version",
        "mode",
        "controller",
        "controller_epoch",
        "min_insync_replicas",
        "default_min_insync_replicas",
        "consumers",
        "reassigning",
        "delete_topic_enable",
        "auto_create_topics_enable",
        "unavailable",
        "tiered_topics",
    )

    version: Annotated[Text | None, "The brokers' version, as far as known."] = None
    controller: Annotated[BrokerId | None, "The controller's broker id."] = None
    controller_epoch: Annotated[int | None, NON_NEGATIVE, "The epoch in /controller_epoch."] = None


_Facts: TypeAlias = Annotated[
    KafkaFacts,
    WrittenAs(FactsFields, partial(read, KafkaFacts), write),
    Keywords(title="facts"),
    "Facts of the cluster.",
    Defined("kafkaFacts"),
]


@dataclass(frozen=True, slots=True)
class ReadFrom:
    """The source of an inventory; kadmin does not read it."""

    connect: Annotated[Text | None, "The connect string, without credentials."] = None
    version: Annotated[Text | None, "The server's version."] = None


@dataclass(frozen=True, slots=True)
class HeaderFields:
    """Kind `ClusterInventory`: the fields of `inventory.json`."""

    taken_at: Annotated[
        str,
        Keywords(
            title="time",
            pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|\+00:00)$",
            x_hint="write for example 2024-01-31T12:30:45Z",
        ),
        "When it was taken: ISO 8601 in UTC.",
    ]
    cluster_id: Annotated[
        ClusterId | None, "The cluster's id; absent before Kafka 0.10.1, which had none."
    ] = None
    clusters: Annotated[
        Mapping[
            Annotated[
                str,
                Keywords(
                    title="cluster name",
                    pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$",
                    x_hint="a cluster name is up to 253 characters of a-z A-Z 0-9 . _ -",
                ),
            ],
            Annotated[
                str | None,
                Keywords(title="cluster id", type=["string", "null"], pattern=CLUSTER_ID),
                "The cluster's id, as its brokers have it.",
            ],
        ]
        | None,
        Keywords(minProperties=1),
        "A fleet: cluster ids by the names in the column cluster; null where a cluster has no id.",
    ] = None
    zookeeper: Annotated[
        ReadFrom | None, Keywords(title="ZooKeeper"), "Where the inventory was read."
    ] = None
    kafka: Annotated[
        _Facts | None, "Facts of the cluster; a fleet's stand in kafka_by_cluster."
    ] = None
    kafka_by_cluster: Annotated[
        Mapping[str, _Facts] | None,
        Keywords(title="Kafka by cluster"),
        "Facts of a fleet's clusters, by the names in clusters.",
    ] = None


@dataclass(frozen=True, slots=True)
class Header:
    """The content of `inventory.json`: ids and facts by cluster name.

    A single cluster is named SINGLE_CLUSTER.
    """

    taken_at: str
    clusters: Mapping[str, str | None]
    facts: Mapping[str, KafkaFacts] = field(default_factory=dict)

    @property
    def fleet(self) -> bool:
        """Whether the tables have a `cluster` column."""
        return SINGLE_CLUSTER not in self.clusters

    def shape(self, table: InventoryTable) -> InventoryTable:
        """Return the table with its columns under this header: a fleet's has a column `cluster`."""
        return table.of_fleet() if self.fleet else table


def read_header(directory: Path) -> Header:
    """Read and check `inventory.json`; raises InvalidInputError."""
    path = directory / HEADER
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InvalidInputError(
            f"There is no {path}.", next_step=command("snapshot", "--out", directory)
        ) from error
    except OSError as error:
        raise InvalidInputError(
            f"Cannot read {path}.",
            cause=error.strerror or str(error),
            next_step=command("snapshot", "--out", "DIR"),
        ) from error
    fields = read(HeaderFields, parse_inventory_header(data, str(path)))
    if fields.cluster_id is not None and fields.clusters is not None:
        raise InvalidInputError(
            f"{path} has both cluster_id and clusters.",
            cause="cluster_id is for one cluster, clusters for a fleet",
        )
    clusters = {SINGLE_CLUSTER: fields.cluster_id} if fields.clusters is None else fields.clusters
    return Header(fields.taken_at, clusters, _facts_of(path, fields, clusters))


def encode_header(header: Header) -> str:
    """Return the text of `inventory.json`."""
    found = {name: facts for name, facts in sorted(header.facts.items()) if facts != KafkaFacts()}
    if header.fleet:
        fields = HeaderFields(
            header.taken_at,
            clusters=dict(sorted(header.clusters.items())),
            kafka_by_cluster=found or None,
        )
    else:
        fields = HeaderFields(
            header.taken_at, header.clusters[SINGLE_CLUSTER], kafka=found.get(SINGLE_CLUSTER)
        )
    value = {"apiVersion": "kadmin/v1", "kind": "ClusterInventory", **write(fields)}
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _facts_of(
    path: Path, fields: HeaderFields, clusters: Mapping[str, str | None]
) -> Mapping[str, KafkaFacts]:
    fleet = SINGLE_CLUSTER not in clusters
    wrong, right = ("kafka", "kafka_by_cluster") if fleet else ("kafka_by_cluster", "kafka")
    if getattr(fields, wrong) is not None:
        what = "a fleet" if fleet else "one cluster"
        raise InvalidInputError(
            f"{path} is of {what} and has {wrong}.", cause=f"the facts of {what} belong in {right}"
        )
    found = (
        (fields.kafka_by_cluster or {}) if fleet else {SINGLE_CLUSTER: fields.kafka or KafkaFacts()}
    )
    if unknown := sorted(set(found) - set(clusters)):
        raise InvalidInputError(
            f"{path} has facts of clusters that it does not name: {name_some(unknown)}.",
            cause=f"its clusters are {name_some(sorted(clusters))}",
        )
    return found
