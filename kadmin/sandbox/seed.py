"""A skewed cluster to practise on: uneven topics, uneven leaders, one broker that is almost empty, real records.

Goals: something to rebalance (the last broker is new, the first ones carry most), something to delete (`old-events`),
and a name that guards protect (`__audit`). A broker that is stopped and started again leaves something to elect.
Deterministic: the same spec gives the same topics, assignments and records.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.records import produce
from kadmin.cluster.model import Create, TopicPartition
from kadmin.cluster.zookeeper.reader import read_cluster
from kadmin.cluster.zookeeper.store import Store
from kadmin.cluster.zookeeper.znodes.configs import config_path, encode_config
from kadmin.cluster.zookeeper.znodes.topics import encode_topic, topic_path
from kadmin.errors import NotCompletedError
from kadmin.sandbox.processes import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.model import Replicas
    from kadmin.sandbox.sandbox import Sandbox

READY_S = 60.0
RECORD_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class SeedTopic:
    """A topic to make: records of RECORD_BYTES are spread over its partitions, the first ones getting most."""

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
    """What was made."""

    topics: int
    partitions: int
    records: int


def seed(sandbox: Sandbox) -> Seeded:
    """Make the topics straight in ZooKeeper, as the old admin tools do, and fill them through the brokers.

    Raises NotCompletedError when the topics are there already, or do not come up.
    """
    chooser = random.Random(20_240_229)  # noqa: S311 - a reproducible skew, not a secret
    assignments = {topic: _assign(sandbox, topic, chooser) for topic in TOPICS}
    with Store.connect(sandbox.connect_string) as store:
        for topic, replicas in assignments.items():
            create_topic(store, topic.name, replicas)
        wait_for_leaders(store, [topic.name for topic in TOPICS])
    records: dict[TopicPartition, list[bytes]] = {}
    for topic in TOPICS:
        records.update(_records(topic))
    produce(sandbox.bootstrap, records)
    return Seeded(len(TOPICS), len(records), sum(len(written) for written in records.values()))


def create_topic(store: Store, name: str, replicas: Mapping[int, Replicas]) -> None:
    """Create a topic by its two znodes, configs first; raises NotCompletedError when it is there already."""
    result = store.multi(
        [
            Create(config_path("topics", name), encode_config({})),
            Create(topic_path(name), encode_topic(replicas)),
        ]
    )
    if not result.committed:
        raise NotCompletedError(f"Cannot create topic {name}: {result.reason}.", cause="it is there already")


def wait_for_leaders(store: Store, topics: Sequence[str]) -> None:
    """Wait until every partition has a leader and its full ISR."""

    def ready() -> bool:
        state = read_cluster(store, topics)
        partitions = [partition for topic in state.topics.values() for partition in topic.partitions()]
        return all(
            partition in state.states and set(state.states[partition].isr) == set(state.replicas(partition) or ())
            for partition in partitions
        )

    if not wait_until(ready, READY_S):
        raise NotCompletedError(f"Not every partition of {', '.join(topics)} got its leader within {READY_S:g} s.")


def _assign(sandbox: Sandbox, topic: SeedTopic, chooser: random.Random) -> dict[int, Replicas]:
    """Place replicas on as many racks as there are, low broker ids first: the last broker gets almost nothing."""
    brokers = sorted(sandbox.broker_ports)
    old = brokers[:-1] if len(brokers) > 1 else brokers
    found = {}
    for number in range(topic.partitions):
        weighted = sorted(old, key=lambda broker: (chooser.random() * (broker + 1), broker))
        found[number] = tuple(_one_per_rack(sandbox, weighted)[: topic.replication_factor])
    return found


def _one_per_rack(sandbox: Sandbox, brokers: Sequence[int]) -> list[int]:
    # Brokers of racks not yet used come first, the others after them.
    chosen: list[int] = []
    for broker in brokers:
        if sandbox.spec.rack(broker) not in {sandbox.spec.rack(other) for other in chosen}:
            chosen.append(broker)
    return chosen + [broker for broker in brokers if broker not in chosen]


def _records(topic: SeedTopic) -> dict[TopicPartition, list[bytes]]:
    # Partition n gets a share of 1 / (n + 1): few partitions hold most of the bytes, as in life.
    shares = [1 / (number + 1) for number in range(topic.partitions)]
    records = {}
    for number, share in enumerate(shares):
        count = max(1, round(topic.records * share / sum(shares)))
        body = f"{topic.name}-{number} ".encode().ljust(RECORD_BYTES, b".")
        records[TopicPartition(topic.name, number)] = [b"%06d " % n + body for n in range(count)]
    return records
