"""Topics of a cluster in KRaft mode, and waiting for what its brokers show."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from support.live.waiting import wait_until

from kadmin.cluster.kafka.metadata import read_metadata
from kadmin.cluster.kafka.reassignments import list_reassignments
from kadmin.cluster.kafka.topics import create_topic
from kadmin.cluster.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection
    from kadmin.cluster.model import Replicas

WAIT_S = 120
_numbers = itertools.count()


def make_topic(connection: KafkaConnection, replicas: Mapping[int, Replicas]) -> str:
    """Create a topic with a name of its own and wait until every live broker shows it with its full ISRs."""
    name = f"topic-{next(_numbers)}"
    create_topic(connection, name, replicas)
    wait_assigned(connection, {TopicPartition(name, number): brokers for number, brokers in replicas.items()})
    return name


def wait_assigned(connection: KafkaConnection, targets: Mapping[TopicPartition, Replicas]) -> None:
    """Wait until no reassignment is in flight and every live broker shows the targets with their full ISRs."""
    topics = {partition.topic for partition in targets}

    def assigned() -> bool:
        if list_reassignments(connection, targets):
            return False
        alive = [each.broker_id for each in read_metadata(connection, ()).brokers.values() if each.alive]
        copies = [read_metadata(connection, topics, broker_id=broker_id).partitions for broker_id in alive]
        return all(
            partition in copy and copy[partition].replicas == replicas and set(copy[partition].isr) == set(replicas)
            for copy in copies
            for partition, replicas in targets.items()
        )

    wait_until(assigned, WAIT_S)
