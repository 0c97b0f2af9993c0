"""Asks for the evidence of a recovery: what is known of the logs of partitions without a leader."""

from __future__ import annotations

from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from kadmin.cluster.from_brokers import FromBrokers, why
from kadmin.cluster.names import escaped
from kadmin.cluster.offsets import LogEnd
from kadmin.errors import KadminError
from kadmin.plan.recovery import KnownEnd, LogEvidence, living_replicas, without_leader
from kadmin.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.operations.context import Clock, Context
    from kadmin.operations.port import LiveBrokers

    Sampled = Mapping[TopicPartition, tuple[int, datetime]]
    ByPartition = defaultdict[TopicPartition, dict[int, int]]

Answer = TypeVar("Answer")

TIMEOUT_S = 10.0
_STARTING_S = 5.0
"""Seconds after which a broker has heard of the replicas that it has."""
_MOST_RECORDS = 50
"""Operations on record whose high watermarks are read, the latest."""


def read_evidence(
    context: Context, state: ClusterState, sampled: Sampled
) -> tuple[Mapping[TopicPartition, LogEvidence], tuple[str, ...]]:
    """Return the evidence by partition without a leader, and what nobody answered.

    Living replicas tell the ends and the bytes of their copies, groups the offsets that they
    committed, operations on record the high watermarks at their beginning. Nothing is raised for a
    broker that does not answer.
    """
    lost = without_leader(state)
    held: dict[int, list[TopicPartition]] = {}
    for partition in lost:
        for broker in living_replicas(partition, state):
            held.setdefault(broker, []).append(partition)
    unknown: list[str] = []
    with closing(context.backend.brokers(state)) as brokers:
        ends = _ends(context.clock, brokers, held, unknown)
        sizes = _sizes(brokers, held, unknown)
        known = _committed(brokers, state, frozenset(lost), unknown)
    for partition, found in _on_record(context, state, frozenset(lost), unknown):
        known[partition].append(found)
    return {
        partition: LogEvidence(
            ends[partition],
            sizes[partition],
            tuple(known[partition]),
            _last_sample(sampled.get(partition)),
        )
        for partition in lost
    }, tuple(unknown)


def _ends(
    clock: Clock,
    brokers: LiveBrokers,
    held: Mapping[int, Iterable[TopicPartition]],
    unknown: list[str],
) -> ByPartition:
    """Return the ends of living copies; a broker that has just started is asked again."""
    ends: ByPartition = defaultdict(dict)
    for _ in clock.poll(_STARTING_S):
        missing: list[str] = []
        found = _asked(
            held,
            lambda: brokers.log_offsets(held, LogEnd.WRITTEN, TIMEOUT_S),
            "the ends of copies",
            missing,
        )
        if not any(answer.refused for answer in found.given.values()):
            break
    unknown += missing
    for broker, answer in found.given.items():
        for partition, offset in answer.offsets.items():
            ends[partition][broker] = offset
        unknown += (
            f"ends of {count(number, 'copy', 'copies')} at broker {broker} are not known: {name}"
            for name, number in sorted(answer.refused.items())
        )
    return ends


def _sizes(
    brokers: LiveBrokers, held: Mapping[int, Iterable[TopicPartition]], unknown: list[str]
) -> ByPartition:
    sizes: ByPartition = defaultdict(dict)
    wanted = {broker: tuple(partitions) for broker, partitions in held.items()}
    try:
        found = brokers.replica_sizes(wanted, TIMEOUT_S) if wanted else None
    except KadminError as error:
        unknown.append(f"the bytes of copies are not known: {why(error)}")
        found = None
    for broker, by_partition in {} if found is None else found.sizes.items():
        for partition, size_bytes in by_partition.items():
            sizes[partition][broker] = size_bytes
    return sizes


def _committed(
    brokers: LiveBrokers,
    state: ClusterState,
    lost: frozenset[TopicPartition],
    unknown: list[str],
) -> defaultdict[TopicPartition, list[KnownEnd]]:
    known: defaultdict[TopicPartition, list[KnownEnd]] = defaultdict(list)
    found = _asked(lost, lambda: brokers.group_offsets(state.brokers), "committed offsets", unknown)
    for answer in found.given.values():
        for group, offsets in sorted(answer.offsets.items()):
            for partition in lost & offsets.keys():
                source = f"committed by group {escaped(group)}"
                known[partition].append(KnownEnd(offsets[partition], source))
        unknown += (
            f"the offsets of group {escaped(group)} are not known: {reason}"
            for group, reason in sorted(answer.refused.items())
        )
    return known


def _asked(
    about: object, question: Callable[[], FromBrokers[Answer]], what: str, unknown: list[str]
) -> FromBrokers[Answer]:
    """Return the answers to a question, if there is anything to ask; name the missing ones."""
    if not about:
        return FromBrokers({}, {})
    try:
        found = question()
    except KadminError as error:
        unknown.append(f"{what} are not known: {why(error)}")
        return FromBrokers({}, {})
    unknown += (
        f"{what} at broker {broker} are not known: {why(error)}"
        for broker, error in found.failed.items()
    )
    return found


def _on_record(
    context: Context,
    state: ClusterState,
    lost: frozenset[TopicPartition],
    unknown: list[str],
) -> Iterator[tuple[TopicPartition, KnownEnd]]:
    """Yield the high watermarks that operations found at their beginning."""
    if not lost:
        return
    try:
        latest = [each for each in context.operations.listings() if each.status.state.has_record]
        records = context.read_each(
            latest[-_MOST_RECORDS:], lambda each: context.operations.record(each.operation_id)
        )
    except KadminError as error:
        unknown.append(f"operations on record were not read: {error.message}")
        return
    for record in records.values():
        for partition in lost & record.high_watermarks.keys():
            found = record.high_watermarks[partition]
            # A topic that was made again begins with its epochs anew.
            if found.leader_epoch <= state.states[partition].leader_epoch:
                source = f"seen by operation {record.operation_id}"
                yield partition, KnownEnd(found.offset, source)


def _last_sample(sample: tuple[int, datetime] | None) -> KnownEnd | None:
    if sample is None:
        return None
    offset, at = sample
    return KnownEnd(offset, f"sampled at {at:%Y-%m-%dT%H:%M:%SZ}")
