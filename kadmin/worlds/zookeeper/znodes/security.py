"""ACLs and delegation tokens that brokers keep in ZooKeeper.

Literal ACLs: `/kafka-acl/<type>/<name>`; others (2.0+):
`/kafka-acl-extended/<pattern>/<type>/<name>`. Changes are announced below `/kafka-acl-changes`
(`Topic:foo`) and `/kafka-acl-extended-changes` (JSON). Tokens (1.1+):
`/delegation_token/tokens/<id>`; their secret is never decoded. Kafka: ResourceZNode,
DelegationTokenInfoZNode.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError, decode_object, mapping, text

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Znode

LITERAL_ACLS = "/kafka-acl"
LITERAL_ACL_CHANGES = "/kafka-acl-changes"
EXTENDED_ACLS = "/kafka-acl-extended"
EXTENDED_ACL_CHANGES = "/kafka-acl-extended-changes"
DELEGATION_TOKENS = "/delegation_token/tokens"


@dataclass(frozen=True, slots=True)
class KafkaAcl:
    """One access rule of Kafka."""

    principal: str
    permission: str
    operation: str
    host: str


@dataclass(frozen=True, slots=True)
class AclChange:
    """A resource whose rules changed; `pattern` is LITERAL or PREFIXED."""

    resource_type: str
    name: str
    pattern: str = "LITERAL"


@dataclass(frozen=True, slots=True)
class DelegationToken:
    """Owner and renewers of a token, without its secret."""

    token_id: str
    owner: str
    renewers: tuple[str, ...]


def decode_acls(node: Znode) -> tuple[KafkaAcl, ...]:
    """Decode the rules of one resource."""
    entries = (mapping(node.path, each, "acl") for each in _list(node, "acls"))
    return tuple(
        KafkaAcl(
            text(node.path, entry.get("principal"), "principal"),
            text(node.path, entry.get("permissionType"), "permissionType"),
            text(node.path, entry.get("operation"), "operation"),
            text(node.path, entry.get("host"), "host"),
        )
        for entry in entries
    )


def decode_acl_change(node: Znode) -> AclChange:
    """Decode a change of literal ACLs (`Topic:foo`) or of others (JSON)."""
    if (node.data or b"").startswith(b"{"):
        value = decode_object(node.path, node.data)
        return AclChange(
            *(
                text(node.path, value.get(key), key)
                for key in ("resourceType", "name", "patternType")
            )
        )
    try:
        resource_type, colon, name = (node.data or b"").decode().partition(":")
    except UnicodeDecodeError as error:
        raise MalformedZnodeError(node.path, "not UTF-8") from error
    if not colon:
        raise MalformedZnodeError(node.path, "not of the form type:name")
    return AclChange(resource_type, name)


def decode_delegation_token(node: Znode) -> DelegationToken:
    """Decode a token without its secret."""
    value = decode_object(node.path, node.data)
    renewers = tuple(text(node.path, each, "renewer") for each in _list(node, "renewers"))
    return DelegationToken(
        text(node.path, value.get("tokenId"), "tokenId"),
        text(node.path, value.get("owner"), "owner"),
        renewers,
    )


def _list(node: Znode, key: str) -> list[object]:
    found = decode_object(node.path, node.data).get(key)
    if not isinstance(found, list):
        raise MalformedZnodeError(node.path, f"{key} is not a list: {found!r}")
    return found
