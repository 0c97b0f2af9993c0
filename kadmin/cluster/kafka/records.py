"""Writes records to partitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import kafka

from kadmin.cluster.kafka.connection import client_settings
from kadmin.cluster.kafka.errors import translated
from kadmin.errors import StalePlanError, name_some

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kadmin.cluster.kafka.servers import Servers
    from kadmin.cluster.model import TopicPartition

BOOTSTRAP_S = 15.0
DELIVERY_S = 120.0
"""How long a record may wait for its acknowledgement: it is queued behind all that are written with it."""
CLOSE_S = 30.0


def produce(servers: Servers, records: Mapping[TopicPartition, Sequence[bytes]]) -> None:
    """Write values to partitions, in order, and wait until all in-sync replicas have them.

    Raises UnreachableError when no broker answers, StalePlanError for a partition that does not exist, and
    NotCompletedError when a record was not acknowledged. Brokers of 0.10.2 and later.
    """
    limits = {
        "bootstrap_timeout_ms": int(BOOTSTRAP_S * 1000),
        "delivery_timeout_ms": int(DELIVERY_S * 1000),
        "max_block_ms": int(BOOTSTRAP_S * 1000),
    }
    with translated(servers, "write records"):
        producer = kafka.KafkaProducer(acks="all", linger_ms=5, **client_settings(servers), **limits)
        try:
            for topic in sorted({partition.topic for partition in records}):
                present = producer.partitions_for(topic) or ()
                absent = sorted(each for each in records if each.topic == topic and each.partition not in present)
                if absent:
                    raise StalePlanError(f"The cluster does not have {name_some(absent)}.")
            pending = [
                producer.send(partition.topic, value=value, partition=partition.partition)
                for partition, values in records.items()
                for value in values
            ]
            for each in pending:
                each.get(timeout=DELIVERY_S)
        finally:
            producer.close(timeout=CLOSE_S)
