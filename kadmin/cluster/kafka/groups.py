"""Consumer groups that keep their offsets in Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kadmin.cluster.kafka.connection import KafkaConnection
from kadmin.cluster.kafka.errors import translated
from kadmin.cluster.kafka.model import ConsumerGroup
from kadmin.cluster.kafka.newer_groups import NEWER_KINDS, describe_newer_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kadmin.cluster.kafka.newer_groups import Membership
    from kadmin.cluster.kafka.servers import Servers

_CONSUMER = "consumer"
"""The protocol type of consumers; other groups (of Connect's workers, of schema registries) subscribe to no topic."""
_CLASSIC = "classic"
"""The kind that DescribeGroups describes, the only one before 4.0."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Every group, by name."""

    listed: tuple[ConsumerGroup, ...]

    @property
    def topics(self) -> Mapping[str, frozenset[str]]:
        """The topics that each group has offsets of or subscribes to."""
        return {group.name: group.topics for group in self.listed}

    @property
    def unseen(self) -> tuple[str, ...]:
        """The groups that did not give their subscriptions."""
        return tuple(group.name for group in self.listed if group.members is None)


def describe_groups(servers: Servers) -> Groups:
    """Return every group that keeps its offsets in Kafka; raises UnreachableError or NotCompletedError."""
    with KafkaConnection(servers) as connection, translated(servers, "list consumer groups"):
        client = connection.admin()
        listed = {each["group_id"]: each for each in client.list_groups()}
        offsets = client.list_group_offsets(sorted(listed)) if listed else {}
        consumers = sorted(name for name, each in listed.items() if _kind(each) == _CLASSIC and _protocol(each))
        described = client.describe_groups(consumers) if consumers else {}
        newer = describe_newer_groups(
            connection, {name: kind for name, each in listed.items() if (kind := _kind(each)) in NEWER_KINDS}
        )
    found = (_group(listed[name], offsets.get(name, {}), described.get(name), newer.get(name)) for name in listed)
    return Groups(tuple(sorted(found, key=lambda each: each.name)))


def _group(
    listed: Mapping[str, Any],
    offsets: Mapping[Any, Any],
    described: Mapping[str, Any] | None,
    newer: Membership | None,
) -> ConsumerGroup:
    topics = {partition.topic for partition, at in offsets.items() if at.offset >= 0}
    members = 0 if _kind(listed) == _CLASSIC else None
    if newer is not None:
        topics.update(newer.topics)
        members = newer.members
    if described is not None:
        subscriptions = [member["member_metadata"] for member in described["members"]]
        topics.update(topic for each in subscriptions if each for topic in each["topics"])
        members = None if described["error"] or not all(subscriptions) else len(subscriptions)
    state = listed.get("group_state") or (described or {}).get("group_state") or ""
    return ConsumerGroup(listed["group_id"], _kind(listed), listed["protocol_type"], state, members, frozenset(topics))


def _kind(listed: Mapping[str, Any]) -> str:
    return str(listed.get("group_type") or _CLASSIC).lower()


def _protocol(listed: Mapping[str, Any]) -> bool:
    return bool(listed["protocol_type"] == _CONSUMER)
