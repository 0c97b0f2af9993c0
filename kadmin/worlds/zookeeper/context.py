"""The context of a cluster in ZooKeeper mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.operations.context import Context

if TYPE_CHECKING:
    from kadmin.cluster.servers import Servers
    from kadmin.worlds.zookeeper.values.paths import Paths
    from kadmin.worlds.zookeeper.wire.store import Store


@dataclass(frozen=True, slots=True)
class ZooKeeperContext(Context):
    """A context with its ZooKeeper session, for `heal`, `doctor` and `inspect`."""

    store: Store
    paths: Paths
    servers: Servers
    """The brokers' addresses and security as they were given; ANY_LISTENER where nothing was."""
