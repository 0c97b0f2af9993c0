"""ACLs that match a topic (DescribeAcls), and topics that this user may not describe (Metadata)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.protocol.admin import ACLOperation, ACLPermissionType, DescribeAclsRequest
from kafka.protocol.metadata import MetadataRequest

from kadmin.cluster.model import Grant
from kadmin.cluster.rights import Right
from kadmin.worlds.kafka.wire.errors import raise_for

if TYPE_CHECKING:
    from collections.abc import Collection

    from kadmin.worlds.kafka.wire.connection import KafkaConnection

_ANY, _TOPIC, _MATCH = 1, 2, 2
"""Of ResourceType and PatternType: any principal, operation and permission; topics; every pattern
that matches."""
_SECURITY_DISABLED = 54
_NOT_AUTHORIZED = 29


def topic_acls(connection: KafkaConnection, topic: str) -> tuple[Grant, ...] | None:
    """Return the ACLs that match a topic; None where brokers check no rights.

    Raises as `KafkaConnection.ask` does.
    """
    what = "describe ACLs"
    asked = DescribeAclsRequest(
        resource_type_filter=_TOPIC,
        resource_name_filter=topic,
        pattern_type_filter=_MATCH,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    answer = connection.ask(what, asked)
    if answer.error_code == _SECURITY_DISABLED:
        return None
    raise_for(answer.error_code, answer.error_message, connection.servers, what, Right("Describe"))
    return tuple(
        Grant(
            each.principal,
            ACLOperation(each.operation).name,
            each.permission_type == ACLPermissionType.ALLOW,
        )
        for resource in answer.resources
        for each in resource.acls
    )


def hidden_topics(connection: KafkaConnection, names: Collection[str]) -> tuple[str, ...]:
    """Return the topics that this user may not describe, of those named.

    Absent ones are not among them.
    """
    if not names:
        return ()
    asked = [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(names)]
    answer = connection.ask(
        "describe topics", MetadataRequest(topics=asked, allow_auto_topic_creation=False)
    )
    return tuple(sorted(each.name for each in answer.topics if each.error_code == _NOT_AUTHORIZED))
