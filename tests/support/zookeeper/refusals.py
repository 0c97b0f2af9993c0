"""Credentials and addresses that ZooKeeper, or kadmin, refuses: how a context has them, and what is
said of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.network.authority import Authority
from support.zookeeper.secured import BROKERS, SASL, TLS

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.zookeeper.secured import SecuredZooKeeper

WRONG = "wrong"
_CREDENTIALS = "correct zookeeper.sasl of the context"


@dataclass(frozen=True, slots=True)
class RefusedClient:
    """What is wrong, the way of the cluster, `zookeeper` of the context, and words of the cause and
    the remedy.
    """

    fault: str
    way: str
    write: Callable[[SecuredZooKeeper], dict[str, Any]]
    cause: str
    remedy: str


@dataclass(frozen=True, slots=True)
class MissingPermission:
    """The permission that is missing, the path that has it, and the kind of plan that needs it."""

    permission: str
    path: str
    kind: str

    @property
    def fault(self) -> str:
        return f"no right to {'create below' if self.permission == 'c' else 'write'} {self.path}"

    @property
    def cause(self) -> str:
        return f"missing: {self.permission} on {self.path}"

    @property
    def remedy(self) -> str:
        return f"as the brokers' principal: zookeeper-shell.sh ZOOKEEPER setAcl {self.path}"


def _sasl(cluster: SecuredZooKeeper, username: str, variable: str) -> dict[str, Any]:
    return {"connect": cluster.plain, "sasl": {"username": username, "password": {"env": variable}}}


def stranger(cluster: SecuredZooKeeper) -> Authority:
    """Return an authority that ZooKeeper does not trust."""
    folder = cluster.authority.folder.parent / "stranger"
    return Authority(folder) if folder.exists() else Authority.found(folder)


REFUSED = (
    RefusedClient(
        "wrong password",
        SASL,
        lambda at: _sasl(at, BROKERS, "WRONG"),
        "unknown user or wrong password",
        _CREDENTIALS,
    ),
    RefusedClient(
        "unknown user",
        SASL,
        lambda at: _sasl(at, "nobody", "WRONG"),
        "unknown user or wrong password",
        _CREDENTIALS,
    ),
    RefusedClient(
        "no credentials",
        SASL,
        lambda at: {"connect": at.plain},
        "missing: wc on /admin",
        "give the context the brokers' principal",
    ),
    RefusedClient(
        "certificate of another authority",
        TLS,
        lambda at: {"connect": at.encrypted, "tls": {"ca": stranger(at).ca}},
        "unable to get local issuer certificate",
        "name the certificate of the servers' authority: zookeeper.tls.ca",
    ),
    RefusedClient(
        "certificate for another host",
        TLS,
        lambda at: {
            "connect": at.encrypted.replace("localhost", "127.0.0.1"),
            "tls": {"ca": at.authority.ca},
        },
        "IP address mismatch",
        "name the servers in zookeeper.connect as their certificates do",
    ),
    RefusedClient(
        "a certificate of one's own that ZooKeeper does not trust",
        TLS,
        lambda at: {"connect": at.encrypted, "tls": at.own(BROKERS, stranger(at))},
        "alert",
        "show a certificate that the servers trust",
    ),
    RefusedClient(
        "plain text at a port with TLS",
        TLS,
        lambda at: {"connect": at.encrypted},
        "is a server that speaks TLS",
        "name a port of ZooKeeper without TLS (clientPort), or write zookeeper.tls into the "
        "context",
    ),
    RefusedClient(
        "TLS at a port without it",
        TLS,
        lambda at: {"connect": at.plain, "tls": {"ca": at.authority.ca}},
        "is a ZooKeeper server",
        "name a port of ZooKeeper with TLS (secureClientPort), or remove zookeeper.tls of the "
        "context",
    ),
)
MISSING = (
    MissingPermission("wc", "/admin", "reassignment"),
    MissingPermission("w", "/config/topics/TOPIC", "reassignment"),
    MissingPermission("c", "/config/changes", "reassignment"),
    MissingPermission("c", "/admin/delete_topics", "deletion"),
    MissingPermission("w", "/kadmin/fence", "election"),
    MissingPermission("c", "/kadmin/operations", "election"),
)
