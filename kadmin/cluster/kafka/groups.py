"""Consumer groups that keep their offsets in Kafka."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.cluster.kafka.connection import KafkaConnection, translated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_CONSUMER = "consumer"
"""The protocol type of consumers; other groups (of Connect's workers, of schema registries) subscribe to no topic."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups that keep their offsets in Kafka. `topics`: the topics that each has offsets of or subscribes to.

    `unseen` names the groups whose coordinator did not give their subscriptions, as in the middle of a rebalance.
    """

    topics: Mapping[str, frozenset[str]]
    unseen: tuple[str, ...]


def describe_groups(bootstrap: Sequence[str]) -> Groups:
    """Return every group that keeps its offsets in Kafka.

    Raises UnreachableError when no broker answers, NotCompletedError when a broker or coordinator does not.
    """
    with KafkaConnection(bootstrap) as connection, translated(bootstrap, "list consumer groups"):
        client = connection.admin()
        kinds = {each["group_id"]: each["protocol_type"] for each in client.list_groups()}
        offsets = client.list_group_offsets(sorted(kinds)) if kinds else {}
        consumers = sorted(group for group, kind in kinds.items() if kind == _CONSUMER)
        described = client.describe_groups(consumers) if consumers else {}
    topics = {group: {each.topic for each, at in offsets.get(group, {}).items() if at.offset >= 0} for group in kinds}
    unseen = []
    for group, found in described.items():
        subscriptions = [member["member_metadata"] for member in found["members"]]
        topics[group].update(topic for each in subscriptions if each for topic in each["topics"])
        if found["error"] or not all(subscriptions):
            unseen.append(group)
    return Groups({group: frozenset(topics[group]) for group in sorted(topics)}, tuple(sorted(unseen)))
