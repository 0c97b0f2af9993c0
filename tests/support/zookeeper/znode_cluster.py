"""Writes the znodes of a cluster without brokers to a real ZooKeeper."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kadmin.worlds.zookeeper.model import Create, SetData

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.worlds.zookeeper.wire.store import Store

BROKERS: Mapping[int, str | None] = {1: None, 2: None, 3: None}


def seed(
    store: Store,
    topics: Mapping[str, Mapping[int, Sequence[int]]],
    *,
    brokers: Mapping[int, str | None] = BROKERS,
) -> None:
    """Make registered brokers (rack by id), topics whose partitions are all in sync, and their
    empty configs.

    As on 0.10.2, there is no /config/brokers until somebody needs it.
    """
    parents = (
        "/brokers",
        "/brokers/ids",
        "/brokers/topics",
        "/config",
        "/config/topics",
        "/config/changes",
    )
    store.multi([Create(path, b"") for path in parents] + [Create("/controller_epoch", b"1")])
    store.multi(
        [
            Create(f"/brokers/ids/{broker}", _registration(broker, rack))
            for broker, rack in brokers.items()
        ]
    )
    for topic, partitions in topics.items():
        store.multi(_topic(topic, partitions))


def reassigning(store: Store, topic: str, replicas: Sequence[int], adding: Sequence[int]) -> None:
    """Show partition 0 as a controller of 2.4 and later does in mid-move."""
    value = {
        "version": 2,
        "partitions": {"0": replicas},
        "adding_replicas": {"0": adding},
        "removing_replicas": {},
    }
    store.multi([SetData(f"/brokers/topics/{topic}", _json(value), -1)])


def reassigned(store: Store, topic: str, replicas: Sequence[int]) -> None:
    """Show partition 0 at these replicas, all in sync."""
    state = {
        "controller_epoch": 1,
        "leader": replicas[0],
        "version": 1,
        "leader_epoch": 0,
        "isr": replicas,
    }
    store.multi(
        [
            SetData(
                f"/brokers/topics/{topic}", _json({"version": 1, "partitions": {"0": replicas}}), -1
            ),
            SetData(f"/brokers/topics/{topic}/partitions/0/state", _json(state), -1),
        ]
    )


def config(store: Store, entity: str) -> dict[str, str]:
    """Return an entity's configs, none where it has no znode."""
    node = store.get(f"/config/{entity}")
    found: dict[str, str] = (
        {} if node is None or node.data is None else json.loads(node.data)["config"]
    )
    return found


def configure(store: Store, entity: str, values: Mapping[str, str]) -> None:
    """Replace an entity's configs, as somebody else does."""
    data, path = _json({"version": 1, "config": values}), f"/config/{entity}"
    if store.exists("/config/brokers") is None:
        store.multi([Create("/config/brokers", b"")])
    store.multi([SetData(path, data, -1) if store.exists(path) is not None else Create(path, data)])


def notified(store: Store) -> list[str]:
    """Return the entities that were notified, in order."""
    nodes = store.get_many(
        f"/config/changes/{name}" for name in store.children("/config/changes") or ()
    )
    return [
        json.loads(node.data)["entity_path"] for node in nodes if node is not None and node.data
    ]


def _registration(broker: int, rack: str | None) -> bytes:
    fixed = {
        "version": 4,
        "host": f"broker-{broker}",
        "port": 9092,
        "jmx_port": -1,
        "timestamp": "1",
        "endpoints": [],
    }
    return _json(fixed if rack is None else {**fixed, "rack": rack})


def _topic(topic: str, partitions: Mapping[int, Sequence[int]]) -> list[Create]:
    path = f"/brokers/topics/{topic}"
    assignment = {
        "version": 1,
        "partitions": {str(number): list(ids) for number, ids in partitions.items()},
    }
    made = [
        Create(f"/config/topics/{topic}", _json({"version": 1, "config": {}})),
        Create(path, _json(assignment)),
        Create(f"{path}/partitions", b""),
    ]
    for number, ids in partitions.items():
        state = {
            "controller_epoch": 1,
            "leader": ids[0],
            "version": 1,
            "leader_epoch": 0,
            "isr": list(ids),
        }
        made.append(Create(f"{path}/partitions/{number}", b""))
        made.append(Create(f"{path}/partitions/{number}/state", _json(state)))
    return made


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
