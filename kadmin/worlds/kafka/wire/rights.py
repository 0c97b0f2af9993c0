"""Rights of this client, by the answers of brokers.

Nothing is tried (Metadata, DescribeCluster, DescribeGroups).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.protocol.admin import ACLOperation, DescribeClusterRequest, DescribeGroupsRequest
from kafka.protocol.metadata import MetadataRequest

from kadmin.cluster.model import OwnRights
from kadmin.worlds.kafka.wire.errors import raise_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_ASKED_FOR = "kadmin-asks-for-its-rights"
"""The name of a group that need not exist: rights are checked first."""
_GROUP_NOT_AUTHORIZED = 30
_WHAT = "report the rights of this client"
_NAMES = {int(each): each.name.title().replace("_", "") for each in ACLOperation}


def own_rights(connection: KafkaConnection) -> OwnRights:
    """Return the rights on the cluster and on the topics that are shown.

    Without Describe on the cluster, brokers give none of the rights there. Raises as
    `KafkaConnection.ask` does.
    """
    return OwnRights(cluster_rights(connection), known_rights(topic_rights(connection)))


def cluster_rights(connection: KafkaConnection) -> frozenset[str] | None:
    """Return the operations on the cluster, as `AlterConfigs`.

    None where brokers do not report them (before 2.8). Raises as `KafkaConnection.ask` does.
    """
    answer = connection.ask(
        _WHAT, DescribeClusterRequest(include_cluster_authorized_operations=True)
    )
    raise_for(answer.error_code, answer.error_message, connection.servers, _WHAT)
    return _operations(answer.authorized_operations)


def topic_rights(connection: KafkaConnection) -> Mapping[str, frozenset[str] | None]:
    """Return the operations on each topic that is shown.

    None where brokers do not report them (before 2.3). Raises as `KafkaConnection.ask` does.
    """
    request = MetadataRequest(
        topics=None, allow_auto_topic_creation=False, include_topic_authorized_operations=True
    )
    answer = connection.ask(_WHAT, request)
    return {
        topic.name: _operations(topic.authorized_operations)
        for topic in answer.topics
        if not topic.error_code
    }


def known_rights(topics: Mapping[str, frozenset[str] | None]) -> Mapping[str, frozenset[str]]:
    """Leave out the topics whose rights brokers do not report."""
    return {name: found for name, found in sorted(topics.items()) if found is not None}


def may_describe_groups(connection: KafkaConnection) -> bool:
    """Whether groups of any name may be described; raises as `KafkaConnection.ask` does."""
    answer = connection.ask(
        _WHAT, DescribeGroupsRequest(groups=[_ASKED_FOR], include_authorized_operations=False)
    )
    return all(group.error_code != _GROUP_NOT_AUTHORIZED for group in answer.groups)


def lists_every_group(connection: KafkaConnection) -> bool:
    """Whether lists of groups are complete.

    Without Describe on the cluster, brokers leave out hidden groups. Where brokers do not report
    the rights on the cluster, the right on groups of any name counts. Raises as
    `KafkaConnection.ask` does.
    """
    rights = cluster_rights(connection) if connection.serves(DescribeClusterRequest) else None
    return may_describe_groups(connection) if rights is None else "Describe" in rights


def _operations(said: Iterable[int] | None) -> frozenset[str] | None:
    found = frozenset(_NAMES[each] for each in said or () if each in _NAMES)
    return found or (None if said is None else found)
