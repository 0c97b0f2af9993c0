"""Brokers' log directories: their replicas and disk space, and moves of replicas between them.

DescribeLogDirs and AlterReplicaLogDirs, from Kafka 1.1 on.
"""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka.protocol.admin import AlterReplicaLogDirsRequest, DescribeLogDirsRequest

from kadmin.cluster.disks import Disk, DiskReplica, DiskState, usable_bytes
from kadmin.cluster.log_dirs import LogDirs
from kadmin.cluster.model import TopicPartition
from kadmin.cluster.rights import Right
from kadmin.errors import NotCompletedError, UnreachableError
from kadmin.worlds.kafka.wire.client import REQUEST_S
from kadmin.worlds.kafka.wire.connection import KafkaConnection
from kadmin.worlds.kafka.wire.errors import error_name, raise_for
from kadmin.worlds.kafka.wire.refusals import CHANGE_S, refusal, require_confirmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kadmin.cluster.servers import Servers
    from kadmin.errors import KadminError
    from kadmin.worlds.kafka.wire.refusals import Refusal

REPLICA_NOT_AVAILABLE = 9
"""The answer for a replica that is not on the broker: it remembers the directory."""
UNKNOWN_TOPIC_OR_PARTITION = 3
"""The answer for a topic that the broker does not have in its metadata: it remembers it, too."""
_WHAT = "describe log directories"
_NO_BYTES = -1
"""The size of a directory's file system in the answer of a broker before Kafka 3.3."""


class DescribedDir(NamedTuple):
    """A log directory in an answer, with the code of its error."""

    disk: Disk
    error_code: int
    replicas: Sequence[DiskReplica]


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


def alter_log_dirs(
    connection: KafkaConnection,
    broker_id: int,
    wanted: Mapping[str, Iterable[TopicPartition]],
    *,
    send_by: float = math.inf,
) -> dict[TopicPartition, Refusal | None]:
    """Name the log directories of a broker in which its replicas are to be, by their paths.

    Returns None for each move that the broker begins, and for a replica that is there already: that
    ends its move to another directory. REPLICA_NOT_AVAILABLE is the answer for a replica that the
    broker does not have: it remembers the directory until it gets the replica or is restarted.
    Raises as `KafkaConnection.change` does; what was not answered may still be done.
    """
    of_dir, of_topic = (
        AlterReplicaLogDirsRequest.AlterReplicaLogDir,
        AlterReplicaLogDirsRequest.AlterReplicaLogDir.AlterReplicaLogDirTopic,
    )
    dirs = [
        of_dir(
            path=path,
            topics=[
                of_topic(name=name, partitions=numbers)
                for name, numbers in _by_topic(partitions).items()
            ],
        )
        for path, partitions in sorted(wanted.items())
    ]
    answer = connection.change(
        "move replicas between its log directories",
        AlterReplicaLogDirsRequest(dirs=dirs),
        timeout_s=CHANGE_S,
        broker_id=broker_id,
        send_by=send_by,
    )
    found = {
        TopicPartition(topic.topic_name, each.partition_index): each.error_code
        for topic in answer.results
        for each in topic.partitions
    }
    require_confirmed(found.values(), "moves", f"Broker {broker_id}")
    return {each: refusal(code, None, Right("Alter")) for each, code in found.items()}


def _request(partitions: Iterable[TopicPartition]) -> Any:  # noqa: ANN401 - kafka-python ships no types
    topic = DescribeLogDirsRequest.DescribableLogDirTopic
    return DescribeLogDirsRequest(
        topics=[
            topic(topic=name, partitions=numbers) for name, numbers in _by_topic(partitions).items()
        ]
    )


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    numbers: dict[str, list[int]] = {}
    for each in sorted(partitions):
        numbers.setdefault(each.topic, []).append(each.partition)
    return numbers


def _ask(
    connection: KafkaConnection,
    broker: int,
    request: Any,  # noqa: ANN401 - kafka-python ships no types
    timeout_s: float = REQUEST_S,
) -> Callable[[], Sequence[DescribedDir]]:
    wait = connection.send(_WHAT, request, broker_id=broker, timeout_s=timeout_s)

    def answer() -> Sequence[DescribedDir]:
        try:
            found = wait()
        except UnreachableError as error:
            message = f"Broker {broker} did not describe its log directories."
            raise UnreachableError(message, cause=error.cause) from error
        raise_for(found.error_code, None, connection.servers, _WHAT, Right("Describe"))
        if not found.results:
            raise NotCompletedError(f"Broker {broker} described none of its log directories.")
        return [_described(broker, each) for each in found.results]

    return answer


def _described(broker: int, directory: Any) -> DescribedDir:  # noqa: ANN401 - kafka-python ships no types
    """Read a log directory; fields that the version of the answer lacks have their defaults."""
    path, code = directory.log_dir, directory.error_code
    state = DiskState.CORDONED if directory.is_cordoned else DiskState.ONLINE
    total, usable = (
        None if told == _NO_BYTES else told
        for told in (directory.total_bytes, directory.usable_bytes)
    )
    replicas = [
        DiskReplica(
            TopicPartition(topic.name, each.partition_index),
            broker,
            path,
            each.partition_size,
            each.is_future_key,
            each.offset_lag,
        )
        for topic in directory.topics
        for each in topic.partitions
    ]
    disk = Disk(broker, path, total, usable, DiskState.FAILED if code else state)
    return DescribedDir(disk, code, replicas)


def log_dirs_by(ask: Callable[[int], Sequence[DescribedDir]], brokers: Iterable[int]) -> LogDirs:
    """Collect the log directories of brokers.

    Copies between directories have no size, and make a broker not empty.
    """
    sizes: dict[int, dict[TopicPartition, int]] = {}
    failed: dict[int, KadminError] = {}
    usable: dict[int, int] = {}
    failed_dirs: dict[int, tuple[NotCompletedError, ...]] = {}
    disks: dict[int, tuple[Disk, ...]] = {}
    replicas: dict[int, tuple[DiskReplica, ...]] = {}
    for broker in sorted(brokers):
        try:
            described = sorted(ask(broker), key=lambda each: each.disk.path)
        except (NotCompletedError, UnreachableError) as error:
            failed[broker] = error
            continue
        disks[broker] = tuple(each.disk for each in described)
        errors = tuple(_failure(each) for each in described if each.error_code)
        if errors and len(errors) == len(described):
            failed[broker] = errors[0]
            continue
        if errors:
            failed_dirs[broker] = errors
        if (room := usable_bytes(disks[broker])) is not None:
            usable[broker] = room
        replicas[broker] = tuple(
            sorted(
                (replica for each in described for replica in each.replicas),
                key=attrgetter("partition.topic", "partition.partition"),
            )
        )
        sizes[broker] = _replica_sizes(replicas[broker])
    if failed and not sizes:
        raise next(iter(failed.values()))
    empty = frozenset(
        broker for broker, found in replicas.items() if not found and broker not in failed_dirs
    )
    return LogDirs(sizes, failed, usable, failed_dirs, empty, disks, replicas)


def _failure(directory: DescribedDir) -> NotCompletedError:
    disk = directory.disk
    return NotCompletedError(
        f"Broker {disk.broker_id} cannot read its log directory {disk.path}.",
        cause=error_name(directory.error_code),
    )


def _replica_sizes(replicas: Iterable[DiskReplica]) -> dict[TopicPartition, int]:
    sizes: dict[TopicPartition, int] = {}
    for each in replicas:
        if not each.is_future:
            sizes[each.partition] = max(sizes.get(each.partition, 0), each.size_bytes or 0)
    return sizes
