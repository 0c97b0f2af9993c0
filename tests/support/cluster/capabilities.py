"""The capabilities of both ways to a cluster, for tests of pure rooms."""

from __future__ import annotations

from kadmin.worlds.kafka.backend import KafkaBackend
from kadmin.worlds.zookeeper.backend import ZooKeeperBackend

API = KafkaBackend.capabilities
NODES = ZooKeeperBackend.capabilities
