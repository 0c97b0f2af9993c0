"""Compares the ACLs of the znodes that operations write with the identities of this client; nothing is tried."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from kadmin.cluster.zookeeper.znodes.admin import ADMIN, DELETE_TOPICS
from kadmin.cluster.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES
from kadmin.errors import KadminError
from kadmin.operations.reading.rights import MissingRight

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.cluster.zookeeper.authentication import Authentication
    from kadmin.cluster.zookeeper.model import Acl
    from kadmin.operations.zookeeper.backend import ZooKeeperContext

_LETTERS = "rwcda"
_UNKNOWN = frozenset({"ip", "x509", "auth", "host"})
"""Schemes whose identities only the servers know."""


def check_rights(context: ZooKeeperContext) -> tuple[list[MissingRight], list[str]]:
    """Return the rights that are missing, and what could not be checked. Raises as the store does."""
    identity = context.store.authentication
    missing: list[MissingRight] = []
    unchecked: list[str] = []
    for path, needed, needed_for in _needed(context):
        if context.store.exists(path) is None:
            unchecked.append(f"{path}: it does not exist")
            continue
        try:
            acl = context.store.acl(path)
        except KadminError as error:
            unchecked.append(f"{path}: {error.message}")
            continue
        lacking = [letter for letter in needed if not _granted(acl, letter, _identities(identity))]
        if lacking and (identity.digest is not None or any(each.scheme in _UNKNOWN for each in acl)):
            unchecked.append(f"{path}: only the servers know whether its ACL grants {''.join(lacking)}")
        elif lacking:
            right = f"{''.join(lacking)} on {path}"
            missing.append(MissingRight(right, needed_for, _remedy(context, path, acl, identity)))
    return missing, unchecked


def principal_of(identity: Authentication) -> str | None:
    """Return who this client is for ZooKeeper, as `sasl:kadmin`; None where it is nobody, or only the servers know."""
    if identity.sasl is not None:
        return f"sasl:{identity.sasl.username}"
    return None if identity.digest is None else f"digest:{identity.digest.username}"


def _needed(context: ZooKeeperContext) -> Iterator[tuple[str, str, str]]:
    """Yield the paths of znodes, the permissions that are needed there, and what for."""
    yield ADMIN, "rc", "reassignments and elections"
    yield DELETE_TOPICS, "rc", "deletions"
    for path in (f"{CONFIG}/topics", f"{CONFIG}/brokers", CONFIG_CHANGES):
        yield path, "rc", "throttles"
    yield "/", "cd", "the lock and the record, cancel --now and heal"
    root = context.paths.root
    if context.store.exists(root) is not None:
        yield root, "rcd", "the lock and the record"


def _identities(identity: Authentication) -> Iterator[tuple[str, str]]:
    yield "world", "anyone"
    if identity.sasl is not None:
        yield "sasl", identity.sasl.username
    if (user := identity.digest) is not None:
        hashed = hashlib.sha1(f"{user.username}:{user.password}".encode(), usedforsecurity=False).digest()
        yield "digest", f"{user.username}:{base64.b64encode(hashed).decode()}"


def _granted(acl: Iterable[Acl], letter: str, identities: Iterable[tuple[str, str]]) -> bool:
    bit, known = 1 << _LETTERS.index(letter), set(identities)
    return any(each.permissions & bit and (each.scheme, each.credential) in known for each in acl)


def _remedy(context: ZooKeeperContext, path: str, acl: Iterable[Acl], identity: Authentication) -> str:
    if identity.sasl is None:
        return "give the context the brokers' principal: zookeeper.sasl, with user name and password"
    mine = f"sasl:{identity.sasl.username}"
    others = [f"{each.scheme}:{each.credential}:{_letters(each)}" for each in acl]
    kept = [each for each in others if not each.startswith(f"{mine}:")]
    listed = ",".join([*kept, f"{mine}:cdrwa"])
    return f"zookeeper-shell {context.store.connect_string} setAcl {path} {listed}"


def _letters(acl: Acl) -> str:
    return "".join(letter for bit, letter in enumerate(_LETTERS) if acl.permissions & 1 << bit)
