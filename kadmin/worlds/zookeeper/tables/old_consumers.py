"""Znodes of old consumers as a table: members, owners and offsets, with inconsistencies marked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kadmin.insight.tables.table import Table, moment
from kadmin.insight.tables.zookeeper import ConsumerCondition, ConsumerRow
from kadmin.worlds.zookeeper.znodes.consumers import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.groups import ConsumerRegistration


@dataclass(frozen=True, slots=True)
class GroupZnode:
    """The znode of an owner or an offset; fields that cannot be read are None."""

    topic: str
    name: str
    partition: int | None
    value: str | None


@dataclass(frozen=True, slots=True)
class OldGroup:
    """A group of old consumers.

    `alive` names its members (None: not known), `members` are those that were decoded.
    """

    name: str
    alive: frozenset[str] | None
    members: tuple[ConsumerRegistration, ...]
    owners: tuple[GroupZnode, ...]
    offsets: tuple[GroupZnode, ...]


def consumer_table(groups: Iterable[OldGroup]) -> Table:
    """Return members with subscriptions, owners of partitions and committed offsets, by group."""
    return Table.of("consumers", ConsumerRow, (row for group in groups for row in _rows(group)))


def _rows(group: OldGroup) -> Iterator[ConsumerRow]:
    busy = {owner.value for owner in group.owners}
    for member in group.members:
        subscription = ", ".join(
            f"{topic} x {threads}" for topic, threads in member.subscription.items()
        )
        threads = range(max(member.subscription.values(), default=0))
        idle = tuple(thread for thread in threads if f"{member.consumer_id}-{thread}" not in busy)
        origin = origin_of(group.name, member.consumer_id)
        yield ConsumerRow(
            group.name,
            "member",
            member.consumer_id,
            value=f"{member.pattern}: {subscription}",
            host=None if origin is None else origin.host,
            started=None if origin is None else moment(origin.started_ms),
            uuid=None if origin is None else origin.unique,
            idle_threads=idle,
            condition=(ConsumerCondition.IDLE_THREADS,) if idle else (),
        )
    times = Counter((owner.topic, owner.partition) for owner in group.owners)
    for owner in group.owners:
        judged = {
            ConsumerCondition.ORPHANED: not (group.alive is None or owner.value is None)
            and owner.value.rpartition("-")[0] not in group.alive,
            ConsumerCondition.DUPLICATE: owner.partition is not None
            and times[owner.topic, owner.partition] > 1,
        }
        condition = tuple(each for each, so in judged.items() if so)
        kept = ConsumerRow(
            group.name, "owner", owner.name, owner.topic, owner.partition, owner.value
        )
        yield replace(kept, condition=condition)
    for offset in group.offsets:
        yield ConsumerRow(
            group.name, "offset", offset.name, offset.topic, offset.partition, offset.value
        )
