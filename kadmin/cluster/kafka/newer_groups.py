"""Groups that DescribeGroups does not describe: of the consumer protocol (KIP-848), share and streams groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kafka.protocol.metadata import FindCoordinatorRequest

from kadmin.cluster.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.cluster.kafka.connection import KafkaConnection

_REQUESTS = {
    "consumer": ConsumerGroupDescribeRequest,
    "share": ShareGroupDescribeRequest,
    "streams": StreamsGroupDescribeRequest,
}
NEWER_KINDS = frozenset(_REQUESTS)
_GROUP = 0
"""The kind of coordinator that groups of every kind have."""


@dataclass(frozen=True, slots=True)
class Membership:
    """How many members a group has, and the topics that they subscribe to or read."""

    members: int
    topics: frozenset[str]


def describe_newer_groups(connection: KafkaConnection, kinds: Mapping[str, str]) -> dict[str, Membership]:
    """Return the members of groups, given with their kinds; groups that cannot be described are left out.

    A group that subscribes by a pattern is left out, since only brokers know what it matches. Raises as
    `KafkaConnection.ask` does.
    """
    found: dict[str, Membership] = {}
    for (coordinator, kind), names in _by_coordinator(connection, kinds).items():
        request = _REQUESTS[kind](group_ids=names, include_authorized_operations=False)
        answer = connection.ask("describe groups", request, broker_id=coordinator)
        for group in answer.groups:
            if not group.error_code and (topics := _topics(kind, group)) is not None:
                found[group.group_id] = Membership(len(group.members), frozenset(topics))
    return found


def _by_coordinator(connection: KafkaConnection, kinds: Mapping[str, str]) -> dict[tuple[int, str], list[str]]:
    request = FindCoordinatorRequest(key_type=_GROUP, coordinator_keys=sorted(kinds))
    places: dict[tuple[int, str], list[str]] = {}
    for each in connection.ask("find the coordinators of groups", request).coordinators if kinds else ():
        if not each.error_code:
            places.setdefault((each.node_id, kinds[each.key]), []).append(each.key)
    return places


def _topics(kind: str, group: Any) -> set[str] | None:  # noqa: ANN401 - kafka-python ships no types
    if kind == "streams":
        return _topics_of_topology(group.topology.subtopologies or ()) if group.topology is not None else None
    if kind == "consumer" and any(member.subscribed_topic_regex for member in group.members):
        return None
    subscribed = {topic for member in group.members for topic in member.subscribed_topic_names}
    return subscribed | {each.topic_name for member in group.members for each in member.assignment.topic_partitions}


def _topics_of_topology(subtopologies: Iterable[Any]) -> set[str]:
    topics: set[str] = set()
    for each in subtopologies:
        topics.update(each.source_topics, each.repartition_sink_topics)
        topics.update(topic.name for topic in (*each.state_changelog_topics, *each.repartition_source_topics))
    return topics
