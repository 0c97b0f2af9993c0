"""The znodes of old consumers as a table: members, owners and offsets, with inconsistencies marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.insight.tables.table import Table, moment
from kadmin.worlds.zookeeper.znodes.consumers import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.groups import ConsumerRegistration
    from kadmin.insight.tables.table import Cell

CONSUMERS = (
    "group",
    "kind",
    "name",
    "topic",
    "partition",
    "value",
    "host",
    "started",
    "uuid",
    "idle_threads",
    "condition",
)


class ConsumerCondition(StrEnum):
    """An inconsistency in the znodes of a group."""

    ORPHANED = "orphaned"
    """The owner is a thread of a consumer that is not alive."""
    DUPLICATE = "duplicate"
    """A partition has two owners, one in each layout of the znode names."""
    IDLE_THREADS = "idle-threads"
    """A member has threads that own no partition."""


@dataclass(frozen=True, slots=True)
class GroupZnode:
    """The znode of an owner or an offset; fields that cannot be read are None."""

    topic: str
    name: str
    partition: int | None
    value: str | None


@dataclass(frozen=True, slots=True)
class OldGroup:
    """A group of old consumers. `alive` names its members (None: not known), `members` are those that were decoded."""

    name: str
    alive: frozenset[str] | None
    members: tuple[ConsumerRegistration, ...]
    owners: tuple[GroupZnode, ...]
    offsets: tuple[GroupZnode, ...]


def consumer_table(groups: Iterable[OldGroup]) -> Table:
    """Return members with their subscriptions, owners of partitions and committed offsets, by group."""
    return Table.of("consumers", CONSUMERS, (row for group in groups for row in _rows(group)))


def _rows(group: OldGroup) -> Iterator[tuple[Cell, ...]]:
    busy = {owner.value for owner in group.owners}
    for member in group.members:
        subscription = ", ".join(f"{topic} x {threads}" for topic, threads in member.subscription.items())
        threads = range(max(member.subscription.values(), default=0))
        idle = tuple(thread for thread in threads if f"{member.consumer_id}-{thread}" not in busy)
        origin = origin_of(group.name, member.consumer_id)
        yield (
            *(group.name, "member", member.consumer_id, None, None, f"{member.pattern}: {subscription}"),
            *((None, None, None) if origin is None else (origin.host, moment(origin.started_ms), origin.unique)),
            idle,
            (ConsumerCondition.IDLE_THREADS.value,) if idle else (),
        )
    times = Counter((owner.topic, owner.partition) for owner in group.owners)
    for owner in group.owners:
        judged = {
            ConsumerCondition.ORPHANED: not (group.alive is None or owner.value is None)
            and owner.value.rpartition("-")[0] not in group.alive,
            ConsumerCondition.DUPLICATE: owner.partition is not None and times[owner.topic, owner.partition] > 1,
        }
        yield _kept(group.name, "owner", owner, tuple(each.value for each, so in judged.items() if so))
    for offset in group.offsets:
        yield _kept(group.name, "offset", offset, ())


def _kept(group: str, kind: str, found: GroupZnode, condition: tuple[str, ...]) -> tuple[Cell, ...]:
    return (group, kind, found.name, found.topic, found.partition, found.value, None, None, None, (), condition)
