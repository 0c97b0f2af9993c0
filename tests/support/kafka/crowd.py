"""A live cluster in KRaft mode with very many partitions, which no broker of this machine has to
keep.

Brokers 1 to 3 live and keep the record. Brokers 4 to 6 are killed, and the controllers hold them
alive for as long as this needs: they are the replicas of everything else. Their order can be
changed, which the controllers do at once.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.live.waiting import wait_until

from kadmin.cluster.names import RECORD_TOPIC
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec
from kadmin.worlds.kafka.values.topic_settings import SETTINGS
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.topics import create_topic

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALIVE, KILLED = (1, 2, 3), (4, 5, 6)
PER_TOPIC = 100
STATE_PARTITIONS = 3
HELD_ALIVE_MS = 3_600_000
WAIT_S = 120


@contextmanager
def crowd(folder: Path, version: str, partitions: int) -> Iterator[tuple[str, ...]]:
    """Run such a cluster with this many partitions; gives the addresses of its living brokers."""
    settings = {"broker.session.timeout.ms": str(HELD_ALIVE_MS)}
    sandbox = Sandbox.up(
        SandboxSpec(
            folder,
            version=version,
            brokers=len(ALIVE + KILLED),
            mode="kraft",
            broker_config=settings,
        )
    )
    bootstrap = tuple(f"127.0.0.1:{sandbox.broker_ports[each]}" for each in ALIVE)
    try:
        for each in KILLED:
            os.kill(sandbox.brokers[each].pid, signal.SIGKILL)
        wait_until(lambda: not any(sandbox.brokers[each].alive for each in KILLED), WAIT_S)
        with KafkaConnection(Servers(bootstrap)) as connection:
            _make_own_topics(connection)
            for topic, replicas in _topics(partitions):
                create_topic(connection, topic, replicas)
            expected = partitions + STATE_PARTITIONS + 2
            wait_until(lambda: len(read_metadata(connection).partitions) == expected, WAIT_S)
        yield bootstrap
    finally:
        sandbox.down()


def reorder(partitions: int) -> dict[str, Any]:
    """Return a plan that makes the second replica of each partition the first, in waves as large as
    may be.
    """
    entries = [
        {"topic": topic, "partition": number, "replicas": [second, first, third]}
        for topic, replicas in _topics(partitions)
        for number, (first, second, third) in replicas.items()
    ]
    header = {
        "apiVersion": "kadmin/v1",
        "kind": "PartitionReassignment",
        "metadata": {"name": "reorder"},
    }
    return {
        **header,
        "spec": {"elect": "none", "waves": {"max_partitions": partitions}, "partitions": entries},
    }


def _make_own_topics(connection: KafkaConnection) -> None:
    """Make the topics of transactions and of the record where brokers live."""
    create_topic(
        connection,
        "__transaction_state",
        dict.fromkeys(range(STATE_PARTITIONS), ALIVE),
        {"cleanup.policy": "compact"},
    )
    settings = {**SETTINGS, "cleanup.policy": "compact", "min.insync.replicas": "2"}
    create_topic(connection, RECORD_TOPIC, dict.fromkeys(range(2), ALIVE), settings)


def _topics(partitions: int) -> Iterator[tuple[str, dict[int, tuple[int, int, int]]]]:
    for start in range(0, partitions, PER_TOPIC):
        replicas = {
            number: _rotated(start + number) for number in range(min(PER_TOPIC, partitions - start))
        }
        yield f"topic-{start // PER_TOPIC:04d}", replicas


def _rotated(number: int) -> tuple[int, int, int]:
    first, second, third = (KILLED[(number + each) % len(KILLED)] for each in range(3))
    return first, second, third
