"""Partitions without a leader whose living replicas have fewer records than the dead leader."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from support.live.waiting import wait_until

from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.offsets import LogEnd
from kadmin.errors import UnreachableError
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.offsets import ask_log_offsets
from kadmin.worlds.kafka.wire.records import produce

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from kadmin.cluster.model import Replicas, TopicPartition
    from kadmin.cluster.offsets import LogOffsets
    from kadmin.sandbox import Sandbox
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import PartitionMetadata

ENDS = {2: 2, 3: 5, 1: 8}
"""The records that each broker has of a partition, in the order in which the brokers are
stopped."""
LOST = b"lost"
_ANSWER_S = 60.0


def lose_leaders(
    sandbox: Sandbox,
    connection: KafkaConnection,
    written: Mapping[TopicPartition, Replicas],
    without_2: Callable[[], None] = lambda: None,
    *,
    ends: Mapping[int, int] = ENDS,
    crashing: int | None = None,
) -> None:
    """Stop the last broker of `ends`, which has all records of the partitions with these replicas.

    The others are stopped before it, and started after it. `without_2` writes more before broker 3
    is stopped. Of the brokers, `crashing` ends without a shutdown.
    """
    begin = 0
    for broker, end in ends.items():
        produce(connection.servers, dict.fromkeys(written, [LOST] * (end - begin)))
        begin = end
        if broker == 3:
            without_2()
        sandbox.stop_broker(broker, kill=broker == crashing)
        wait_all(
            connection,
            written,
            lambda each, gone=broker: gone not in each.isr or each.leader == NO_LEADER,  # type: ignore[misc] # bound now
        )
    *others, _ = ends
    for broker in others:
        sandbox.start_broker(broker)
    asked = {
        broker: [each for each, replicas in written.items() if broker in replicas]
        for broker in others
    }

    def all_told() -> bool:
        found = log_ends(connection, asked, LogEnd.WRITTEN)
        return found.keys() == asked.keys() and not any(each.refused for each in found.values())

    # A broker that has just started answers 6 until it has heard of its replicas.
    wait_until(all_told)


def wait_all(
    connection: KafkaConnection,
    partitions: Collection[TopicPartition],
    shown: Callable[[PartitionMetadata], bool],
) -> None:
    """Wait until every live broker shows partitions so."""
    topics = {each.topic for each in partitions}

    def all_show() -> bool:
        with suppress(UnreachableError):  # a broker that has just stopped may be listed
            alive = [each for each in read_metadata(connection, ()).brokers.values() if each.alive]
            copies = [
                read_metadata(connection, topics, broker_id=each.broker_id).partitions
                for each in alive
            ]
            return all(each in copy and shown(copy[each]) for copy in copies for each in partitions)
        return False

    wait_until(all_show)


def log_ends(
    connection: KafkaConnection, asked: Mapping[int, Iterable[TopicPartition]], at: LogEnd
) -> Mapping[int, LogOffsets]:
    """Return what each broker answers to ListOffsets; those that do not answer are left out."""
    return ask_log_offsets(connection, asked, at, _ANSWER_S)().given
