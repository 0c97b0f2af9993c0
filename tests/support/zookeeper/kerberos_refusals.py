"""Principals and tickets that the realm, or ZooKeeper, refuses: how a context has them, and what is
said of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.kafka.kerberized import named
from support.kafka.kerberos_refusals import RefusedByKerberos, deleted, ended
from support.zookeeper.secured import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.kafka.kerberos import Realm

_CREDENTIALS = "correct zookeeper.sasl of the context"


def with_key(realm: Realm, user: str = OPERATOR, of: str = OPERATOR) -> dict[str, str]:
    """Return `zookeeper.sasl` of a context whose client has a key table, by default the brokers'
    identity.
    """
    return {**with_ticket(user)(realm), "keytab": str(realm.keytab(of))}


def with_ticket(user: str) -> Callable[[Realm], dict[str, str]]:
    """Return `zookeeper.sasl` of a context whose client has a ticket in the cache."""
    return lambda _: {"mechanism": "GSSAPI", "principal": named(user)}


ZOOKEEPER_REFUSED = (
    RefusedByKerberos(
        "Kerberos: unknown principal",
        lambda realm: with_key(realm, "gone", "gone"),
        "not found in Kerberos database",
        _CREDENTIALS,
        deleted,
    ),
    RefusedByKerberos(
        "Kerberos: key table of another principal",
        lambda realm: with_key(realm, "kadmin"),
        "cannot be read, or has no key of kadmin@",
        _CREDENTIALS,
    ),
    RefusedByKerberos(
        "Kerberos: ticket that has ended",
        with_ticket("guest"),
        "Ticket expired",
        "kinit, or name a key table in the context: zookeeper.sasl.keytab",
        ended,
    ),
    RefusedByKerberos(
        "Kerberos: neither ticket nor key table",
        with_ticket("kadmin"),
        "Can't find client principal kadmin@",
        "kinit, or name a key table in the context: zookeeper.sasl.keytab",
    ),
    RefusedByKerberos(
        "Kerberos: service that the realm does not know",
        lambda realm: {**with_key(realm), "service": "other"},
        "Server other/127.0.0.1@KADMIN.TEST not found in Kerberos database",
        "name the servers in zookeeper.connect as their principals do",
    ),
    RefusedByKerberos(
        "a password, and ZooKeeper wants Kerberos",
        lambda _: {"username": "kafka", "password": {"env": "PASSWORD"}},
        "the server does not have DIGEST-MD5",
        _CREDENTIALS,
    ),
)
