"""Builds znodes that hold a value as JSON, and strategies for their strings."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from kadmin.worlds.zookeeper.model import Znode

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def node(path: str, value: object, version: int = 3) -> Znode:
    """Return a znode that holds a value as JSON, created by transaction 77 in session 9."""
    return Znode(path, json.dumps(value).encode(), version, czxid=77, ephemeral_owner=9)
