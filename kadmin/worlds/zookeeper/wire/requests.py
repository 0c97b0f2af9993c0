"""Ops, ACLs and znodes as kazoo has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kazoo.protocol import serialization
from kazoo.security import ACL, OPEN_ACL_UNSAFE, Id

from kadmin.worlds.zookeeper.model import Check, Create, Delete, SetData, Znode

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Acl, Op


def request_of(op: Op, path: str) -> Any:  # noqa: ANN401 - kazoo ships no types
    """Return an op of a multi on an absolute path."""
    match op:
        case Create():
            flags = (1 if op.ephemeral else 0) | (2 if op.sequential else 0)
            return serialization.Create(path, op.data, _acls(op.acl), flags)
        case Check():
            return serialization.CheckVersion(path, op.version)
        case SetData():
            return serialization.SetData(path, op.data, op.version)
        case Delete():
            return serialization.Delete(path, op.version)


def znode_of(path: str, data: bytes | None, stat: Any) -> Znode:  # noqa: ANN401 - as above
    """Return a znode that was read, with its stat."""
    return Znode(
        path,
        data,
        stat.version,
        stat.cversion,
        stat.czxid,
        stat.mzxid,
        stat.ephemeralOwner,
        stat.ctime,
        stat.mtime,
    )


def _acls(acl: tuple[Acl, ...] | None) -> list[ACL]:
    if acl is None:
        return list(OPEN_ACL_UNSAFE)
    return [ACL(each.permissions, Id(each.scheme, each.credential)) for each in acl]
