"""Claims of tests/support/eras/claims.py on partitions without a leader, on the live brokers of
every version under test.

Broker 1, which alone had all records, is stopped once for all of them; broker 4 is the controller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.eras.claims import CLAIMS, claim
from support.eras.kraft import PREFERRED, UNCLEAN, elect, in_flight, reassign
from support.eras.offline import ENDS, log_ends, lose_leaders
from support.live.controllers import REASSIGN
from support.live.waiting import stays, wait_until

from kadmin.cluster.model import NO_LEADER, TopicPartition
from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.live.cluster import Cluster

    from kadmin.cluster.model import PartitionState, Replicas
    from kadmin.sandbox import Sandbox

pytestmark = [
    pytest.mark.live,
    pytest.mark.eras,
    pytest.mark.matrix,
    pytest.mark.claims(CLAIMS),
]

CONTROLLER = 4
NAMES: dict[str, Replicas] = {
    **dict.fromkeys(("asked", "configured", "requested", "reordered"), (1, 2, 3)),
    "returned": (1, 2),
    **dict.fromkeys(("lost", "lost_to_one", "taken_back"), (1,)),
}
"""The topics of the tests, of one partition each."""


def seen(cluster: Cluster, name: str) -> str:
    """What the table says for the version under test."""
    return claim(name).seen[cluster.version_text]


@dataclass(frozen=True, slots=True)
class Offline:
    """Partitions whose leader is stopped, by name."""

    cluster: Cluster
    connection: KafkaConnection
    partitions: dict[str, TopicPartition]

    def state(self, name: str) -> PartitionState:
        partition = self.partitions[name]
        return self.cluster.state(partition.topic).states[partition]

    def leader(self, name: str) -> int:
        return self.state(name).leader

    def replicas(self, name: str) -> Replicas:
        partition = self.partitions[name]
        return self.cluster.state(partition.topic).replicas(partition) or ()

    def end(self, name: str, broker: int) -> int | None:
        """Return a broker's log end of a partition; None where the broker does not tell it."""
        partition = self.partitions[name]
        found = log_ends(self.connection, {broker: [partition]}, LogEnd.WRITTEN)
        return found[broker].offsets.get(partition)

    def allow(self, name: str) -> None:
        """Let a replica lead that is not in sync."""
        self.cluster.configure(
            f"topics/{self.partitions[name].topic}", {"unclean.leader.election.enable": "true"}
        )

    def elect(self, name: str) -> int:
        """Let an unclean election choose a leader, by the config, and return it."""
        self.allow(name)
        if self.cluster.version < (2,):
            self.cluster.controllers.move()
        wait_until(lambda: self.leader(name) != NO_LEADER)
        return self.leader(name)

    def move(self, name: str, target: Replicas) -> None:
        """Create a reassignment node."""
        entry = {"topic": self.partitions[name].topic, "partition": 0, "replicas": list(target)}
        self.cluster.controllers.reassign(entry)


@pytest.fixture(scope="module")
def offline(cluster: Cluster, live: Sandbox) -> Iterator[Offline]:
    made = {name: cluster.create_topic({0: replicas}) for name, replicas in NAMES.items()}
    partitions = {name: TopicPartition(topic, 0) for name, topic in made.items()}
    while cluster.controller() != CONTROLLER:
        cluster.controllers.move()
    with KafkaConnection(Servers(cluster.bootstrap)) as connection:
        written = {partitions[name]: replicas for name, replicas in NAMES.items()}
        lose_leaders(live, connection, written)
        cluster.controllers.wait()
        yield Offline(cluster, connection, partitions)
    live.start_broker(1)
    cluster.restart_brokers()
