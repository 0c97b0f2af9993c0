"""Seeds a cluster to practise on.

It has uneven topics and leaders, one broker that is almost empty, real records. There is something
to rebalance, to delete (`old-events`), and a protected name (`__audit`). The same spec gives the
same topics, assignments and records.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.servers import Servers
from kadmin.errors import NotCompletedError
from kadmin.sandbox.processes import wait_until
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.records import produce
from kadmin.worlds.kafka.wire.refusals import RefusedError
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kadmin.cluster.model import PartitionState, Replicas
    from kadmin.sandbox.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata

READY_S = 60.0
RECORD_BYTES = 10_000
_INVALID_REPLICA_ASSIGNMENT = 39


@dataclass(frozen=True, slots=True)
class SeedTopic:
    """A topic to make.

    Records of RECORD_BYTES are spread over its partitions, the first ones getting most.
    """

    name: str
    partitions: int
    replication_factor: int
    records: int


TOPICS = (
    SeedTopic("orders", 12, 3, 600),
    SeedTopic("payments", 6, 2, 300),
    SeedTopic("clicks", 8, 2, 900),
    SeedTopic("__audit", 2, 2, 20),
    SeedTopic("old-events", 3, 2, 30),
)


@dataclass(frozen=True, slots=True)
class Seeded:
    """The numbers of topics, partitions and records that were made."""

    topics: int
    partitions: int
    records: int


def seed(sandbox: Sandbox) -> Seeded:
    """Make the topics and fill them.

    Raises NotCompletedError when they exist or get no leaders in time. In ZooKeeper mode they are
    written to ZooKeeper: kafka-python has no request for it that brokers of 0.10.2 support.
    """
    chooser = random.Random(20_240_229)  # noqa: S311 - a reproducible skew, not a secret
    create_topics(sandbox, {topic.name: _assign(sandbox, topic, chooser) for topic in TOPICS})
    records: dict[TopicPartition, list[bytes]] = {}
    for topic in TOPICS:
        records.update(_records(topic))
    produce(Servers(sandbox.bootstrap), records)
    return Seeded(len(TOPICS), len(records), sum(len(written) for written in records.values()))


def create_topics(sandbox: Sandbox, assignments: Mapping[str, Mapping[int, Replicas]]) -> None:
    """Make topics with the replicas of each partition, and wait until all are in sync."""
    if sandbox.in_kraft_mode:
        _create_by_brokers(sandbox, assignments)
    else:
        from kadmin.sandbox import zookeeper_mode

        zookeeper_mode.create_topics(sandbox, assignments)
        _wait(assignments, lambda: [zookeeper_mode.partition_states(sandbox, assignments)])


def _create_by_brokers(sandbox: Sandbox, assignments: Mapping[str, Mapping[int, Replicas]]) -> None:
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        for topic, replicas in assignments.items():
            create_when_alive(connection, topic, replicas)
        # Every broker has its own copy of the metadata, and a producer may ask any.
        brokers = sandbox.broker_ports
        _wait(
            assignments,
            lambda: [
                read_metadata(connection, assignments, broker_id=at).partitions for at in brokers
            ],
        )


def create_when_alive(
    connection: KafkaConnection,
    topic: str,
    replicas: Mapping[int, Replicas],
    configs: Mapping[str, str] | None = None,
) -> None:
    """Create a topic as soon as each partition has a broker that is alive.

    After a pause of the machine brokers are fenced for a while, and a controller refuses a
    partition without another one. Raises what create_topic does.
    """

    def is_created() -> bool:
        try:
            create_topic(connection, topic, replicas, configs)
        except RefusedError as error:
            if str(error.cause).startswith(error_name(_INVALID_REPLICA_ASSIGNMENT)):
                return False
            raise
        return True

    if not wait_until(is_created, READY_S):
        create_topic(connection, topic, replicas, configs)


def _wait(
    assignments: Mapping[str, Mapping[int, Replicas]],
    read: Callable[[], Sequence[Mapping[TopicPartition, PartitionMetadata | PartitionState]]],
) -> None:
    """Wait until every partition has its full ISR in every copy of the metadata that is read."""
    wanted = {
        TopicPartition(topic, number): set(brokers)
        for topic, replicas in assignments.items()
        for number, brokers in replicas.items()
    }

    def ready() -> bool:
        return all(
            each in copy and set(copy[each].isr) == wanted[each]
            for copy in read()
            for each in wanted
        )

    if not wait_until(ready, READY_S):
        raise NotCompletedError(
            f"Not every partition got its leader and its full ISR within {READY_S:g} s."
        )


def _assign(sandbox: Sandbox, topic: SeedTopic, chooser: random.Random) -> dict[int, Replicas]:
    """Place replicas on as many racks as possible, on low broker ids first.

    The last broker gets none.
    """
    brokers = sorted(sandbox.broker_ports)
    old = brokers[:-1] if len(brokers) > 1 else brokers
    found = {}
    for number in range(topic.partitions):
        weighted = sorted(old, key=lambda broker: (chooser.random() * (broker + 1), broker))
        found[number] = tuple(_one_per_rack(sandbox, weighted)[: topic.replication_factor])
    return found


def _one_per_rack(sandbox: Sandbox, brokers: Sequence[int]) -> list[int]:
    # Brokers on racks that are not used yet come first.
    chosen: list[int] = []
    for broker in brokers:
        if sandbox.rack(broker) not in {sandbox.rack(other) for other in chosen}:
            chosen.append(broker)
    return chosen + [broker for broker in brokers if broker not in chosen]


def _records(topic: SeedTopic) -> dict[TopicPartition, list[bytes]]:
    # Partition n gets a share of 1 / (n + 1): few partitions hold most of the bytes, as on real
    # clusters.
    shares = [1 / (number + 1) for number in range(topic.partitions)]
    records = {}
    for number, share in enumerate(shares):
        count = max(1, round(topic.records * share / sum(shares)))
        body = f"{topic.name}-{number} ".encode().ljust(RECORD_BYTES, b".")
        records[TopicPartition(topic.name, number)] = [b"%06d " % n + body for n in range(count)]
    return records
