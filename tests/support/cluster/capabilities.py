"""The capabilities of both ways to a cluster, for tests of pure rooms."""

from __future__ import annotations

from kadmin.worlds.kafka.backend import CAPABILITIES
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend

API = CAPABILITIES
NODES = ZooKeeperBackend.capabilities
LIMITS = NODES.publish
"""What one publish can hold in ZooKeeper mode."""
