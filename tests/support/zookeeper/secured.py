"""Live clusters whose ZooKeeper has SASL and TLS, and whose brokers make znodes that they alone may
write.
"""

from __future__ import annotations

import itertools
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from kazoo.client import KazooClient
from kazoo.security import ACL, Id, make_digest_acl_credential
from support.kafka.admin import admin_client
from support.kafka.kerberized import BROKERS as KAFKA
from support.kafka.kerberized import MODULE, TICKET_S, named
from support.kafka.secured import PASSWORD, login
from support.live.kraft import wait_assigned
from support.live.waiting import wait_until
from support.network.authority import Authority

from kadmin.cluster.model import TopicPartition
from kadmin.cluster.ports import Listener, listener_at
from kadmin.cluster.servers import Servers
from kadmin.sandbox import Sandbox, SandboxSpec, settings, zookeeper_mode
from kadmin.sandbox.processes import free_ports
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from support.kafka.kerberos import Realm

    from kadmin.cluster.model import Replicas

BROKERS = "kafka"
"""The brokers' user of SASL, or the common name of their certificate."""
OPERATOR = "kafka/operator"
"""A principal that ZooKeeper shortens to the brokers' one; its tickets last TICKET_S."""
SERVER = "zookeeper/127.0.0.1"
USERS = (BROKERS, "kadmin", "guest")
_numbers = itertools.count()
_ALL, _READ = 31, 1
SASL, TLS, KERBEROS = "SASL", "TLS", "KERBEROS"
CHROOT = "/kafka"
HOST = "localhost"
"""The only name in the certificate of ZooKeeper."""
_SERVER = "org.apache.zookeeper.server"
_CLIENT = "org.apache.zookeeper.ClientCnxnSocketNetty"


@dataclass(frozen=True, slots=True)
class SecuredZooKeeper:
    """A cluster whose ZooKeeper has a port in plain text and one with TLS; both take SASL.

    `way` is how its brokers prove who they are: SASL with a password or a ticket, in plain text, or
    a certificate.
    """

    sandbox: Sandbox
    way: str
    authority: Authority
    tls_port: int
    jaas: Path
    """The file with the brokers' password or key table, where they come by SASL."""
    realm: Realm | None

    @property
    def plain(self) -> str:
        """The connect string of the port in plain text."""
        return self.sandbox.connect_string

    @property
    def encrypted(self) -> str:
        """The connect string of the port with TLS."""
        return f"{HOST}:{self.tls_port}{CHROOT}"

    @property
    def principal(self) -> Id:
        """Whom ZooKeeper takes the brokers for."""
        return Id("x509", f"CN={BROKERS}") if self.way == TLS else Id("sasl", BROKERS)

    @property
    def own_acl(self) -> list[ACL]:
        """The ACL that brokers give to most znodes."""
        return [ACL(_ALL, self.principal), ACL(_READ, Id("world", "anyone"))]

    @contextmanager
    def client(self, *, is_super: bool = False) -> Iterator[KazooClient]:
        """Connect to the root of ZooKeeper in plain text, as a super user or as nobody."""
        identity = [("digest", f"super:{PASSWORD}")] if is_super else None
        client = KazooClient(self.plain.removesuffix(CHROOT), auth_data=identity)
        client.start()
        try:
            yield client
        finally:
            client.stop()
            client.close()

    def make_topic(self, *replicas: Replicas) -> str:
        """Have brokers create a topic with these replicas of its partitions, and wait for its full
        ISRs.
        """
        name, wanted = f"topic-{next(_numbers)}", dict(enumerate(replicas))
        with KafkaConnection(Servers(self.sandbox.bootstrap)) as connection:
            admin_client(connection).create_topics(
                {name: {"assignments": {n: list(ids) for n, ids in wanted.items()}}}
            )
            wait_assigned(
                connection, {TopicPartition(name, number): ids for number, ids in wanted.items()}
            )
        return name

    def own(self, name: str, authority: Authority | None = None) -> dict[str, str]:
        """Return `zookeeper.tls` of a context whose client shows the certificate of a name."""
        file = str((authority or self.authority).issue(name, f"DNS:{name}"))
        return {"ca": self.authority.ca, "certificate": file, "key": file}

    def fingerprint(self) -> dict[str, tuple[int, int]]:
        """Return mzxid and cversion of every znode of the cluster; brokers' own ISR messages come
        and go.
        """
        found: dict[str, tuple[int, int]] = {}
        waiting = [CHROOT]
        with self.client(is_super=True) as client:
            while waiting:
                path = waiting.pop()
                if not path.startswith(f"{CHROOT}/isr_change_notification"):
                    children, stat = client.get_children(path, include_data=True)
                    found[path] = (stat.mzxid, stat.cversion)
                    waiting += [f"{path}/{child}" for child in children]
        return found


