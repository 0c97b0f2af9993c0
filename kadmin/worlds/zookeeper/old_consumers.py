"""Previews how a group of old consumers shares its partitions after a change.

Nothing is written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.errors import StalePlanError
from kadmin.insight.predict.consumers import (
    changed_hands,
    idle,
    preview_table,
    resized,
    shares,
    threads_of,
)
from kadmin.next_step import command
from kadmin.wording import name_some
from kadmin.worlds.zookeeper.reader import registrations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.cluster.groups import ConsumerRegistration
    from kadmin.insight.predict.strategy import Strategy
    from kadmin.insight.tables.table import Table
    from kadmin.worlds.zookeeper.context import ZooKeeperContext


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a group: more partitions for each topic, a number of members, a lost member."""

    add_partitions: int = 0
    members: int | None = None
    lose: str | None = None


@dataclass(frozen=True, slots=True)
class SharesPreview:
    """Partitions by thread before and after.

    It also has the number that change their owner, and threads without any afterwards.
    """

    table: Table
    changed: int
    idle: tuple[str, ...]


def preview(
    context: ZooKeeperContext, group: str, change: Change, strategy: Strategy
) -> SharesPreview:
    """Assign a group's partitions to its live old consumers, before and after a change.

    Nothing is written. Raises StalePlanError for a group without live members or topics, and for a
    member that does not exist.
    """
    context.backend.check()
    state = context.backend.read()
    members = registrations(context.store, [group])[group]
    if not members:
        raise StalePlanError(
            f"Group {group} has no live member in ZooKeeper.",
            cause=(
                "only old consumers register there; newer groups are known to their coordinator "
                "alone"
            ),
            next_step=command("consumers coordinator", group),
        )
    left = _left(members, change)
    partitions = {name: len(topic.replicas) for name, topic in state.topics.items()}
    threads = threads_of(members, partitions)
    used = {topic for topics in threads.values() for topic in topics}
    if not used:
        wanted = sorted({topic for member in members for topic in member.subscription})
        raise StalePlanError(
            f"The cluster has no topic that group {group} subscribes to.",
            cause=f"its members subscribe to {name_some(wanted)}",
            next_step=command("inspect topics"),
        )
    grown = {
        name: number + change.add_partitions * (name in used) for name, number in partitions.items()
    }
    before = shares(strategy, threads, partitions)
    after = shares(strategy, threads_of(left, partitions), grown)
    return SharesPreview(
        preview_table(before, after), len(changed_hands(before, after)), idle(after)
    )


def _left(
    members: Sequence[ConsumerRegistration], change: Change
) -> Sequence[ConsumerRegistration]:
    consumer_ids = {each.consumer_id for each in members}
    if change.lose is not None and change.lose not in consumer_ids:
        raise StalePlanError(
            f"No member {change.lose} is alive.",
            cause=f"alive are {name_some(sorted(consumer_ids))}",
        )
    left = [each for each in members if each.consumer_id != change.lose]
    return left if change.members is None else resized(left or members, change.members)
