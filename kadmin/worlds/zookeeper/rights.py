"""Compares the ACLs of the znodes that operations write with the identities of this client.

Nothing is tried.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from kadmin.cluster.kerberos import Kerberos
from kadmin.errors import KadminError, NotZooKeeperModeError
from kadmin.insight.diagnosis.rights import MissingRight
from kadmin.worlds.zookeeper.znodes.admin import ADMIN, DELETE_TOPICS
from kadmin.worlds.zookeeper.znodes.configs import CONFIG, CONFIG_CHANGES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kadmin.worlds.zookeeper.model import Acl
    from kadmin.worlds.zookeeper.wire.authentication import Authentication
    from kadmin.worlds.zookeeper.wire.store import Store

_LETTERS = "rwcda"
_UNKNOWN = frozenset({"ip", "auth", "host"})
"""Schemes whose identities only the servers can resolve."""
_NOBODY = (
    "give the context the brokers' principal: zookeeper.sasl, or zookeeper.tls with its certificate"
)


def check_rights(store: Store, root: str) -> tuple[list[MissingRight], list[str]]:
    """Return the missing rights, and the checks that could not be made.

    Operations are kept below `root`. Raises as the store does.
    """
    identity = store.authentication
    missing: list[MissingRight] = []
    unchecked: list[str] = []
    for path, needed, needed_for in _needed(store, root):
        try:
            acl = store.acl(path)
        except NotZooKeeperModeError:
            unchecked.append(f"{path}: it does not exist")
            continue
        except KadminError as error:
            unchecked.append(f"{path}: {error.message}")
            continue
        lacking = [letter for letter in needed if not is_granted(acl, letter, identity)]
        if lacking and _only_servers_know(acl, identity):
            unchecked.append(
                f"{path}: only the servers know whether its ACL grants {''.join(lacking)}"
            )
        elif lacking:
            right = f"{''.join(lacking)} on {path}"
            missing.append(MissingRight(right, needed_for, granting(store, [path])))
    return missing, unchecked


def _only_servers_know(acl: Iterable[Acl], identity: Authentication) -> bool:
    """Whether an ACL may name this client in a form that only servers resolve.

    A principal that is not shortened is such a form.
    """
    has_certificate = identity.tls is not None and identity.tls.certificate is not None
    unknown = _UNKNOWN | {"x509"} if has_certificate else _UNKNOWN
    longer = identity.sasl.longer_names if isinstance(identity.sasl, Kerberos) else frozenset[str]()
    return identity.digest is not None or any(
        each.scheme in unknown or (each.scheme == "sasl" and each.credential in longer)
        for each in acl
    )


def is_granted(acl: Iterable[Acl], letter: str, identity: Authentication) -> bool:
    """Whether an ACL shows that it grants a permission, one of `rwcda`, to this client."""
    bit, identities = 1 << _LETTERS.index(letter), set(_identities(identity))
    return any(
        each.permissions & bit and (each.scheme, each.credential) in identities for each in acl
    )


def granting(store: Store, paths: Iterable[str]) -> str:
    """Return the commands that grant this client every permission on some znodes.

    They run as the brokers' principal.
    """
    if store.authentication.principal is None:
        return _NOBODY
    return "as the brokers' principal: " + " && ".join(
        _grant(store, path) for path in dict.fromkeys(paths)
    )


def _grant(store: Store, path: str) -> str:
    """Return the command that grants every permission.

    Where hidden entries are needed first, return the command that shows them. setAcl replaces an
    ACL, so the command has the existing entries, but no digest, which is derived from a secret.
    """
    shell, identity = f"zookeeper-shell.sh {store.connect_string}", store.authentication
    try:
        acl = store.acl(path)
    except KadminError:
        acl = ()
    if not acl or (identity.sasl is None and identity.digest is not None):
        return f"{shell} getAcl {path}"
    mine = f"{identity.principal}"
    named = [(f"{each.scheme}:{each.credential}", _letters(each)) for each in acl]
    kept = [f"{name}:{letters}" for name, letters in named if name != mine]
    return f"{shell} setAcl {path} {shlex.quote(','.join([*kept, f'{mine}:cdrwa']))}"


def _needed(store: Store, root: str) -> Iterator[tuple[str, str, str]]:
    """Yield the paths of znodes, the permissions that are needed there, and their purposes."""
    yield ADMIN, "rwcd", "reassignments, elections, the lock and the record, which get its ACL"
    yield DELETE_TOPICS, "rc", "deletions"
    for path in (f"{CONFIG}/topics", f"{CONFIG}/brokers", CONFIG_CHANGES):
        yield path, "rc", "throttles"
    yield "/", "cd", "the lock and the record, cancel --now and heal"
    if store.exists(root) is not None:
        yield root, "rcd", "the lock and the record"


def _identities(identity: Authentication) -> Iterator[tuple[str, str]]:
    yield "world", "anyone"
    if identity.sasl is not None:
        yield "sasl", f"{identity.sasl.principal}"
    if identity.tls is not None and (subject := identity.tls.subject) is not None:
        yield "x509", subject
    if identity.digest is not None:
        yield "digest", identity.digest.credential


def _letters(acl: Acl) -> str:
    return "".join(letter for bit, letter in enumerate(_LETTERS) if acl.permissions & 1 << bit)