@contextmanager
def secured_zookeeper(
    folder: Path, version: str, way: str, realm: Realm | None = None
) -> Iterator[SecuredZooKeeper]:
    """Run a cluster of three brokers; its chroot, too, is theirs to write and everybody's to read.

    With a realm its servers and brokers prove themselves by Kerberos.
    """
    authority = Authority.found(folder / "authority")
    (tls_port,) = free_ports(1)
    stores = _stores(authority, BROKERS)
    served = {
        "secureClientPort": str(tls_port),
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": f"{_SERVER}.NettyServerCnxnFactory",
        "authProvider.sasl": f"{_SERVER}.auth.SASLAuthenticationProvider",
        "ssl.clientAuth": "want",
        **{f"kerberos.remove{part}FromPrincipal": "true" for part in ("Host", "Realm")},
        **{f"ssl.{key}": value for key, value in stores.items()},
    }
    config = {"zookeeper.set.acl": "true"}
    if way == TLS:
        config |= {f"zookeeper.ssl.{key.lower()}": value for key, value in stores.items()}
        config |= {"zookeeper.ssl.client.enable": "true", "zookeeper.clientCnxnSocket": _CLIENT}
    spec = SandboxSpec(folder / "sandbox", version, 3, chroot=CHROOT, broker_config=config)
    with pytest.MonkeyPatch.context() as patch:
        zookeeper, broker = settings.zookeeper_config, settings.broker_config

        def with_ports(
            of: Path,
            port: int,
            ensemble: Sequence[tuple[int, int]],
            *,
            four_letter_words: bool,
            host: str,
        ) -> str:
            config = zookeeper(of, port, ensemble, four_letter_words=four_letter_words, host=host)
            return config + "".join(f"{key}={value}\n" for key, value in served.items())

        def with_tls(
            number: int,
            rack: str,
            address: str,
            _connect: str,
            data: Path,
            overrides: Mapping[str, str],
        ) -> str:
            return broker(number, rack, address, f"{HOST}:{tls_port}{CHROOT}", data, overrides)

        patch.setattr(zookeeper_mode, "zookeeper_config", with_ports)
        if way == TLS:
            patch.setattr(zookeeper_mode, "broker_config", with_tls)
        jaas = _jaas(folder, _passwords(way) if realm is None else _key_tables(realm))
        super_user = make_digest_acl_credential("super", PASSWORD)
        java = f"{os.environ.get('JDK_JAVA_OPTIONS', '')} -Djava.security.auth.login.config={jaas}"
        java += f" -Dzookeeper.DigestAuthenticationProvider.superDigest={super_user}"
        if realm is not None:
            java += (
                f" -Djava.security.krb5.conf={realm.config} "
                f"-Dzookeeper.server.principal={named(SERVER)}"
            )
        patch.setenv("JDK_JAVA_OPTIONS", java)
        found = SecuredZooKeeper(Sandbox.up(spec), way, authority, tls_port, jaas, realm)
    try:
        # Brokers of 3.x register before they listen.
        wait_until(
            lambda: all(listener_at(each) is Listener.BROKER for each in found.sandbox.bootstrap),
            60,
        )
        with found.client() as anybody:
            anybody.set_acls(CHROOT, found.own_acl)
        yield found
    finally:
        found.sandbox.down()


def _stores(authority: Authority, name: str) -> dict[str, str]:
    """Return where a server or a broker finds its certificate, and whom it trusts."""
    stores = {"keyStore": str(authority.issue(name, f"DNS:{HOST}")), "trustStore": authority.ca}
    return {
        f"{store}.{key}": value
        for store, path in stores.items()
        for key, value in (("location", path), ("type", "PEM"))
    }


def _passwords(way: str) -> dict[str, str]:
    module = f"{_SERVER}.auth.DigestLoginModule"
    parts = {"Server": login(module, **{f"user_{name}": PASSWORD for name in USERS})}
    if way == SASL:
        parts["Client"] = login(module, username=BROKERS, password=PASSWORD)
    return parts


def _key_tables(realm: Realm) -> dict[str, str]:
    def key_of(principal: str) -> str:
        table = {"keyTab": str(realm.key(principal)), "principal": named(principal)}
        return login(MODULE, useKeyTab="true", storeKey="true", **table)

    realm.key(OPERATOR)
    realm.administer(f"modprinc -maxlife {TICKET_S}s {OPERATOR}")
    return {"Server": key_of(SERVER), "Client": key_of(KAFKA)}


def _jaas(folder: Path, parts: Mapping[str, str]) -> Path:
    """Write the file of JAAS that ZooKeeper and brokers share."""
    file = folder / "jaas.conf"
    file.write_text("".join(f"{name} {{ {line} }};\n" for name, line in parts.items()))
    return file
