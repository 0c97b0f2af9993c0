"""Kafka brokers, reached over their own protocol; the only module that knows kafka-python.

Used where ZooKeeper cannot answer: sizes on disk, settings that brokers run with, groups that keep their offsets in
Kafka, and records in and out of a practice cluster. Works with brokers from 0.10.2 on; settings from 0.11, sizes from
1.1.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import kafka
from kafka import errors
from kafka.admin import ConfigResource, ConfigResourceType

from kadmin.cluster.model import TopicPartition
from kadmin.errors import NotCompletedError, StalePlanError, UnreachableError, name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from kadmin.errors import KadminError

BOOTSTRAP_S = 15.0
QUESTION_S = 5.0
"""How long a question may wait for a first broker to answer: what asks has an answer for silence, too."""
PROGRESS_S = 30.0
"""How long nothing may arrive before a call gives up."""
DELIVERY_S = 120.0
"""How long a record may wait for its acknowledgement: it is queued behind all that are written with it."""

_POLL_MS = 500
_CONSUMER = "consumer"
"""The protocol type of consumers; other groups (of Connect's workers, of schema registries) subscribe to no topic."""

_TIMES: dict[str, Any] = {
    "bootstrap_timeout_ms": int(BOOTSTRAP_S * 1000),
    "request_timeout_ms": 10_000,
    "reconnect_backoff_max_ms": 1_000,
}


def produce(bootstrap: Sequence[str], records: Mapping[TopicPartition, Sequence[bytes]]) -> None:
    """Write values to partitions, in order, and wait until all in-sync replicas have them.

    Raises UnreachableError when no broker answers, StalePlanError for a partition that does not exist, and
    NotCompletedError when a record was not acknowledged.
    """
    limits = {"delivery_timeout_ms": int(DELIVERY_S * 1000), "max_block_ms": int(BOOTSTRAP_S * 1000)}
    with _translated(bootstrap, "write records"):
        producer = kafka.KafkaProducer(bootstrap_servers=list(bootstrap), acks="all", linger_ms=5, **_TIMES, **limits)
        try:
            for topic in sorted({partition.topic for partition in records}):
                _require_present(producer.partitions_for(topic) or (), records, topic)
            pending = [
                producer.send(partition.topic, value=value, partition=partition.partition)
                for partition, values in records.items()
                for value in values
            ]
            for each in pending:
                each.get(timeout=DELIVERY_S)
        finally:
            producer.close(timeout=PROGRESS_S)


def consume_all(bootstrap: Sequence[str], partitions: Iterable[TopicPartition]) -> dict[TopicPartition, list[bytes]]:
    """Read every value from the beginning of the partitions to the end that they had at the start, in offset order.

    Nothing is committed. Raises UnreachableError when no broker answers, StalePlanError for a partition that does not
    exist, and NotCompletedError when records stop coming.
    """
    with _translated(bootstrap, "read records"):
        consumer = kafka.KafkaConsumer(
            bootstrap_servers=list(bootstrap), enable_auto_commit=False, auto_offset_reset="earliest", **_TIMES
        )
        try:
            asked = {kafka.TopicPartition(each.topic, each.partition): each for each in partitions}
            for topic in sorted({partition.topic for partition in asked.values()}):
                _require_present(consumer.partitions_for_topic(topic), asked.values(), topic)
            return _drain(consumer, asked)
        finally:
            consumer.close(autocommit=False)


@dataclass(frozen=True, slots=True)
class LogDirs:
    """The bytes on disk of every replica, by broker; `failed`: why not, of brokers that are silent or cannot say."""

    sizes: Mapping[int, Mapping[TopicPartition, int]]
    failed: Mapping[int, KadminError]


def describe_log_dirs(bootstrap: Sequence[str], brokers: Iterable[int]) -> LogDirs:
    """Return what each of the brokers has on disk, asking one after the other.

    Where none of them says so, raises UnreachableError when no broker answers, NotCompletedError for brokers before
    1.1.
    """
    with _asking(bootstrap, "describe log directories") as client:

        def ask(broker: int) -> Mapping[str, Any]:
            try:
                (described,) = client.describe_log_dirs(brokers=[broker])
            except errors.IncompatibleBrokerVersion:
                raise
            except errors.KafkaError as error:
                message = f"Broker {broker} did not describe its log directories."
                raise UnreachableError(message, cause=str(error)) from error
            return dict(described)

        return log_dirs_by(ask, brokers)


def log_dirs_by(ask: Callable[[int], Mapping[str, Any]], brokers: Iterable[int]) -> LogDirs:
    """Read the answers to DescribeLogDirs as kafka-python has them; copies between directories do not count."""
    sizes: dict[int, dict[TopicPartition, int]] = {}
    failed: dict[int, KadminError] = {}
    for broker in sorted(brokers):
        try:
            sizes[broker] = _replica_sizes(ask(broker))
        except (NotCompletedError, UnreachableError) as error:
            failed[broker] = error
    if failed and not sizes:
        raise next(iter(failed.values()))
    return LogDirs(sizes, failed)


def describe_settings(
    bootstrap: Sequence[str], brokers: Iterable[int], names: Sequence[str]
) -> dict[int, dict[str, str]]:
    """Return some settings that brokers run with, defaults included, by broker; without those that a broker has not.

    Raises UnreachableError when no broker answers, NotCompletedError for brokers before 0.11 and for one that does not.
    """
    asked = [ConfigResource(ConfigResourceType.BROKER, str(broker), list(names)) for broker in brokers]
    with _asking(bootstrap, "describe settings") as client:
        described = client.describe_configs(asked, config_filter="all").get("broker", {})
    return {
        int(broker): {name: each["value"] for name, each in settings.items() if each["value"] is not None}
        for broker, settings in described.items()
    }


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups that keep their offsets in Kafka. `topics`: what each has offsets of or subscribes to.

    `unseen` names those whose subscriptions their coordinator did not tell, as in the middle of a rebalance.
    """

    topics: Mapping[str, frozenset[str]]
    unseen: tuple[str, ...]


def describe_groups(bootstrap: Sequence[str]) -> Groups:
    """Return every group that keeps its offsets in Kafka.

    Raises UnreachableError when no broker answers, NotCompletedError when a broker or coordinator does not.
    """
    with _asking(bootstrap, "list consumer groups") as client:
        kinds = {each["group_id"]: each["protocol_type"] for each in client.list_groups()}
        offsets = client.list_group_offsets(sorted(kinds)) if kinds else {}
        consumers = sorted(group for group, kind in kinds.items() if kind == _CONSUMER)
        described = client.describe_groups(consumers) if consumers else {}
    topics = {group: {each.topic for each, at in offsets.get(group, {}).items() if at.offset >= 0} for group in kinds}
    unseen = []
    for group, found in described.items():
        subscriptions = [member["member_metadata"] for member in found["members"]]
        topics[group].update(topic for each in subscriptions if each for topic in each["topics"])
        if found["error"] or not all(subscriptions):
            unseen.append(group)
    return Groups({group: frozenset(topics[group]) for group in sorted(topics)}, tuple(sorted(unseen)))


def _require_present(present: Collection[int], asked: Iterable[TopicPartition], topic: str) -> None:
    absent = sorted(each for each in asked if each.topic == topic and each.partition not in present)
    if absent:
        raise StalePlanError(f"The cluster does not have {name_some(absent)}.")


def _drain(consumer: Any, asked: Mapping[Any, TopicPartition]) -> dict[TopicPartition, list[bytes]]:  # noqa: ANN401 - kafka-python ships no types
    found: dict[TopicPartition, list[bytes]] = {partition: [] for partition in asked.values()}
    if not asked:
        return found
    consumer.assign(list(asked))
    ends = consumer.end_offsets(list(asked), timeout_ms=int(PROGRESS_S * 1000))
    consumer.seek_to_beginning(*asked)
    give_up = time.monotonic() + PROGRESS_S
    while unread := [each for each in asked if consumer.position(each) < ends[each]]:
        batches = consumer.poll(timeout_ms=_POLL_MS)
        for partition, batch in batches.items():
            found[asked[partition]] += [record.value or b"" for record in batch if record.offset < ends[partition]]
        if batches:
            give_up = time.monotonic() + PROGRESS_S
        elif time.monotonic() > give_up:
            raise NotCompletedError(
                f"No record of {asked[unread[0]]} came for {PROGRESS_S:g} s; {len(unread)} partitions are not read.",
                next_command="check that the leaders of these partitions are alive",
            )
    return found


def _replica_sizes(described: Mapping[str, Any]) -> dict[TopicPartition, int]:
    sizes: dict[TopicPartition, int] = {}
    for directory in described["log_dirs"]:
        if directory["error_code"]:
            error = errors.for_code(directory["error_code"]).__name__.removesuffix("Error")
            raise NotCompletedError(
                f"Broker {described['broker']} cannot read its log directory {directory['log_dir']}.", cause=error
            )
        for topic in directory["topics"]:
            for replica in topic["partitions"]:
                if not replica["is_future_key"]:
                    partition = TopicPartition(topic["name"], replica["partition_index"])
                    sizes[partition] = max(sizes.get(partition, 0), replica["partition_size"])
    return dict(sorted(sizes.items()))


@contextmanager
def _asking(bootstrap: Sequence[str], what: str) -> Iterator[Any]:
    times = {**_TIMES, "bootstrap_timeout_ms": min(_TIMES["bootstrap_timeout_ms"], int(QUESTION_S * 1000))}
    with _translated(bootstrap, what):
        client = kafka.KafkaAdminClient(bootstrap_servers=list(bootstrap), **times)
        try:
            yield client
        finally:
            client.close()


@contextmanager
def _translated(bootstrap: Sequence[str], what: str) -> Iterator[None]:
    servers = ",".join(bootstrap)
    try:
        yield
    except errors.IncompatibleBrokerVersion as error:
        raise NotCompletedError(
            f"The brokers at {servers} are too old to {what}.",
            cause=str(error),
            next_command="0.11 tells settings, 1.1 tells sizes; sizes may come from a file (--sizes)",
        ) from error
    except (errors.KafkaConnectionError, errors.KafkaTimeoutError) as error:
        raise UnreachableError(
            f"No Kafka broker at {servers} answered in time to {what}.",
            cause=str(error),
            next_command="check the addresses, and that the brokers run",
        ) from error
    except errors.KafkaError as error:
        raise NotCompletedError(f"The brokers at {servers} did not {what}.", cause=str(error)) from error
