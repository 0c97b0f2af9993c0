"""TLS to a real ZooKeeper: who is trusted, and what is said about who is not."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.network.authority import LOOPBACK, Authority

from kadmin.cluster.connect_string import parse_connect_string
from kadmin.cluster.tls import Tls
from kadmin.errors import InvalidInputError, UnreachableError
from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import DEFAULT_VERSION, class_path
from kadmin.sandbox.processes import free_ports
from kadmin.worlds.zookeeper.model import Acl, Create, MultiResult
from kadmin.worlds.zookeeper.wire.authentication import Authentication
from kadmin.worlds.zookeeper.wire.four_letter import ask
from kadmin.worlds.zookeeper.wire.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.zookeeper

MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.found(tmp_path_factory.mktemp("tls") / "own")


@pytest.fixture(scope="module")
def server(
    request: pytest.FixtureRequest, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A ZooKeeper that speaks TLS only, by its certificate's (kind, names, lifetime); `mutual`
    wants clients' own.
    """
    kind, names, lifetime = request.param
    folder, (port,) = tmp_path_factory.mktemp("zookeeper-tls"), free_ports(1)
    settings = {
        "dataDir": folder,
        "secureClientPort": port,
        "secureClientPortAddress": "127.0.0.1",
        "serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
        "ssl.keyStore.location": authority.issue(kind, names, lifetime),
        "ssl.keyStore.type": "PEM",
        "ssl.trustStore.location": authority.ca,
        "ssl.trustStore.type": "PEM",
        "ssl.clientAuth": "need" if kind == "mutual" else "none",
        "authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
        "admin.enableServer": "false",
        "4lw.commands.whitelist": "*",
        "tickTime": 800,
    }
    config = folder / "zoo.cfg"
    config.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    classes = class_path(DEFAULT_VERSION, java, cache)
    command = [str(java.executable), "-Xmx128m", "-cp", classes, MAIN, str(config)]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            wait_until(lambda: shakes_hands(port), 60)
            yield kind, f"127.0.0.1:{port}"
        finally:
            process.kill()


def shakes_hands(port: int) -> bool:
    """Whether the server has ended one handshake, if only to refuse it: its first takes long on a
    busy machine.
    """
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection(("127.0.0.1", port), 10) as probe,
            context.wrap_socket(probe) as shaken,
        ):
            return shaken.version() is not None
    except ssl.SSLError:
        return True
    except OSError:
        return False


def trusting(ca: str, certificate: Path | None = None) -> Authentication:
    file = None if certificate is None else str(certificate)
    return Authentication(tls=Tls(ca, file, file))


def refusal(connect: str, identity: Authentication | None) -> str:
    with pytest.raises(UnreachableError) as caught:
        Store.connect(connect, authentication=identity, timeout_s=3.0)
    assert "tls" in (caught.value.next_command or "") or "certificate" in (
        caught.value.next_command or ""
    )
    return caught.value.cause or ""


@pytest.mark.parametrize("server", [("good", LOOPBACK, "valid")], indirect=True, ids=["good"])
def test_a_server_whose_certificate_is_right(server: tuple[str, str], authority: Authority) -> None:
    identity = trusting(authority.ca)
    with Store.connect(server[1], authentication=identity) as store:
        assert store.multi([Create("/a", b"x" * 100_000)]) == MultiResult(committed=True)
        assert getattr(store.get("/a"), "data", None) == b"x" * 100_000
        assert "Zookeeper version" in (store.four_letter_words("srvr")[server[1]] or "")
    assert ask(parse_connect_string(server[1]).servers[0], "srvr") is None


@pytest.mark.parametrize("server", [("good", LOOPBACK, "valid")], indirect=True, ids=["good"])
def test_f21_clients_that_do_not_fit(
    server: tuple[str, str], authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Plain clients and those that trust somebody else get no session, and the message says where
    to look.
    """
    assert refusal(server[1], None) == f"{server[1]} is a server that speaks TLS"
    stranger = Authority.found(tmp_path_factory.mktemp("stranger") / "other")
    assert "certificate verify failed" in refusal(server[1], trusting(stranger.ca))
    with pytest.raises(InvalidInputError, match="TLS files"):
        Store.connect(server[1], authentication=trusting(authority.ca, authority.folder / "serial"))


@pytest.mark.parametrize(
    ("server", "said"),
    [
        (("elsewhere", "DNS:zk.example.org", "valid"), "not valid for '127.0.0.1'"),
        (("old", LOOPBACK, "expired"), "expired"),
    ],
    indirect=["server"],
    ids=["F21-elsewhere", "F21-expired"],
)
def test_a_server_whose_certificate_is_wrong(
    server: tuple[str, str], said: str, authority: Authority
) -> None:
    """Host name and lifetime are always checked."""
    assert said in refusal(server[1], trusting(authority.ca))


@pytest.mark.parametrize("server", [("mutual", LOOPBACK, "valid")], indirect=True, ids=["mutual"])
def test_clients_known_by_their_certificate(server: tuple[str, str], authority: Authority) -> None:
    brokers = trusting(authority.ca, authority.issue("kafka", "DNS:kafka"))
    mine = (Acl(31, "x509", "CN=kafka"),)
    with Store.connect(server[1], authentication=brokers) as store:
        assert store.multi(
            [Create("/admin", b"", mine), Create("/admin/x", b"", mine)]
        ) == MultiResult(committed=True)
        assert store.acl("/admin/x") == mine
    refusal(server[1], trusting(authority.ca))
