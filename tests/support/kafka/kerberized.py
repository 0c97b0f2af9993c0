"""A live cluster in KRaft mode with an authorizer, whose clients prove themselves by Kerberos."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.kafka.kerberos import REALM
from support.kafka.secured import Listening, login
from support.live.listeners import up_with_listeners

from kadmin.sandbox import SandboxSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.kafka.kerberos import Realm

LISTENER = "KERBEROS"
BROKERS = "kafka/127.0.0.1"
MODULE = "com.sun.security.auth.module.Krb5LoginModule"
BOTH = "both"
"""The key table that has keys of both users."""
TICKET_S = 8
"""How long the tickets of User:kadmin last."""


@dataclass(frozen=True, slots=True)
class Kerberized(Listening):
    """A cluster with the realm of its users."""

    realm: Realm


def kerberized(folder: Path, version: str, realm: Realm) -> Kerberized:
    """Start the cluster; User:kadmin may do everything, User:guest nothing.

    Brokers want each connection proved again after four seconds, for which a client needs a ticket
    that has not ended.
    """
    for user in ("kadmin", "guest"):
        realm.key(user)
    realm.administer(f"modprinc -maxlife {TICKET_S}s kadmin")
    realm.administer(
        *(f"ktadd -norandkey -k {realm.keytab(BOTH)} {user}" for user in ("guest", "kadmin"))
    )
    of = f"listener.name.{LISTENER.lower()}"
    own = login(
        MODULE,
        useKeyTab="true",
        storeKey="true",
        keyTab=str(realm.key(BROKERS)),
        principal=named(BROKERS),
    )
    config = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:kadmin",
        "sasl.kerberos.service.name": "kafka",
        f"{of}.sasl.enabled.mechanisms": "GSSAPI",
        f"{of}.gssapi.sasl.jaas.config": own,
        f"{of}.gssapi.connections.max.reauth.ms": "4000",
    }
    spec = SandboxSpec(folder / "sandbox", version=version, mode="kraft", broker_config=config)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", f"-Djava.security.krb5.conf={realm.config}")
        sandbox, addresses = up_with_listeners(spec, {LISTENER: "SASL_PLAINTEXT"})
    return Kerberized(sandbox, addresses, folder, realm)


def named(principal: str) -> str:
    return f"{principal}@{REALM}"


def with_key(
    user: str = "kadmin", of: str | None = None, service: str = "kafka"
) -> Callable[[Realm], dict[str, str]]:
    """Return client.properties of a user with a key table, by default its own."""
    return lambda realm: _properties(
        service, useKeyTab="true", keyTab=str(realm.keytab(of or user)), principal=named(user)
    )


def with_ticket(_: Realm) -> dict[str, str]:
    """Return client.properties of a user whose ticket is in the cache."""
    return _properties("kafka", useTicketCache="true")


def _properties(service: str, **options: str) -> dict[str, str]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_service_name": service,
        "sasl_jaas_config": login(MODULE, **options),
    }
