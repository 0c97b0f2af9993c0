"""What listens at a port is recognised, whatever it is; silence and strangers are no answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cluster.listeners import listener, tls_listener

from kadmin.cluster.ports import Listener, listener_at, listeners_instead
from kadmin.cluster.servers import Servers
from kadmin.errors import UnreachableError
from kadmin.worlds.kafka.wire.connection import KafkaConnection

if TYPE_CHECKING:
    from socket import socket

    from kadmin.sandbox import Sandbox


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02",
        b"\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x7f\xff\xff\xff",
    ],
    ids=["closed", "HTTP", "fewer requests than announced", "a size that does not fit"],
)
def test_a_stranger_is_not_recognised(answer: bytes) -> None:
    def talk(connection: socket) -> None:
        connection.recv(1024)
        connection.sendall(answer)

    with listener(talk) as address:
        assert listener_at(address) is None


def test_a_server_that_takes_connections_and_is_silent_is_not_recognised() -> None:
    with listener(lambda connection: connection.recv(1024) and connection.recv(1024)) as address:
        assert listener_at(address) is None


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-such-host.invalid:9092", "[::1]:1"])
def test_where_nothing_listens_nothing_is_recognised(address: str) -> None:
    assert listener_at(address) is None


def test_tls_is_recognised() -> None:
    with tls_listener() as address:
        assert listener_at(address) is Listener.TLS


@pytest.mark.zookeeper
def test_zookeeper_is_recognised(zookeeper: Sandbox) -> None:
    address = zookeeper.connect_string
    assert listener_at(address) is Listener.ZOOKEEPER
    assert listeners_instead([address, "127.0.0.1:1"], Listener.ZOOKEEPER) == {}
    assert listeners_instead([address, "127.0.0.1:1"], Listener.BROKER) == {
        address: Listener.ZOOKEEPER
    }


def test_a_tls_port_given_as_zookeeper_is_told() -> None:
    """Within 5 s: a later answer would be that the command was not finished within its
    --timeout.
    """
    with tls_listener() as address:
        answer = command("status", "-z", f"{address}/kafka", "--timeout", "5")
    assert (answer.status, answer.err) == (
        6,
        (
            f"error: No ZooKeeper server listens at {address}.\n  cause: {address} is a server "
            "that speaks TLS\n"
            "  next:  name a port of ZooKeeper without TLS (clientPort), or write zookeeper.tls "
            "into the context\n"
        ),
    )


def test_a_tls_port_given_as_broker_is_told() -> None:
    with tls_listener() as address, pytest.raises(UnreachableError) as caught:
        KafkaConnection(Servers([address]))
    assert caught.value.cause == f"{address} is a server that speaks TLS"


@pytest.mark.zookeeper
def test_zookeeper_given_as_broker_is_told(zookeeper: Sandbox) -> None:
    address = zookeeper.connect_string
    with pytest.raises(UnreachableError, match=f"No Kafka broker listens at {address}") as caught:
        KafkaConnection(Servers([address]))
    assert caught.value.cause == f"{address} is a ZooKeeper server"
