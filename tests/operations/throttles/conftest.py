from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.executor.throttling import BEFORE, LOCKED, PATHS
from support.zookeeper.znode_cluster import configure, seed

from kadmin.operations.context import Clock
from kadmin.worlds.zookeeper.values.lock import ZnodeLock

if TYPE_CHECKING:
    from kadmin.operations.record.holder import Lease
    from kadmin.worlds.zookeeper.wire.store import Store


@pytest.fixture
def lease(store: Store) -> Lease:
    """The lock of a cluster with one topic and the configs BEFORE."""
    seed(store, {"a": {0: (1, 2)}})
    for entity, values in BEFORE.items():
        configure(store, entity, values)
    return ZnodeLock(store, PATHS, Clock()).take(LOCKED, 0)
