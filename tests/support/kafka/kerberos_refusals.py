"""Keys and tickets that the realm, or a broker, refuses: how they come about, and what is said of
each.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from support.kafka.kerberized import BROKERS, with_key, with_ticket
from support.live.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from support.kafka.kerberos import Realm

_CREDENTIALS = "correct the credentials in"


@dataclass(frozen=True, slots=True)
class RefusedByKerberos:
    """What is wrong, the client's properties, words of the cause and the remedy, and what is done
    before.

    `prepare` returns variables of the environment.
    """

    fault: str
    write: Callable[[Realm], Mapping[str, Any]]
    cause: str
    remedy: str
    prepare: Callable[[Realm], Mapping[str, str]] = lambda _: {}


def _changed_key(realm: Realm) -> Mapping[str, str]:
    realm.key("old")
    realm.administer("cpw -randkey old")
    return {}


def deleted(realm: Realm) -> Mapping[str, str]:
    realm.key("gone")
    realm.administer("delprinc -force gone")
    return {}


def _locked(realm: Realm) -> Mapping[str, str]:
    realm.key("locked")
    realm.administer("modprinc -allow_tix locked")
    return {}


def ended(realm: Realm) -> Mapping[str, str]:
    cache = realm.tickets("guest", 1)
    wait_until(lambda: not realm.takes(cache, BROKERS))
    return {"KRB5CCNAME": f"FILE:{cache}"}


def _no_ticket(realm: Realm) -> Mapping[str, str]:
    return {"KRB5CCNAME": f"FILE:{realm.folder / 'no-tickets'}"}


def _no_centre(realm: Realm) -> Mapping[str, str]:
    realm.key("away")  # a user without a ticket in memory
    other = realm.folder / "elsewhere.conf"
    other.write_text(
        re.sub("kdc = .*", "kdc = 127.0.0.1:1", realm.config.read_text(encoding="utf-8"))
    )
    return {"KRB5_CONFIG": os.fspath(other)}


KERBEROS_REFUSED = (
    RefusedByKerberos(
        "Kerberos: key table with a key that was changed",
        with_key("old"),
        "Decrypt integrity check failed",
        _CREDENTIALS,
        _changed_key,
    ),
    RefusedByKerberos(
        "Kerberos: key table of another principal",
        with_key("kadmin", of="guest"),
        "cannot be read, or has no key of kadmin@",
        _CREDENTIALS,
    ),
    RefusedByKerberos(
        "Kerberos: unknown principal",
        with_key("gone"),
        "not found in Kerberos database",
        _CREDENTIALS,
        deleted,
    ),
    RefusedByKerberos(
        "Kerberos: locked principal",
        with_key("locked"),
        "credentials have been revoked",
        _CREDENTIALS,
        _locked,
    ),
    RefusedByKerberos(
        "Kerberos: ticket that has ended", with_ticket, "Ticket expired", "kinit, or name", ended
    ),
    RefusedByKerberos(
        "Kerberos: neither ticket nor key table",
        with_ticket,
        "No Kerberos credentials available",
        "kinit, or name",
        _no_ticket,
    ),
    RefusedByKerberos(
        "Kerberos: service that the realm does not know",
        with_key("guest", service="other"),
        "Server other/127.0.0.1@KADMIN.TEST not found in Kerberos database",
        "name the brokers as their principals do",
    ),
    RefusedByKerberos(
        "Kerberos: no server of the realm answers",
        with_key("away"),
        "Cannot contact any KDC for realm",
        "check that the realm's servers run",
        _no_centre,
    ),
    RefusedByKerberos(
        "Kerberos: principal without rights",
        with_key("guest"),
        "the right Describe on the cluster is missing",
        "--add --allow-principal User:guest --operation Describe --cluster",
    ),
)
