"""What is wrong with a plan, alone or against an assignment: pure checks that `validate` and `apply` share.

Each check returns violations in plan order, and an empty tuple where all is well.
"""

from __future__ import annotations

import difflib
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from kadmin.errors import name_some
from kadmin.plan import codes
from kadmin.plan.model import DeletionPlan, ElectionPlan, ReassignmentPlan, ThrottleBy
from kadmin.plan.units import format_size
from kadmin.plan.waves import added, bytes_alone, moved_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from kadmin.cluster.model import Assignment, Replicas, TopicPartition
    from kadmin.plan.model import Document, PartitionTarget, Plan

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})
"""Kafka `Topic.INTERNAL_TOPICS`: its tools refuse to delete them, its controller does not."""

_MOST_GUESSES = 100
"""A plan for a wholly different cluster gets no thousands of slow guesses."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing wrong; `partition`, `broker` and `topic` say where, as far as it concerns one of each.

    `field` is the path in the document where that is known or none of them says it: ("spec", "brokers", "drain", 0).
    """

    code: str
    message: str
    hint: str | None = None
    partition: TopicPartition | None = None
    broker: int | None = None
    topic: str | None = None
    field: tuple[str | int, ...] = ()
    severity: Literal["error", "warning"] = "error"


def check_alone(plan: Plan) -> tuple[Violation, ...]:
    """Every check that needs nothing but the plan itself."""
    if isinstance(plan, ReassignmentPlan):
        return (
            *_repeated_partitions(target.partition for target in plan.reassignments),
            *no_ops(plan),
            *replication_factor_changes(plan, {}),
            *wave_limits(plan),
            *_throttle_sizes(plan),
            *name_collisions(target.partition.topic for target in plan.reassignments),
        )
    if isinstance(plan, ElectionPlan):
        return (*_repeated_partitions(plan.partitions), *_repeated_topics(plan.topics))
    guards = deletion_guards(plan) if isinstance(plan, DeletionPlan) else ()
    return (*_repeated_topics(plan.topics), *guards, *name_collisions(plan.topics))


def no_ops(plan: ReassignmentPlan) -> tuple[Violation, ...]:
    """Warn of reassignments whose target is their `current`; they are skipped."""
    return tuple(
        Violation(
            codes.NO_OP,
            f"{target.partition}: target and current are both {list(target.replicas)}; it is skipped",
            partition=target.partition,
            field=("spec", "partitions", index, "replicas"),
            severity="warning",
        )
        for index, target in enumerate(plan.reassignments)
        if target.current == target.replicas
    )


def replication_factor_changes(plan: ReassignmentPlan, assignment: Assignment) -> tuple[Violation, ...]:
    """Refuse another number of replicas than now, unless waived. `assignment` serves where `current` is not given."""
    if plan.allow_replication_factor_change:
        return ()
    based = ((index, target, _base(target, assignment)) for index, target in enumerate(plan.reassignments))
    return tuple(
        Violation(
            codes.REPLICATION_FACTOR,
            f"{target.partition}: replication factor {len(base)} becomes {len(target.replicas)}",
            "set spec.allow.replication_factor_change: true if this is meant",
            partition=target.partition,
            field=("spec", "partitions", index, "replicas"),
        )
        for index, target, base in based
        if base is not None and len(base) != len(target.replicas)
    )


def wave_limits(plan: ReassignmentPlan) -> tuple[Violation, ...]:
    """Find reassignments that no wave can take, and warn where `waves.max_bytes` lacks the sizes it counts."""
    return tuple(violation for target in plan.reassignments if (violation := _wave_limit(target, plan)) is not None)


def name_collisions(topics: Iterable[str]) -> tuple[Violation, ...]:
    """Warn of topics that differ only in `.` and `_`: Kafka gives their metrics one name (Topic.hasCollision)."""
    spellings: dict[str, list[str]] = defaultdict(list)
    for topic in dict.fromkeys(topics):
        if "." in topic or "_" in topic:
            spellings[topic.replace(".", "_")].append(topic)
    return tuple(
        Violation(
            codes.NAME_COLLISION,
            f"topics {name_some(found)} differ only in . and _: their metrics have one name",
            topic=found[1],
            severity="warning",
        )
        for found in spellings.values()
        if len(found) > 1
    )


