"""Rules on names, which several kinds of documents share.

Topics, partitions, the cluster's id, repetitions.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from kadmin.diagnostics import Diagnostic
from kadmin.plan import codes
from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kadmin.cluster.model import Assignment, TopicPartition
    from kadmin.diagnostics import Field
    from kadmin.plan.model import Document
    from kadmin.plan.rules.world import ClusterView

_MOST_GUESSES = 100
"""The most unknown topics that get a suggestion: thousands would be slow in a plan for a wholly
different cluster."""


def other_cluster(document: Document, cluster_id: str | None) -> Iterator[Diagnostic]:
    """Refuse a document with another cluster's id; a cluster has none before Kafka 0.10.1."""
    planned = document.header.cluster_id
    if planned is not None and planned != cluster_id:
        this = "this cluster has no id" if cluster_id is None else f"this is cluster {cluster_id}"
        message = f"the document is for cluster {planned}, {this}"
        next_step = "use the address or inventory of the document's cluster"
        yield Diagnostic(codes.OTHER_CLUSTER, message, next_step, field=("metadata", "cluster_id"))


class Directory:
    """The topics and partitions of a cluster, to look names up and to suggest near ones."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self._counts = Counter(partition.topic for partition in assignment)
        self._suggestions: dict[str, str | None] = {}

    def missing_partitions(self, partitions: Iterable[TopicPartition]) -> Iterator[Diagnostic]:
        """Report partitions that do not exist, or whose topic does not."""
        for partition in partitions:
            if partition.topic not in self._counts:
                message = f"{partition}: the cluster has no topic {partition.topic}"
                yield Diagnostic(
                    codes.UNKNOWN_TOPIC,
                    message,
                    self._suggest(partition.topic),
                    partition=partition,
                )
            elif partition not in self._assignment:
                count = self._counts[partition.topic]
                partitions_of = "1 partition" if count == 1 else f"{count} partitions"
                message = (
                    f"{partition}: topic {partition.topic} has {partitions_of}, counted from 0"
                )
                yield Diagnostic(codes.UNKNOWN_PARTITION, message, partition=partition)

    def missing_topics(self, topics: Iterable[str]) -> Iterator[Diagnostic]:
        """Report topics that do not exist."""
        for topic in topics:
            if topic not in self._counts:
                message = f"the cluster has no topic {topic}"
                yield Diagnostic(codes.UNKNOWN_TOPIC, message, self._suggest(topic), topic=topic)

    def _suggest(self, topic: str) -> str | None:
        if topic not in self._suggestions:
            guess = len(self._suggestions) < _MOST_GUESSES
            near = nearest(topic, self._counts) if guess else None
            self._suggestions[topic] = None if near is None else f"did you mean {near}?"
        return self._suggestions[topic]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the name that is most like another, None where none is near."""
    return next(iter(difflib.get_close_matches(name, list(names), n=1)), None)


def repeated_partitions(partitions: Iterable[TopicPartition]) -> Iterator[Diagnostic]:
    """Report partitions that one document names more than once."""
    for partition, times in Counter(partitions).items():
        if times > 1:
            message = f"{partition} is named {times} times"
            yield Diagnostic(
                codes.DUPLICATE_PARTITION, message, "keep one of them", partition=partition
            )


def repeated_topics(topics: Iterable[str]) -> Iterator[Diagnostic]:
    """Report topics that one document names more than once."""
    for topic, times in Counter(topics).items():
        if times > 1:
            yield Diagnostic(
                codes.DUPLICATE_ENTRY,
                f"{topic} is named {times} times",
                "keep one of them",
                topic=topic,
            )


def name_collisions(topics: Iterable[str]) -> Iterator[Diagnostic]:
    """Warn of topics that differ only in `.` and `_`.

    Kafka gives their metrics one name (Topic.hasCollision).
    """
    for found in alike(topic for topic in topics if "." in topic or "_" in topic).values():
        if len(found) > 1:
            message = (
                f"topics {name_some(found)} differ only in . and _: their metrics have one name"
            )
            yield Diagnostic(codes.NAME_COLLISION, message, topic=found[1], severity="warning")


def alike(topics: Iterable[str]) -> Mapping[str, list[str]]:
    """Group topics by the name of their metrics."""
    spellings: defaultdict[str, list[str]] = defaultdict(list)
    for topic in dict.fromkeys(topics):
        spellings[topic.replace(".", "_")].append(topic)
    return spellings


def unknown_brokers(
    brokers: Iterable[int], world: ClusterView, field: Field
) -> Iterator[Diagnostic]:
    """Report brokers that are not of the cluster; `field` names them."""
    for broker in brokers:
        if broker not in world.racks:
            yield Diagnostic(
                codes.UNKNOWN_BROKER,
                f"the cluster has no broker {broker}",
                f"its brokers are {name_some(sorted(world.racks), most=10)}",
                broker=broker,
                field=field,
            )
