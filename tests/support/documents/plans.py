"""Builds plans as JSON values and writes them to files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


GOOD = b"kind: TopicDeletion\nspec: {topics: [old-events]}\n"


def document(path: Path, value: Mapping[str, Any]) -> Path:
    """Write a document; JSON is YAML."""
    path.write_text(json.dumps(value))
    return path


def contexts(path: Path, entries: Mapping[str, Any]) -> dict[str, str]:
    """Write a contexts file, and return the environment that names it."""
    document(path, {"kind": "Contexts", "contexts": entries})
    return {"KADMIN_CONFIG": str(path)}


def reassignment(
    topic: str,
    targets: Mapping[Any, Sequence[Any]],
    *,
    current: Mapping[Any, Sequence[int]] | None = None,
    cluster_id: str | None = None,
    **spec: object,
) -> dict[str, Any]:
    """Build a PartitionReassignment of one topic."""
    entries: list[dict[str, Any]] = [
        {"topic": topic, "partition": number, "replicas": list(replicas)}
        for number, replicas in targets.items()
    ]
    for entry in entries:
        if current is not None:
            entry["current"] = list(current[entry["partition"]])
    metadata = {"name": "test"} | ({} if cluster_id is None else {"cluster_id": cluster_id})
    return {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "metadata": metadata,
        "spec": {**spec, "partitions": entries},
    }


def election(**spec: object) -> dict[str, Any]:
    """Build a PreferredReplicaElection."""
    return {"apiVersion": "kadmin/v1", "kind": "PreferredReplicaElection", "spec": spec}


UNASKED = {"unchecked_guards": True}
"""The waiver of a deletion on a cluster whose brokers cannot be asked."""


def deletion(*topics: str, **spec: object) -> dict[str, Any]:
    """Build a TopicDeletion."""
    return {
        "apiVersion": "kadmin/v1",
        "kind": "TopicDeletion",
        "spec": {"topics": list(topics), **spec},
    }
