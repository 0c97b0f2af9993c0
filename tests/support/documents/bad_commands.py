"""Lists bad input of several files, and the commands that read it; each has a golden file.

The rows that one document shows are in bad_documents.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_HEADER = '{"kind": "ClusterInventory", "taken_at": "2026-11-21T08:30:00Z", "cluster_id": "c"}\n'
_BROKERS = "broker_id,rack,alive\n1,r1,true\n2,r2,true\n3,r3,true\n"
_PARTITIONS = (
    "topic,partition,replicas,leader,isr\norders,0,1;2,1,1;2\norders,1,2;3,2,2;3\n"
    "old.events,0,3;1,3,3;1\n"
)
_INVENTORY = {"inventory.json": _HEADER, "brokers.csv": _BROKERS, "partitions.csv": _PARTITIONS}
_REQUEST = "kind: RebalanceRequest\nspec: {}\n"
_DELETION = "kind: TopicDeletion\nspec: {topics: [orders]}\n"


@dataclass(frozen=True, slots=True)
class Case:
    """Files by name, `commands` to run beside them, and the exit code of each."""

    files: Mapping[str, str]
    commands: tuple[str, ...]
    status: int = 3


def _inventory(**tables: str) -> dict[str, str]:
    files = {**_INVENTORY, **{f"{name}.csv": text for name, text in tables.items()}}
    return {f"inventory/{name}": text for name, text in files.items()}


def _reassign(*entries: str) -> str:
    return "kind: PartitionReassignment\nspec:\n  partitions:\n" + "".join(
        f"    - {{{each}}}\n" for each in entries
    )


def _schemas(text: str) -> Case:
    return Case(
        {"plan.yaml": _DELETION, "own/topic-deletion.schema.json": text},
        ("validate plan.yaml --schema-dir own",),
    )


def _rows(*rows: str) -> str:
    return "topic,partition,replicas,size_bytes,bytes_in_per_s\n" + "".join(
        f"{row}\n" for row in rows
    )


COMMANDS: dict[str, Case] = {
    "b07-across-files": Case(
        {
            "a.yaml": _reassign("topic: orders, partition: 0, replicas: [1, 3]"),
            "b.yaml": _reassign("topic: orders, partition: 0, replicas: [1, 2]"),
        },
        ("validate a.yaml b.yaml",),
    ),
    "b09-unknown-names": Case(
        {
            **_inventory(),
            "plan.yaml": _reassign(
                "topic: orders, partition: 0, replicas: [1, 9]",
                "topic: orders, partition: 7, replicas: [1, 8]",
                "topic: oders, partition: 0, replicas: [1, 2]",
            ),
            "election.yaml": "kind: PreferredReplicaElection\nspec: {topics: [oders, other]}\n",
            "deletion.yaml": "kind: TopicDeletion\nspec: {topics: [oders, orders, other]}\n",
        },
        (
            "validate plan.yaml --inventory inventory",
            "validate election.yaml --inventory inventory",
            "validate deletion.yaml --inventory inventory",
        ),
    ),
    "b10-against-an-inventory": Case(
        {
            **_inventory(),
            "plan.yaml": _reassign(
                "topic: orders, partition: 0, replicas: [1, 2, 3]",
                "topic: orders, partition: 1, replicas: [2, 3]",
            ),
        },
        ("validate plan.yaml --inventory inventory",),
    ),
    "b11-collision-with-the-cluster": Case(
        {
            **_inventory(),
            "recipe.yaml": (
                "kind: TopicRecipe\nspec: {topics: [{topic: old_events, partitions: [[1, 2]]}]}\n"
            ),
        },
        ("validate recipe.yaml --inventory inventory",),
    ),
    "b12-schema-remote-ref": _schemas('{"$ref": "https://example.org/topic.json"}'),
    "b12-schema-remote-ref-deep": _schemas(
        '{"properties": {"spec": {"$ref": "https://example.org/topic.json#/a"}}}'
    ),
    "b12-schema-file-ref": _schemas('{"$ref": "file:///etc/passwd"}'),
    "b12-schema-is-none": _schemas('{"type": 1}'),
    "b12-schema-is-no-json": _schemas("{"),
    "b12-schema-bad-pattern": _schemas('{"properties": {"kind": {"pattern": "("}}}'),
    "b12-no-schema": Case(
        {"plan.yaml": _DELETION, "own/notes.txt": ""}, ("validate plan.yaml --schema-dir own",)
    ),
    "b13-connect-strings": Case(
        {},
        tuple(
            f"status -z '{given}'"
            for given in (
                "",
                "localhost",
                "localhost:abc",
                "localhost:99999",
                "zk1:2181/a,zk2:2181/b",
                "::1:2181",
                "[::1]",
                "zk1:2181/kafka/",
                "zk1:2181, zk2:2181",
                "zk1:2181,,zk2:2181",
                "/kafka",
                "http://zk1:2181",
            )
        ),
    ),
    "b14-policy": Case(
        {
            "plan.yaml": (
                "kind: TopicDeletion\nspec: {topics: [pay-1, pay-2, logs], allow: {more_than: 9}}\n"
            ),
            "policy.yaml": 'kind: Policy\nspec: {deletion: {deny: ["pay-*"], max_topics: 2}}\n',
            "empty.yaml": 'kind: Policy\nspec: {deletion: {deny: [""]}}\n',
        },
        ("validate plan.yaml --policy policy.yaml", "validate plan.yaml --policy empty.yaml"),
    ),
    "b15-rows": Case(
        {
            **_inventory(
                partitions=_rows(
                    "orders,0,1;2,100,1.5",
                    "orders,0,1;2,-1,1.5",
                    ",1,1;2,100,NaN",
                    "orders,2,,100,-2",
                    "orders,x,1;1,1e3,inf",
                    "or ders,4,1;-2,100,fast",
                )
            ),
            "request.yaml": _REQUEST,
        },
        (
            "validate request.yaml --inventory inventory",
            "propose rebalance request.yaml --inventory inventory --engine local --out plan.json",
        ),
    ),
    "b15-columns": Case(
        {**_inventory(partitions="topic,partition,size\norders,0,1\n"), "request.yaml": _REQUEST},
        ("validate request.yaml --inventory inventory",),
    ),
    "b15-fleet": Case(
        {
            **_inventory(
                brokers="cluster,broker_id\neast,1\nsouth,1\n",
                partitions="cluster,topic,partition,replicas\neast,orders,0,1\n",
            ),
            "inventory/inventory.json": _HEADER.replace(
                '"cluster_id": "c"', '"clusters": {"east": "e", "west": "w"}'
            ),
            "request.yaml": _REQUEST,
        },
        ("validate request.yaml --inventory inventory",),
    ),
}
