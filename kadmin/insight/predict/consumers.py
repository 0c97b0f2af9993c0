"""Computes the partitions that each member of a group gets.

It also computes a group's partition of `__consumer_offsets`.

Kafka: RangeAssignor, RoundRobinAssignor and GroupMetadataManager.partitionFor; names are in Java's
order, by UTF-16 units. Members are consumer ids, or consumer threads (`<consumer id>-<thread>`) of
the old consumers.

kafka-python's assignors are not used. Once round robin of 3.0.12 passes a member over, it looks the
next one up by the pair of group_instance_id and member_id, not by its id, and raises KeyError:
(None, 'b'). No input avoids that where members have different topics (23 of the 25 recorded
groups). Its range agrees, and needs an adapter as long as `range_shares`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import count, cycle, islice
from typing import TYPE_CHECKING, Annotated, TypeAlias

from kadmin.cluster.model import TopicPartition
from kadmin.insight.predict.strategy import Strategy
from kadmin.insight.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from kadmin.cluster.groups import ConsumerRegistration

Subscriptions: TypeAlias = "Mapping[str, Collection[str]]"
"""Topics by member."""
Shares: TypeAlias = dict[str, tuple[TopicPartition, ...]]
"""Partitions by member, in the order in which they were given; every member is there."""

OFFSETS = "__consumer_offsets"

_SIGN = 1 << 31
_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class OwnerRow:
    """The owners of a partition before and after a change."""

    topic: Annotated[str, "Topic."]
    partition: Annotated[int, "Partition."]
    before: Annotated[
        str | None,
        "Member or consumer thread that owns the partition now; null for a partition that does "
        "not exist yet.",
    ]
    after: Annotated[
        str | None, "Member or consumer thread that owns the partition afterwards; null for none."
    ]
    changes_hands: Annotated[bool, "Whether the owner changes."]


@dataclass(frozen=True, slots=True)
class CoordinatorRow:
    """The coordinator of a group."""

    group: Annotated[str, "Name of the group."]
    partition: Annotated[int, "Its partition of __consumer_offsets."]
    broker: Annotated[int | None, "The leader of that partition; null when there is none."]


def range_shares(subscriptions: Subscriptions, partitions: Mapping[str, int]) -> Shares:
    """Share each topic separately.

    Its P partitions in C consecutive runs, the first P mod C of them one longer. `partitions` is
    how many each topic has; a topic that is not in it has none.
    Example: 5 partitions for members a and b: a gets 0, 1, 2 and b gets 3, 4.
    """
    shares: defaultdict[str, list[TopicPartition]] = defaultdict(list)
    for topic in _in_order({topic for topics in subscriptions.values() for topic in topics}):
        members = _in_order(member for member, topics in subscriptions.items() if topic in topics)
        each, longer = divmod(partitions.get(topic, 0), len(members))
        for position, member in enumerate(members):
            start = each * position + min(position, longer)
            length = each + (position < longer)
            shares[member] += [
                TopicPartition(topic, number) for number in range(start, start + length)
            ]
    return {member: tuple(shares[member]) for member in _in_order(subscriptions)}


def round_robin_shares(subscriptions: Subscriptions, partitions: Mapping[str, int]) -> Shares:
    """Deal all partitions out in turn, by topic and number.

    A member without the topic is passed over.

    Example: topics x and y of two partitions each for members a and b: a gets x-0 and y-0, b gets
    x-1 and y-1.
    """
    members = _in_order(subscriptions)
    shares: dict[str, list[TopicPartition]] = {member: [] for member in members}
    turn = cycle(members)
    for topic in _in_order({topic for topics in subscriptions.values() for topic in topics}):
        for number in range(partitions.get(topic, 0)):
            member = next(each for each in turn if topic in subscriptions[each])
            shares[member].append(TopicPartition(topic, number))
    return {member: tuple(found) for member, found in shares.items()}


def shares(
    strategy: Strategy, subscriptions: Subscriptions, partitions: Mapping[str, int]
) -> Shares:
    """Assign the partitions to members by a strategy."""
    share = range_shares if strategy is Strategy.RANGE else round_robin_shares
    return share(subscriptions, partitions)


def threads_of(
    members: Iterable[ConsumerRegistration], topics: Collection[str]
) -> dict[str, list[str]]:
    """Return the topics of each consumer thread, `<consumer id>-<number>`.

    Patterns are looked up among `topics`.

    Kafka: TopicCount.makeConsumerThreadIdsPerTopic.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for member in members:
        for topic in sorted(topics):
            for number in range(member.threads(topic)):
                found[f"{member.consumer_id}-{number}"].append(topic)
    return dict(found)


def resized(
    members: Sequence[ConsumerRegistration], number: int
) -> tuple[ConsumerRegistration, ...]:
    """Return `number` members, the first by name.

    If there are fewer, the others subscribe as the first one does.
    """
    ordered = sorted(members, key=lambda each: _utf16(each.consumer_id))
    taken = {each.consumer_id for each in ordered}
    names = (name for index in count(1) if (name := f"new-{index}") not in taken)
    more = [
        replace(ordered[0], consumer_id=name)
        for name in islice(names, max(0, number - len(ordered)))
    ]
    return (*ordered[:number], *more)


def preview_table(before: Shares, after: Shares) -> Table:
    """Return the owner of each partition before and after.

    None where it has no owner or does not exist.
    """
    owners = [
        {partition: member for member, each in found.items() for partition in each}
        for found in (before, after)
    ]
    moved = set(changed_hands(before, after))
    rows = (
        OwnerRow(
            each.topic, each.partition, owners[0].get(each), owners[1].get(each), each in moved
        )
        for each in sorted({*owners[0], *owners[1]})
    )
    return Table.of("assignments", OwnerRow, rows)


def idle(found: Shares) -> tuple[str, ...]:
    """Return the members that get no partition."""
    return tuple(member for member, partitions in found.items() if not partitions)


def changed_hands(before: Shares, after: Shares) -> tuple[TopicPartition, ...]:
    """Return the partitions that have another owner after than before.

    New partitions are among them.
    """
    owners = {partition: member for member, found in before.items() for partition in found}
    moved = (p for member, found in after.items() for p in found if owners.get(p) != member)
    return tuple(sorted(moved))


def coordinating_partition(group: str, offsets_partitions: int) -> int:
    """Return the partition of `__consumer_offsets` whose leader is the group's coordinator.

    It is the absolute value of Java's hash of the name modulo their number; the smallest int counts
    as 0.
    """
    found = _java_hash(group)
    signed = found - _WORD if found >= _SIGN else found
    return (0 if signed == -_SIGN else abs(signed)) % offsets_partitions


def _java_hash(name: str) -> int:
    found = 0
    for unit in _utf16(name):
        found = (31 * found + unit) % _WORD
    return found


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=_utf16)


def _utf16(name: str) -> tuple[int, ...]:
    data = name.encode("utf-16-be", errors="surrogatepass")
    return tuple(int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2))
