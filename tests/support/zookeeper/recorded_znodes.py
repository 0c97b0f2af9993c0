"""Loads znodes recorded from real clusters: one file per Kafka version, path -> data, ephemeral,
version.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kadmin.worlds.zookeeper.model import Create, Znode

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Op
    from kadmin.worlds.zookeeper.wire.store import Store

_FOLDER = Path(__file__).parents[2] / "cluster" / "zookeeper" / "recorded"
CLUSTERS = ("0.10.2.2", "1.1.1", "2.3.1", "2.4.1", "2.8.2", "3.9.1")
OLD_CONSUMERS = ("old-consumer-0.10.2.2", "old-consumer-1.1.1")
KADMIN_1_0_0 = "kadmin-1.0.0"
"""Topics, configs and kadmin's znodes of a 2.8.2 cluster, as kadmin 1.0.0 left them when it was
killed."""


def decode_data(value: dict[str, Any]) -> bytes | None:
    """Return the data of a recording: text, or base64 where it is no text; None for null."""
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return None if value["data"] is None else value["data"].encode()


def recorded(name: str) -> dict[str, Znode]:
    """Load one recording; ephemeral znodes belong to session 7."""
    found = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return {
        path: Znode(
            path, decode_data(each), each["version"], ephemeral_owner=7 if each["ephemeral"] else 0
        )
        for path, each in found.items()
    }


def load(store: Store, name: str) -> None:
    """Write a recording below a chroot; what was ephemeral belongs to this session."""
    nodes = recorded(name)
    write(
        store,
        *(
            Create(p, nodes[p].data, ephemeral=nodes[p].ephemeral_owner != 0)
            for p in sorted(nodes)
            if p != "/"
        ),
    )


def write(store: Store, *ops: Op) -> None:
    """Make one write, which must be taken."""
    result = store.multi(ops)
    assert result.committed, result