def deletion_guards(plan: DeletionPlan) -> Iterator[Violation]:
    """Find what a deletion must waive by name whatever the cluster is: Kafka's own topics, and many at once."""
    if len(plan.topics) > plan.allow_more_than:
        message = f"{len(plan.topics)} topics are to be deleted, more than {plan.allow_more_than}"
        hint = f"set spec.allow.more_than: {len(plan.topics)} if this is meant"
        yield Violation(codes.TOO_MANY_TOPICS, message, hint, field=("spec", "topics"))
    for topic in plan.topics:
        if topic in INTERNAL_TOPICS and not plan.allow_internal:
            hint = "set spec.allow.internal: true if this is meant"
            yield Violation(codes.INTERNAL_TOPIC, f"{topic} is an internal topic of Kafka", hint, topic=topic)


def unknown_names(plan: Plan, assignment: Assignment, broker_ids: Collection[int]) -> tuple[Violation, ...]:
    """Name every topic, partition and broker of the plan that the cluster does not have.

    `assignment` holds every partition of the cluster; `broker_ids` its registered brokers.
    """
    directory = _Directory(assignment)
    if isinstance(plan, ReassignmentPlan):
        return tuple(
            violation
            for target in plan.reassignments
            for violation in (*directory.missing(target.partition), *_unknown_brokers(target, frozenset(broker_ids)))
        )
    partitions = plan.partitions if isinstance(plan, ElectionPlan) else ()
    return (
        *(violation for partition in partitions for violation in directory.missing(partition)),
        *(directory.no_such_topic(topic) for topic in plan.topics if topic not in directory.counts),
    )


def stale_currents(plan: ReassignmentPlan, assignment: Assignment) -> tuple[Violation, ...]:
    """Find partitions that are neither at the `current` that the plan was made on nor already at their target."""
    found = ((target, assignment.get(target.partition)) for target in plan.reassignments)
    return tuple(
        Violation(
            codes.STALE_CURRENT,
            f"{target.partition}: the plan was made on {list(target.current)}, the cluster has {list(now)}",
            "make the plan again from a new snapshot",
            partition=target.partition,
        )
        for target, now in found
        if now is not None and target.current is not None and now not in (target.current, target.replicas)
    )


def fewer_racks(
    plan: ReassignmentPlan, assignment: Assignment, racks: Mapping[int, str | None]
) -> tuple[Violation, ...]:
    """Refuse targets on fewer racks than now, unless waived; a partition with a broker of unknown rack is passed."""
    if plan.allow_fewer_racks:
        return ()
    found = []
    for target in plan.reassignments:
        now, then = _rack_count(_base(target, assignment) or (), racks), _rack_count(target.replicas, racks)
        if now is not None and then is not None and then < now:
            message = f"{target.partition}: replicas on {now} racks come to {then}"
            hint = "choose brokers of other racks, or set spec.allow.fewer_racks: true"
            found.append(Violation(codes.FEWER_RACKS, message, hint, partition=target.partition))
    return tuple(found)


def other_cluster(plan: Document, cluster_id: str | None) -> tuple[Violation, ...]:
    """Refuse a plan that carries another cluster's id; where either side has none there is nothing to compare."""
    planned = plan.header.cluster_id
    if planned is None or cluster_id is None or planned == cluster_id:
        return ()
    message = f"the plan was made for cluster {planned}, this is cluster {cluster_id}"
    hint = "use the address or inventory of the plan's own cluster"
    return (Violation(codes.OTHER_CLUSTER, message, hint, field=("metadata", "cluster_id")),)


