"""Compares the rights that docs/kraft.md lists with those that brokers report for a client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.names import RECORD_TOPIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.model import OwnRights


@dataclass(frozen=True, slots=True)
class _Need:
    """A Kafka operation that needs a right, and its purpose.

    Without an `essential` one no plan can be executed. `writes` is whether it is needed only where
    operations go through the brokers.
    """

    operation: str
    needed_for: str
    essential: bool = False
    writes: bool = False


@dataclass(frozen=True, slots=True)
class LackingRight:
    """An operation that is granted neither on all of these topics nor, without any, on the cluster.

    `grant_on` names the topics of the command that grants it: all of them where many, or all that
    are seen, lack it.
    """

    operation: str
    needed_for: str
    essential: bool
    topics: tuple[str, ...] = ()
    grant_on: tuple[str, ...] = ()


_DESCRIBE = "Describe"
_CLUSTER = (
    _Need(_DESCRIBE, "reassignments in flight, sizes and the quorum", essential=True),
    _Need("Alter", "reassignments and elections", essential=True, writes=True),
    _Need("AlterConfigs", "throttles", writes=True),
    _Need("DescribeConfigs", "throttles"),
)
_TOPICS = (
    _Need("AlterConfigs", "throttles", writes=True),
    _Need("DescribeConfigs", "throttles"),
    _Need("Delete", "deletions", writes=True),
    _Need("Alter", "growths", writes=True),
)
_RECORD = tuple(
    _Need(each, "lock and record", essential=True, writes=True) for each in ("Read", "Write")
)
_MOST_NAMED = 5


def lacking_rights(rights: OwnRights, *, writes: bool = True) -> Iterator[LackingRight]:
    """Yield the missing rights.

    `writes` is whether operations go through the brokers, as they do without ZooKeeper. Rights on
    topics are those on topics that are seen.
    """
    if rights.cluster is not None:
        # Brokers report rights on the cluster only with Describe on the cluster.
        shown = _CLUSTER if _DESCRIBE in rights.cluster else _CLUSTER[:1]
        for need in shown:
            if need.operation not in rights.cluster and (writes or not need.writes):
                yield LackingRight(need.operation, need.needed_for, need.essential)
    record = {name: granted for name, granted in rights.topics.items() if name == RECORD_TOPIC}
    for needs, topics in ((_TOPICS, rights.topics), (_RECORD, record)):
        for need in needs:
            lacking = tuple(
                sorted(name for name, granted in topics.items() if need.operation not in granted)
            )
            if lacking and (writes or not need.writes):
                everywhere = len(lacking) > _MOST_NAMED or (len(lacking) == len(topics) > 1)
                grant_on = ("*",) if everywhere else lacking
                yield LackingRight(
                    need.operation, need.needed_for, need.essential, lacking, grant_on
                )
