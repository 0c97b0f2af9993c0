"""Sizes of replicas on brokers' disks, and free disk space (DescribeLogDirs, from Kafka 1.1 on)."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeLogDirsRequest

from kadmin.cluster.log_dirs import LogDirs
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name, raise_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from kadmin.cluster.servers import Servers
    from kadmin.errors import KadminError

_WHAT = "describe log directories"
_NO_BYTES = -1
"""The size of a directory's file system in the answer of a broker before Kafka 3.3."""


def describe_log_dirs(
    servers: Servers, brokers: Iterable[int], *, bootstrap_s: float | None = None
) -> LogDirs:
    """Return replica sizes and disk space of brokers, asking all at once.

    When none of them gives sizes, raises UnreachableError when no broker answers,
    NotAuthorizedError without the right DESCRIBE on the cluster, NotCompletedError for brokers
    before 1.1.
    """
    with KafkaConnection(servers, bootstrap_s=bootstrap_s) as connection:
        return ask_log_dirs(connection, brokers)()


def ask_log_dirs(
    connection: KafkaConnection, brokers: Iterable[int], timeout_s: float = REQUEST_S
) -> Callable[[], LogDirs]:
    """Ask brokers for replica sizes and disk space, all at once.

    Returns the call that waits for the answers and raises as `describe_log_dirs` does.
    """
    request = DescribeLogDirsRequest(topics=None)
    answers = {broker: _ask(connection, broker, request, timeout_s) for broker in brokers}
    return lambda: log_dirs_by(lambda broker: answers[broker](), answers)


def describe_replicas(
    connection: KafkaConnection, wanted: Mapping[int, Iterable[TopicPartition]], timeout_s: float
) -> LogDirs:
    """Return sizes of some partitions' replicas, asking all brokers at once.

    Raises as `describe_log_dirs` does.
    """
    answers = {
        broker: _ask(connection, broker, _request(wanted[broker]), timeout_s)
        for broker in sorted(wanted)
    }
    return log_dirs_by(lambda broker: answers[broker](), wanted)


def _request(partitions: Iterable[TopicPartition]) -> Any:  # noqa: ANN401 - kafka-python ships no types
    numbers: dict[str, list[int]] = {}
    for each in sorted(partitions):
        numbers.setdefault(each.topic, []).append(each.partition)
    topic = DescribeLogDirsRequest.DescribableLogDirTopic
    return DescribeLogDirsRequest(
        topics=[topic(topic=name, partitions=found) for name, found in numbers.items()]
    )


def _ask(
    connection: KafkaConnection,
    broker: int,
    request: Any,  # noqa: ANN401 - kafka-python ships no types
    timeout_s: float = REQUEST_S,
) -> Callable[[], Mapping[str, Any]]:
    wait = connection.send(_WHAT, request, broker_id=broker, timeout_s=timeout_s)

    def answer() -> Mapping[str, Any]:
        try:
            found = wait()
        except UnreachableError as error:
            message = f"Broker {broker} did not describe its log directories."
            raise UnreachableError(message, cause=error.cause) from error
        raise_for(found.error_code, None, connection.servers, _WHAT, Right("Describe"))
        if not found.results:
            raise NotCompletedError(f"Broker {broker} described none of its log directories.")
        return {"broker": broker, "log_dirs": [_plain(each) for each in found.results]}

    return answer


def _plain(directory: Any) -> dict[str, Any]:  # noqa: ANN401 - kafka-python ships no types
    """Return the fields of a log directory that are read.

    The client's own conversion takes eight times as long. A cordoned one (KIP-1066, Kafka 4.3 and
    later) takes no new replicas, whatever its free disk space.
    """
    return {
        "log_dir": directory.log_dir,
        "error_code": directory.error_code,
        "usable_bytes": 0 if directory.is_cordoned else directory.usable_bytes,
        "topics": [
            {
                "name": topic.name,
                "partitions": [
                    {
                        "partition_index": each.partition_index,
                        "partition_size": each.partition_size,
                        "is_future_key": each.is_future_key,
                    }
                    for each in topic.partitions
                ],
            }
            for topic in directory.topics
        ],
    }


def log_dirs_by(ask: Callable[[int], Mapping[str, Any]], brokers: Iterable[int]) -> LogDirs:
    """Read the answers to DescribeLogDirs as kafka-python gives them.

    Copies between directories have no size, and make a broker not empty.
    """
    sizes: dict[int, dict[TopicPartition, int]] = {}
    failed: dict[int, KadminError] = {}
    usable: dict[int, int] = {}
    failed_dirs: dict[int, tuple[NotCompletedError, ...]] = {}
    empty: set[int] = set()
    for broker in sorted(brokers):
        try:
            described = ask(broker)
            if (usable_bytes := _usable_bytes(described)) is not None:
                usable[broker] = usable_bytes
            errors = tuple(_failed_dirs(described))
            if len(errors) == len(described["log_dirs"]) and errors:
                raise errors[0]
            if errors:
                failed_dirs[broker] = errors
            sizes[broker] = _replica_sizes(described)
            if not errors and not any(each["topics"] for each in described["log_dirs"]):
                empty.add(broker)
        except (NotCompletedError, UnreachableError) as error:
            failed[broker] = error
    if failed and not sizes:
        raise next(iter(failed.values()))
    return LogDirs(sizes, failed, usable, failed_dirs, frozenset(empty))


def _usable_bytes(described: Mapping[str, Any]) -> int | None:
    rooms = [
        each.get("usable_bytes", _NO_BYTES)
        for each in described["log_dirs"]
        if not each["error_code"]
    ]
    return sum(rooms) if rooms and _NO_BYTES not in rooms else None


def _failed_dirs(described: Mapping[str, Any]) -> Iterator[NotCompletedError]:
    for directory in described["log_dirs"]:
        if directory["error_code"]:
            yield NotCompletedError(
                f"Broker {described['broker']} cannot read its log directory "
                f"{directory['log_dir']}.",
                cause=error_name(directory["error_code"]),
            )


def _replica_sizes(described: Mapping[str, Any]) -> dict[TopicPartition, int]:
    sizes: dict[TopicPartition, int] = {}
    for directory in described["log_dirs"]:
        for topic in directory["topics"]:
            for replica in topic["partitions"]:
                if not replica["is_future_key"]:
                    partition = TopicPartition(topic["name"], replica["partition_index"])
                    sizes[partition] = max(sizes.get(partition, 0), replica["partition_size"])
    return {each: sizes[each] for each in sorted(sizes, key=attrgetter("topic", "partition"))}