class _Directory:
    """The names that an assignment knows, for looking up and for suggesting."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self.counts = Counter(partition.topic for partition in assignment)
        self._suggestions: dict[str, str | None] = {}

    def missing(self, partition: TopicPartition) -> Iterator[Violation]:
        """Say that the topic or the partition is not there, if so."""
        if partition.topic not in self.counts:
            message = f"{partition}: the cluster has no topic {partition.topic}"
            yield Violation(codes.UNKNOWN_TOPIC, message, self._suggest(partition.topic), partition=partition)
        elif partition not in self._assignment:
            message = (
                f"{partition}: topic {partition.topic} has {self.counts[partition.topic]} partitions, counted from 0"
            )
            yield Violation(codes.UNKNOWN_PARTITION, message, partition=partition)

    def no_such_topic(self, topic: str) -> Violation:
        """Say that the cluster has no such topic."""
        message = f"the cluster has no topic {topic}"
        return Violation(codes.UNKNOWN_TOPIC, message, self._suggest(topic), topic=topic)

    def _suggest(self, topic: str) -> str | None:
        if topic not in self._suggestions:
            close = difflib.get_close_matches(topic, self.counts, n=1) if len(self._suggestions) < _MOST_GUESSES else []
            self._suggestions[topic] = f"did you mean {close[0]}?" if close else None
        return self._suggestions[topic]


def _unknown_brokers(target: PartitionTarget, broker_ids: frozenset[int]) -> Iterator[Violation]:
    for broker in target.replicas:
        if broker not in broker_ids:
            message = f"{target.partition}: the cluster has no broker {broker}"
            hint = f"its brokers are {name_some(sorted(broker_ids), most=10)}" if broker_ids else "none is registered"
            yield Violation(codes.UNKNOWN_BROKER, message, hint, partition=target.partition, broker=broker)


def _wave_limit(target: PartitionTarget, plan: ReassignmentPlan) -> Violation | None:
    limits, partition = plan.limits, target.partition
    if (alone := bytes_alone(target)) > limits.max_payload:
        message = f"{partition}: alone it makes a payload of {alone} bytes, more than max_payload {limits.max_payload}"
        return Violation(codes.TOO_BIG_FOR_A_WAVE, message, "raise spec.waves.max_payload", partition=partition)
    if limits.max_bytes is None or target.current is None or not added(target):
        return None
    moved = moved_bytes(target)
    if moved is None:
        message = f"{partition}: waves.max_bytes is given, but not this partition's size_bytes"
        hint = "add size_bytes, or give `apply` the sizes with --sizes FILE"
        return Violation(codes.SIZE_UNKNOWN, message, hint, partition=partition, severity="warning")
    if moved > limits.max_bytes:
        message = (
            f"{partition}: it moves {format_size(moved)}, more than waves.max_bytes {format_size(limits.max_bytes)}"
        )
        return Violation(codes.TOO_BIG_FOR_A_WAVE, message, "raise spec.waves.max_bytes", partition=partition)
    return None


def _throttle_sizes(plan: ReassignmentPlan) -> Iterator[Violation]:
    if plan.throttle is None or plan.throttle.by is not ThrottleBy.FINISH_IN:
        return
    unknown = [w.partition for w in plan.reassignments if w.size_bytes is None and w.current is not None and added(w)]
    if unknown:
        message = f"throttle.finish_in is given, but not the size_bytes of {name_some(unknown)}"
        hint = "add size_bytes, or give `apply` the sizes with --sizes FILE"
        field = ("spec", "throttle", ThrottleBy.FINISH_IN.value)
        yield Violation(codes.SIZE_UNKNOWN, message, hint, field=field, severity="warning")


def _repeated_partitions(partitions: Iterable[TopicPartition]) -> Iterator[Violation]:
    for partition, times in Counter(partitions).items():
        if times > 1:
            message = f"{partition} is named {times} times"
            yield Violation(codes.DUPLICATE_PARTITION, message, "keep one of them", partition=partition)


def _repeated_topics(topics: Iterable[str]) -> Iterator[Violation]:
    for topic, times in Counter(topics).items():
        if times > 1:
            yield Violation(codes.DUPLICATE_ENTRY, f"{topic} is named {times} times", "keep one of them", topic=topic)


def _rack_count(replicas: Replicas, racks: Mapping[int, str | None]) -> int | None:
    """Count distinct racks; None where there are no replicas, or one stands on a broker of unknown rack."""
    names = {racks.get(broker) for broker in replicas}
    return None if not names or None in names else len(names)


def _base(target: PartitionTarget, assignment: Assignment) -> Replicas | None:
    return target.current if target.current is not None else assignment.get(target.partition)
