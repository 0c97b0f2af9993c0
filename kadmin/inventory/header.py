"""Reads and encodes `inventory.json`: the time of the inventory, its cluster or clusters, and their facts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any

from kadmin.cluster.capabilities import MetadataMode
from kadmin.cluster.model import TopicPartition
from kadmin.documents.parse import parse_inventory_header
from kadmin.errors import InvalidInputError
from kadmin.inventory.model import SINGLE_CLUSTER, KafkaFacts
from kadmin.next_step import command
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.inventory.columns import InventoryTable

HEADER = "inventory.json"


@dataclass(frozen=True, slots=True)
class Header:
    """The content of `inventory.json`: ids and facts by cluster name; a single cluster is named SINGLE_CLUSTER."""

    taken_at: str
    clusters: Mapping[str, str | None]
    facts: Mapping[str, KafkaFacts] = field(default_factory=dict)

    @property
    def fleet(self) -> bool:
        """Whether the tables have a `cluster` column."""
        return SINGLE_CLUSTER not in self.clusters

    def shape(self, table: InventoryTable) -> InventoryTable:
        """Return the table with its columns under this header: a fleet's has the column `cluster`."""
        return table.of_fleet() if self.fleet else table


def read_header(directory: Path) -> Header:
    """Read and check `inventory.json`; raises InvalidInputError."""
    path = directory / HEADER
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise InvalidInputError(f"There is no {path}.", next_step=command("snapshot", "--out", directory)) from error
    except OSError as error:
        raise InvalidInputError(
            f"Cannot read {path}.",
            cause=error.strerror or str(error),
            next_step=command("snapshot", "--out", "DIR"),
        ) from error
    fields = parse_inventory_header(data, str(path))
    if "cluster_id" in fields and "clusters" in fields:
        raise InvalidInputError(
            f"{path} has both cluster_id and clusters.",
            cause="cluster_id is for one cluster, clusters for a fleet",
        )
    clusters = fields.get("clusters", {SINGLE_CLUSTER: fields.get("cluster_id")})
    return Header(fields["taken_at"], clusters, _facts_of(path, fields, clusters))


def encode_header(header: Header) -> str:
    """Return the text of `inventory.json`."""
    value: dict[str, Any] = {"apiVersion": "kadmin/v1", "kind": "ClusterInventory", "taken_at": header.taken_at}
    facts = {name: fields for name, found in sorted(header.facts.items()) if (fields := _encode_facts(found))}
    if header.fleet:
        value |= {"clusters": dict(sorted(header.clusters.items())), "kafka_by_cluster": facts or None}
    else:
        value |= {"cluster_id": header.clusters[SINGLE_CLUSTER], "kafka": facts.get(SINGLE_CLUSTER)}
    known = {name: each for name, each in value.items() if each is not None}
    return json.dumps(known, indent=2, ensure_ascii=False) + "\n"


def _facts_of(path: Path, fields: Mapping[str, Any], clusters: Mapping[str, str | None]) -> dict[str, KafkaFacts]:
    fleet = SINGLE_CLUSTER not in clusters
    wrong, right = ("kafka", "kafka_by_cluster") if fleet else ("kafka_by_cluster", "kafka")
    if wrong in fields:
        what = "a fleet" if fleet else "one cluster"
        raise InvalidInputError(f"{path} is of {what} and has {wrong}.", cause=f"the facts of {what} belong in {right}")
    found = fields.get(right, {}) if fleet else {SINGLE_CLUSTER: fields.get(right, {})}
    if unknown := sorted(set(found) - set(clusters)):
        raise InvalidInputError(
            f"{path} has facts of clusters that it does not name: {name_some(unknown)}.",
            cause=f"its clusters are {name_some(sorted(clusters))}",
        )
    return {name: _decode_facts(facts) for name, facts in found.items()}


def _decode_facts(fields: Mapping[str, Any]) -> KafkaFacts:
    converted: dict[str, Any] = {
        "consumers": {topic: tuple(groups) for topic, groups in fields.get("consumers", {}).items()},
        "reassigning": tuple(TopicPartition(**entry) for entry in fields.get("reassigning", ())),
        "unavailable": tuple(fields.get("unavailable", ())),
    }
    if "mode" in fields:
        converted["mode"] = MetadataMode(fields["mode"])
    known = {each.name: fields[each.name] for each in dataclass_fields(KafkaFacts) if each.name in fields}
    return KafkaFacts(**{**known, **converted})


def _encode_facts(facts: KafkaFacts) -> dict[str, Any]:
    return {name: value for name, value in asdict(facts).items() if value not in (None, {}, ())}
