"""Compares the log end of a leader with its high watermark while a follower is frozen."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from kafka import KafkaProducer
from support.live.kraft import servers_frozen
from support.live.waiting import wait_until

from kadmin.cluster.offsets import LogEnd
from kadmin.cluster.servers import Servers
from kadmin.worlds.kafka.brokers import KafkaBrokers

if TYPE_CHECKING:
    from kadmin.cluster.model import TopicPartition
    from kadmin.sandbox import Sandbox

LEADER, FOLLOWER = 1, 2
_ANSWER_S = 60.0


def wait_for_a_lone_log_end(sandbox: Sandbox, partition: TopicPartition) -> None:
    """Wait until a record with acks=1 raises the log end alone, until the follower has it.

    A follower that is frozen for too long leaves the ISR, and the record is committed without it:
    then it is frozen again.
    """
    servers = Servers([f"127.0.0.1:{sandbox.broker_ports[LEADER]}"])
    with (
        closing(KafkaProducer(bootstrap_servers=list(servers.addresses), acks=1)) as producer,
        closing(KafkaBrokers(servers)) as brokers,
    ):

        def end(at: LogEnd) -> int:
            found = brokers.log_offsets({LEADER: [partition]}, at, _ANSWER_S)
            return found.given[LEADER].offsets[partition]

        def write() -> None:
            producer.send(partition.topic, b"x", partition=partition.partition).get(_ANSWER_S)

        def is_alone() -> bool:
            before = end(LogEnd.WRITTEN)
            with servers_frozen(sandbox, [FOLLOWER]):
                write()
                found = end(LogEnd.WRITTEN), end(LogEnd.LAST)
            wait_until(lambda: end(LogEnd.LAST) == end(LogEnd.WRITTEN) == before + 1)
            return found == (before + 1, before)

        write()
        wait_until(lambda: end(LogEnd.LAST) == end(LogEnd.WRITTEN))
        wait_until(is_alone)
