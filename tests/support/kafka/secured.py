"""A live cluster in KRaft mode with an authorizer, whose brokers have listeners with TLS and
SASL.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from kafka.admin import ScramMechanism, UserScramCredentialUpsertion
from support.kafka.admin import admin_client
from support.live.listeners import up_with_listeners
from support.live.waiting import wait_until
from support.network.authority import LOOPBACK, Authority

from kadmin.cluster.servers import Servers
from kadmin.errors import UnreachableError
from kadmin.sandbox import SandboxSpec
from kadmin.worlds.kafka.wire.client_properties import read_client_properties
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kadmin.sandbox import Sandbox

PASSWORD = 'Canary;in=the "mine" 7'  # noqa: S105 - a test's own, with what JAAS must quote
SECURITY = "org.apache.kafka.common.security"
LISTENERS = {
    "SASLTLS": "SASL_SSL",
    "MUTUAL": "SSL",
    "SASL": "SASL_PLAINTEXT",
    "OTHERNAME": "SSL",
    "OLD": "SSL",
}


@dataclass(frozen=True, slots=True)
class Listening:
    """A cluster, its addresses by listener, and a folder for files."""

    sandbox: Sandbox
    addresses: Mapping[str, list[str]]
    folder: Path

    def bootstrap(self, listener: str) -> str:
        return ",".join(self.addresses[listener])

    def properties(self, name: str, **values: str) -> Path:
        """Write client.properties; `_` in keys stands for a dot."""
        file = self.folder / f"{name}.properties"
        file.write_text(
            "".join(f"{key.replace('_', '.')}={_escaped(value)}\n" for key, value in values.items())
        )
        return file


@dataclass(frozen=True, slots=True)
class Secured(Listening):
    """A cluster with the authority that its brokers trust."""

    authority: Authority

    def takes_scram(self, broker: str) -> bool:
        """Whether a broker knows the password of User:kadmin: each has its own copy of the
        metadata.
        """
        file = self.properties("probe", **scram(self))
        try:
            KafkaConnection(Servers([broker], read_client_properties(file).security)).close()
        except UnreachableError:
            return False
        return True

    @property
    def trust(self) -> dict[str, str]:
        return {"ssl_truststore_location": self.authority.ca, "ssl_truststore_type": "PEM"}


def jaas(module: str, **options: str) -> str:
    """Return a line of JAAS with one of Kafka's own modules."""
    return login(f"{SECURITY}.{module}", **options)


def login(module: str, **options: str) -> str:
    """Return a line of JAAS."""
    written = "".join(
        f' {key}="{value.replace(chr(92), chr(92) * 2).replace(chr(34), chr(92) + chr(34))}"'
        for key, value in options.items()
    )
    return f"{module} required{written};"


def password(
    cluster: Secured, mechanism: str = "PLAIN", username: str = "kadmin", secret: str = PASSWORD
) -> dict[str, str]:
    """Return client.properties of a user with a password, over TLS."""
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    return {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": mechanism,
        "sasl_jaas_config": jaas(module, username=username, password=secret),
        **cluster.trust,
    }


def scram(cluster: Secured) -> dict[str, str]:
    return password(cluster, "SCRAM-SHA-512")


def tls(cluster: Secured) -> dict[str, str]:
    """Return client.properties of one who shows nothing."""
    return {"security_protocol": "SSL", **cluster.trust}


def own_certificate(cluster: Secured, authority: Authority | None = None) -> dict[str, str]:
    """Return client.properties of one who shows the certificate of CN=kadmin, by default of the
    brokers' authority.
    """
    shown = (authority or cluster.authority).issue("kadmin", "DNS:kadmin")
    return {"ssl_keystore_location": str(shown), "ssl_keystore_type": "PEM", **tls(cluster)}


def stranger(cluster: Secured) -> Authority:
    """Return an authority that brokers do not trust."""
    folder = cluster.folder / "stranger"
    return Authority(folder) if folder.exists() else Authority.found(folder)


def secured(folder: Path, version: str) -> Secured:
    """Start the cluster; User:kadmin may do everything, User:guest nothing."""
    authority = Authority.found(folder / "authority")
    own, other, old = (
        authority.issue(*of)
        for of in (
            ("broker", LOOPBACK),
            ("other", "DNS:elsewhere.example"),
            ("old", LOOPBACK, "expired"),
        )
    )
    login = jaas("plain.PlainLoginModule", user_kadmin=PASSWORD, user_guest="guest")
    prefix = "listener.name"
    config = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS;User:kadmin;User:CN=kadmin",
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(own),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": authority.ca,
        f"{prefix}.mutual.ssl.client.auth": "required",
        f"{prefix}.othername.ssl.keystore.location": str(other),
        f"{prefix}.old.ssl.keystore.location": str(old),
    }
    for listener, mechanisms in {
        "sasltls": "SCRAM-SHA-512,PLAIN,OAUTHBEARER",
        "sasl": "SCRAM-SHA-512,PLAIN",
    }.items():
        of = f"{prefix}.{listener}"
        config |= {
            f"{of}.sasl.enabled.mechanisms": mechanisms,
            f"{of}.plain.sasl.jaas.config": login,
            f"{of}.scram-sha-512.sasl.jaas.config": jaas("scram.ScramLoginModule"),
            f"{of}.oauthbearer.sasl.jaas.config": jaas(
                "oauthbearer.OAuthBearerLoginModule", unsecuredLoginStringClaim_sub="broker"
            ),
            **dict.fromkeys(
                (
                    f"{of}.oauthbearer.connections.max.reauth.ms",
                    f"{of}.plain.connections.max.reauth.ms",
                ),
                "4000",
            ),
        }
    spec = SandboxSpec(folder / "sandbox", version=version, mode="kraft", broker_config=config)
    sandbox, addresses = up_with_listeners(spec, LISTENERS)
    with KafkaConnection(Servers(sandbox.bootstrap)) as connection:
        user = UserScramCredentialUpsertion("kadmin", ScramMechanism.SCRAM_SHA_512, PASSWORD)
        assert admin_client(connection).alter_user_scram_credentials([user]) == {"kadmin": None}
    found = Secured(sandbox, addresses, folder, authority)
    for broker in addresses["SASLTLS"]:
        wait_until(partial(found.takes_scram, broker), 60)
    return found


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")
