"""Members of groups of every kind.

They are classic groups, the consumer protocol (KIP-848), share and streams groups.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from kadmin.cluster.from_brokers import why
from kadmin.cluster.groups import CLASSIC
from kadmin.worlds.kafka.wire.errors import error_name
from kadmin.worlds.kafka.wire.from_brokers import ask_each
from kadmin.worlds.kafka.wire.messages import (
    ConsumerGroupDescribeRequest,
    ShareGroupDescribeRequest,
    StreamsGroupDescribeRequest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kadmin.cluster.groups import ListedGroup
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_CONSUMER = "consumer"
"""The protocol type of consumers; other classic groups (Connect's workers, schema registries)
subscribe to no topic."""


def _newer(message: Any, names: Sequence[str]) -> Any:  # noqa: ANN401 - kafka-python ships no types
    return message(group_ids=names, include_authorized_operations=False)


_REQUESTS: Mapping[str, Callable[[Sequence[str]], Any]] = {
    CLASSIC: lambda names: DescribeGroupsRequest(groups=names, include_authorized_operations=False),
    "consumer": partial(_newer, ConsumerGroupDescribeRequest),
    "share": partial(_newer, ShareGroupDescribeRequest),
    "streams": partial(_newer, StreamsGroupDescribeRequest),
}


@dataclass(frozen=True, slots=True)
class Membership:
    """A group's number of members, the topics that they subscribe to or read, and its state."""

    members: int
    topics: frozenset[str]
    state: str = ""


@dataclass(frozen=True, slots=True)
class Memberships:
    """The members of each group.

    `refused` has the reasons where members, or some of their topics, are unknown.
    """

    by_group: dict[str, Membership] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)


def ask_members(
    connection: KafkaConnection, listed: Mapping[int, Iterable[ListedGroup]], timeout_s: float
) -> Callable[[], Memberships]:
    """Ask each broker for the members of the groups that it coordinates.

    Nothing is raised for one without an answer. A group that subscribes by a pattern is refused,
    since only brokers can match it.
    """
    found = Memberships()
    asked: dict[str, dict[int, list[str]]] = {kind: {} for kind in _REQUESTS}
    for broker, groups in listed.items():
        for each in groups:
            if each.kind not in _REQUESTS:
                found.refused[each.name] = f"groups of the kind {each.kind} are not known here"
            elif each.kind == CLASSIC and each.protocol != _CONSUMER:
                found.by_group[each.name] = Membership(0, frozenset())
            else:
                asked[each.kind].setdefault(broker, []).append(each.name)
    waits = {
        kind: ask_each(
            connection,
            "describe groups",
            {broker: _REQUESTS[kind](names) for broker, names in by_broker.items()},
            partial(_read, kind),
            timeout_s,
        )
        for kind, by_broker in asked.items()
    }

    def collect() -> Memberships:
        for kind, wait in waits.items():
            answers = wait()
            for answer in answers.given.values():
                found.by_group.update(answer.by_group)
                found.refused.update(answer.refused)
            for broker, error in answers.failed.items():
                found.refused.update(dict.fromkeys(asked[kind][broker], why(error)))
        return found

    return collect


def _read(kind: str, answer: Any) -> Memberships:  # noqa: ANN401 - kafka-python ships no types
    found = Memberships()
    for group in answer.groups:
        topics = None if group.error_code else _topics(kind, group)
        if topics is not None:
            found.by_group[group.group_id] = Membership(
                len(group.members), frozenset(topics), group.group_state or ""
            )
        else:
            found.refused[group.group_id] = (
                error_name(group.error_code) if group.error_code else _UNREADABLE[kind]
            )
    return found


_UNREADABLE = {
    CLASSIC: "members without a subscription that can be read",
    "consumer": "members that subscribe by a pattern",
    "share": "members without a subscription that can be read",
    "streams": "members without a topology",
}


def _topics(kind: str, group: Any) -> set[str] | None:  # noqa: ANN401 - kafka-python ships no types
    if kind == CLASSIC:
        return subscribed_topics(member.member_metadata for member in group.members)
    if kind == "streams":
        return (
            _topics_of_topology(group.topology.subtopologies or ())
            if group.topology is not None
            else None
        )
    if kind == "consumer" and any(member.subscribed_topic_regex for member in group.members):
        return None
    subscribed = {topic for member in group.members for topic in member.subscribed_topic_names}
    return subscribed | {
        each.topic_name for member in group.members for each in member.assignment.topic_partitions
    }


def subscribed_topics(found: Iterable[bytes]) -> set[str] | None:
    """Return the topics of members' subscriptions (ConsumerProtocol), None if one is unreadable.

    Members send what they like, and a group that rebalances shows empty ones.
    """
    try:
        subscriptions = [ConsumerProtocolSubscription.decode(each) for each in found]
    except (struct.error, ValueError):
        return None
    return {topic for each in subscriptions for topic in each.topics or ()}


def _topics_of_topology(subtopologies: Iterable[Any]) -> set[str]:
    topics: set[str] = set()
    for each in subtopologies:
        topics.update(each.source_topics, each.repartition_sink_topics)
        topics.update(
            topic.name for topic in (*each.state_changelog_topics, *each.repartition_source_topics)
        )
    return topics
