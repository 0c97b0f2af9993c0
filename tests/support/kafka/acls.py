"""Grants rights to users of a live cluster (CreateAcls)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka.protocol.admin import CreateAclsRequest

if TYPE_CHECKING:
    from kadmin.worlds.kafka.wire.connection import KafkaConnection

TOPIC, CLUSTER = 2, 4
"""Kinds of resources."""
WAIT_S = 60
_LITERAL, _ALLOW = 3, 3


def allow(
    connection: KafkaConnection, kind: int, name: str, principal: str, operation: int
) -> None:
    """Allow one operation on a resource, which takes every other right on it away from others."""
    acl = CreateAclsRequest.AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=_LITERAL,
        principal=principal,
        host="*",
        operation=operation,
        permission_type=_ALLOW,
    )
    answer = connection.change(
        "create an ACL", CreateAclsRequest(creations=[acl]), timeout_s=WAIT_S
    )
    assert [each.error_code for each in answer.results] == [0]
