"""Start and end offsets of partitions, end offsets of leader epochs, groups' committed offsets.

Requests: ListOffsets, OffsetForLeaderEpoch, ListGroups, OffsetFetch.

Each `ask_` function sends its requests to all brokers at once, and returns the call that waits for
the answers. Nothing is raised for a broker that does not answer: its error is in `failed`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import ListGroupsRequest
from kafka.protocol.consumer import (
    ListOffsetsRequest,
    OffsetFetchRequest,
    OffsetForLeaderEpochRequest,
)

from kadmin.cluster.from_brokers import FromBrokers
from kadmin.cluster.groups import CLASSIC, ListedGroup
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.offsets import EPOCHS_NOT_KEPT, GroupOffsets, LogEnd, LogOffsets
from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.errors import NotServedError, error_name, raise_for
from kadmin.worlds.kafka.wire.from_brokers import ask_each

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_NO_REPLICA = -1
_DEBUGGING_CONSUMER = -2
_LIST_OFFSETS = {
    LogEnd.FIRST: (_NO_REPLICA, -2),
    LogEnd.FIRST_ON_DISK: (_NO_REPLICA, -4),
    LogEnd.LAST: (_NO_REPLICA, -1),
    LogEnd.WRITTEN: (_DEBUGGING_CONSUMER, -1),
}
"""The replica and the timestamp that ListOffsets has for each end (ListOffsetsRequest.java)."""
_ON_DISK = 8
"""The first version of ListOffsets that has the first record on disk (KIP-405)."""
_UNKNOWN = -1
_READ_UNCOMMITTED = 0
_MANY_GROUPS = 8
"""The first version of OffsetFetch that takes several groups (Kafka 3.0)."""
_BY_NAME = 9
"""The last version of OffsetFetch that names topics."""
_ONE_GROUP = 7
_SHARE = "share"
_DELETED_GROUP = 69


def ask_log_offsets(
    connection: KafkaConnection,
    led: Mapping[int, Iterable[TopicPartition]],
    at: LogEnd,
    timeout_s: float,
) -> Callable[[], FromBrokers[LogOffsets]]:
    """Ask each broker for the offsets at one end of the logs that it leads.

    A broker that is too old for FIRST_ON_DISK has no remote storage, and is asked for FIRST.
    """
    requests = {broker: _offsets_request(partitions, at) for broker, partitions in led.items()}
    wait = ask_each(connection, f"tell {at}", requests, _log_offsets, timeout_s)
    if at is not LogEnd.FIRST_ON_DISK:
        return wait

    def collect() -> FromBrokers[LogOffsets]:
        found = wait()
        old = [each for each, error in found.failed.items() if isinstance(error, NotServedError)]
        if not old:
            return found
        again = ask_log_offsets(
            connection, {broker: led[broker] for broker in old}, LogEnd.FIRST, timeout_s
        )()
        failed = {each: error for each, error in found.failed.items() if each not in old}
        return FromBrokers({**found.given, **again.given}, {**failed, **again.failed})

    return collect


def ask_epoch_ends(
    connection: KafkaConnection,
    epochs: Mapping[int, Mapping[TopicPartition, int]],
    timeout_s: float,
) -> Callable[[], FromBrokers[LogOffsets]]:
    """Ask brokers for the end offsets of leader epochs, and all before, in the logs that they lead.

    Records of these epochs from there on are not in the log (KIP-320): consumers find truncated
    logs by that.
    """
    requests = {broker: _epochs_request(asked) for broker, asked in epochs.items()}
    return ask_each(connection, "report where leader epochs end", requests, _epoch_ends, timeout_s)


def ask_groups(
    connection: KafkaConnection, brokers: Iterable[int], timeout_s: float
) -> Callable[[], FromBrokers[Sequence[ListedGroup]]]:
    """Ask each broker for the groups that it coordinates.

    Groups that may not be described are left out without an error, where Describe on the cluster is
    missing, too.
    """
    what = "list consumer groups"

    def read(answer: Any) -> Sequence[ListedGroup]:  # noqa: ANN401 - kafka-python ships no types
        raise_for(answer.error_code, None, connection.servers, what, Right("Describe"))
        return sorted((_listed(each) for each in answer.groups), key=lambda each: each.name)

    return ask_each(
        connection, what, {broker: ListGroupsRequest() for broker in brokers}, read, timeout_s
    )


def commit_offsets(groups: Iterable[ListedGroup]) -> list[str]:
    """Name the groups that commit offsets: those of every kind but share groups."""
    return [each.name for each in groups if each.kind != _SHARE]


def ask_group_offsets(
    connection: KafkaConnection, listed: Mapping[int, Iterable[ListedGroup]], timeout_s: float
) -> Callable[[], FromBrokers[GroupOffsets]]:
    """Ask each broker for the offsets that the groups that it coordinates have committed."""
    what, asked = "report committed offsets", OffsetFetchRequest.OffsetFetchRequestGroup
    groups = {broker: commit_offsets(found) for broker, found in listed.items()}
    requests = {
        broker: OffsetFetchRequest(
            groups=[asked(group_id=name, topics=None) for name in names],
            min_version=_MANY_GROUPS,
            max_version=_BY_NAME,
        )
        for broker, names in groups.items()
        if names
    }
    wait = ask_each(connection, what, requests, _offsets_of_many, timeout_s)

    def collect() -> FromBrokers[GroupOffsets]:
        found = wait()
        given, failed = dict(found.given), dict(found.failed)
        for broker in [
            broker for broker, error in failed.items() if isinstance(error, NotServedError)
        ]:
            del failed[broker]
            given[broker] = GroupOffsets()
            for name in groups[broker]:
                request = OffsetFetchRequest(group_id=name, topics=None, max_version=_ONE_GROUP)
                one = ask_each(
                    connection, what, {broker: request}, lambda answer: answer, timeout_s
                )()
                if one.failed:
                    failed |= one.failed
                    break
                _add(given[broker], name, one.given[broker])
        return FromBrokers(given, failed)

    return collect


def _offsets_request(partitions: Iterable[TopicPartition], at: LogEnd) -> Any:  # noqa: ANN401 - kafka-python ships no types
    topic, (replica, timestamp) = ListOffsetsRequest.ListOffsetsTopic, _LIST_OFFSETS[at]
    asked: dict[str, list[Any]] = {}
    for each in partitions:
        number = topic.ListOffsetsPartition(partition_index=each.partition, timestamp=timestamp)
        asked.setdefault(each.topic, []).append(number)
    return ListOffsetsRequest(
        replica_id=replica,
        isolation_level=_READ_UNCOMMITTED,
        topics=[topic(name=name, partitions=numbers) for name, numbers in asked.items()],
        min_version=_ON_DISK if at is LogEnd.FIRST_ON_DISK else None,
    )


def _epochs_request(epochs: Mapping[TopicPartition, int]) -> Any:  # noqa: ANN401 - kafka-python ships no types
    topic = OffsetForLeaderEpochRequest.OffsetForLeaderTopic
    asked: dict[str, list[Any]] = {}
    for each, epoch in epochs.items():
        number = topic.OffsetForLeaderPartition(partition=each.partition, leader_epoch=epoch)
        asked.setdefault(each.topic, []).append(number)
    topics = [topic(topic=name, partitions=numbers) for name, numbers in asked.items()]
    return OffsetForLeaderEpochRequest(replica_id=_NO_REPLICA, topics=topics)


def _epoch_ends(answer: Any) -> LogOffsets:  # noqa: ANN401 - kafka-python ships no types
    offsets: dict[TopicPartition, int] = {}
    refused = Counter[str]()
    for topic in answer.topics:
        for each in topic.partitions:
            if each.error_code or each.end_offset == _UNKNOWN:
                refused[error_name(each.error_code) if each.error_code else EPOCHS_NOT_KEPT] += 1
            else:
                offsets[TopicPartition(topic.topic, each.partition)] = each.end_offset
    return LogOffsets(offsets, refused)


def _log_offsets(answer: Any) -> LogOffsets:  # noqa: ANN401 - kafka-python ships no types
    offsets: dict[TopicPartition, int] = {}
    refused = Counter[str]()
    leader_epochs: dict[TopicPartition, int] = {}
    for topic in answer.topics:
        for each in topic.partitions:
            partition = TopicPartition(topic.name, each.partition_index)
            if each.error_code:
                refused[error_name(each.error_code)] += 1
                continue
            offsets[partition] = each.offset
            if each.leader_epoch not in {None, _UNKNOWN}:
                leader_epochs[partition] = each.leader_epoch
    return LogOffsets(offsets, refused, leader_epochs)


def _listed(group: Any) -> ListedGroup:  # noqa: ANN401 - kafka-python ships no types
    """Read a group of ListGroups: its kind is given from Kafka 3.8 on, its state from 2.6 on."""
    kind = (group.group_type or CLASSIC).lower()
    return ListedGroup(group.group_id, kind, group.protocol_type, group.group_state or "")


def _offsets_of_many(answer: Any) -> GroupOffsets:  # noqa: ANN401 - kafka-python ships no types
    found = GroupOffsets()
    for group in answer.groups:
        _add(found, group.group_id, group)
    return found


def _add(found: GroupOffsets, name: str, answer: Any) -> None:  # noqa: ANN401 - kafka-python ships no types
    """Add the answer for a group; one that was deleted meanwhile has no offsets."""
    if answer.error_code and answer.error_code != _DELETED_GROUP:
        found.refused[name] = error_name(answer.error_code)
    elif not answer.error_code:
        found.offsets[name] = {
            TopicPartition(topic.name, each.partition_index): each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
            if not each.error_code and each.committed_offset >= 0
        }
