"""Elections of leaders that are not in sync by the config of their topic.

Brokers before Kafka 2.4 serve no request for one. The config lets the next controller elect the
first living replica of every partition of the topic that has no leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kadmin.cluster.config_entity import ConfigEntity
from kadmin.cluster.names import is_legal_topic_name
from kadmin.plan.recovery import clean_leaders, without_leader
from kadmin.plan.throttle import ConfigChange

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kadmin.cluster.model import ClusterState, TopicPartition
    from kadmin.plan.throttle import ConfigChanges

UNCLEAN_ELECTION = "unclean.leader.election.enable"
"""The config that lets replicas lead that are not in sync."""


def is_unclean_election(entity: ConfigEntity, key: str) -> bool:
    """Whether a config is that of a topic."""
    return entity.is_topic and is_legal_topic_name(entity.name) and key == UNCLEAN_ELECTION


def unclean_changes(before: Mapping[str, str | None]) -> ConfigChanges:
    """Return the changes that let replicas of topics lead, of the values before by topic."""
    return {
        ConfigEntity.of_topic(topic): {UNCLEAN_ELECTION: ConfigChange(value, "true")}
        for topic, value in before.items()
    }


def elected_too(
    topics: Collection[str], listed: Collection[TopicPartition], state: ClusterState
) -> tuple[TopicPartition, ...]:
    """Return the partitions that the configs of topics let a replica lead, too.

    They are not listed, have no leader, and have a replica that is not in sync: it would lead now,
    or when it returns before those in sync.
    """
    return tuple(
        partition
        for partition in without_leader(state)
        if partition.topic in topics
        and partition not in listed
        and not clean_leaders(partition, state)
        and not set(state.replicas(partition) or ()) <= set(state.states[partition].isr)
    )
