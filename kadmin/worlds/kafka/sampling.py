"""Samples the load of a cluster from its brokers.

It reads start and end offsets, log sizes, committed offsets of groups. Start offsets are those on
disk, as sizes are: both together give the bytes of a record.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from kadmin.cluster.log_dirs import LogDirs
from kadmin.cluster.model import NO_LEADER
from kadmin.cluster.offsets import LogEnd
from kadmin.errors import KadminError
from kadmin.inventory.samples import LoadSample
from kadmin.operations.reading.brokers import not_described
from kadmin.wording import count
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.log_dirs import ask_log_dirs
from kadmin.worlds.kafka.wire.metadata import read_metadata
from kadmin.worlds.kafka.wire.offsets import ask_group_offsets, ask_groups, ask_log_offsets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kadmin.cluster.from_brokers import FromBrokers
    from kadmin.cluster.model import TopicPartition
    from kadmin.cluster.offsets import GroupOffsets, LogOffsets
    from kadmin.operations.context import Clock
    from kadmin.worlds.kafka.wire.connection import KafkaConnection
    from kadmin.worlds.kafka.wire.metadata import ClusterMetadata


def take_sample(connection: KafkaConnection, clock: Clock) -> LoadSample:
    """Ask every live broker at once; the sample lacks the rows of brokers that do not answer.

    Raises UnreachableError or NotCompletedError where no broker describes the cluster, or none
    gives any end offset.
    """
    metadata = read_metadata(connection)
    brokers = [each.broker_id for each in metadata.brokers.values() if each.alive]
    led, taken_at = _led(metadata), clock.utc()
    waits = {
        at: ask_log_offsets(connection, led, at, REQUEST_S)
        for at in (LogEnd.LAST, LogEnd.FIRST_ON_DISK)
    }
    sizes = ask_log_dirs(connection, brokers, REQUEST_S)
    groups = ask_groups(connection, brokers, REQUEST_S)()
    groups_at = clock.utc()
    committed = ask_group_offsets(connection, groups.given, REQUEST_S)()
    offsets = {at: wait() for at, wait in waits.items()}
    ends = offsets[LogEnd.LAST]
    if ends.failed and not ends.given:
        raise next(iter(ends.failed.values()))
    disks = _sizes(sizes, brokers)
    unavailable = (
        *_unled(metadata),
        *chain.from_iterable(_without_offsets(at, found) for at, found in offsets.items()),
        *not_described(disks),
        *_not_told("groups", groups.failed, (), "group"),
        *_not_told(
            "committed offsets", committed.failed, map(_counted, committed.given.values()), "group"
        ),
    )
    return LoadSample(
        taken_at,
        metadata.cluster_id,
        {leader: answer.offsets for leader, answer in ends.given.items()},
        disks.sizes,
        {
            name: offsets
            for answer in committed.given.values()
            for name, offsets in answer.offsets.items()
        },
        groups_at,
        unavailable,
        {
            each: offset
            for answer in offsets[LogEnd.FIRST_ON_DISK].given.values()
            for each, offset in answer.offsets.items()
        },
    )


def _without_offsets(at: LogEnd, found: FromBrokers[LogOffsets]) -> Iterable[str]:
    refused = (each.refused for each in found.given.values())
    return _not_told(at, found.failed, refused, "partition")


def _led(metadata: ClusterMetadata) -> Mapping[int, list[TopicPartition]]:
    led: dict[int, list[TopicPartition]] = {}
    for partition, found in metadata.partitions.items():
        if found.leader != NO_LEADER:
            led.setdefault(found.leader, []).append(partition)
    return led


def _unled(metadata: ClusterMetadata) -> Iterator[str]:
    without = sum(found.leader == NO_LEADER for found in metadata.partitions.values())
    if without:
        yield f"no end offset of {count(without, 'partition')} without a leader"


def _sizes(wait: Callable[[], LogDirs], brokers: Iterable[int]) -> LogDirs:
    try:
        return wait()
    except KadminError as error:
        return LogDirs({}, dict.fromkeys(brokers, error))


def _counted(offsets: GroupOffsets) -> Counter[str]:
    return Counter(offsets.refused.values())


def _not_told(
    what: str, failed: Mapping[int, KadminError], refused: Iterable[Counter[str]], noun: str
) -> Iterator[str]:
    for broker, error in failed.items():
        yield f"{what} at broker {broker} are not known: {error.message}"
    for each in refused:
        for name, number in sorted(each.items()):
            yield f"{what} of {count(number, noun)} are not known: {name}"
