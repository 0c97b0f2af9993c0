"""Identifies the server at a port.

It sends requests in the protocol of each server that an address may be mistaken for.
"""

from __future__ import annotations

import errno
import os
import socket
import ssl
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_Answer = TypeVar("_Answer")

ASK_AFTER_S = 2.0
"""Time that a connection may take before the ports are probed."""
ANSWER_S = 2.0
"""Timeout of the probes of a port, all together."""

_API_VERSIONS = struct.pack(">ihhih6s", 16, 18, 0, 0, 6, b"kadmin")
"""An ApiVersions request, version 0; every Kafka server answers it, before any authentication."""
_SASL_HANDSHAKE = struct.pack(">ihhih6sh", 18, 17, 0, 0, 6, b"kadmin", 0)
"""A SaslHandshake request, version 0, for no mechanism: a listener with SASL answers that it has
others."""
_OTHER_MECHANISMS = 33
_PRODUCE, _LEADER_AND_ISR, _BROKER_REGISTRATION = 0, 4, 62
"""Keys of requests that only some servers take: brokers, brokers in ZooKeeper mode, and
controllers."""
_TLS_RECORDS = (b"\x16\x03", b"\x15\x03")
"""First bytes of a TLS server's first record: a handshake or an alert."""
REFUSED = os.strerror(errno.ECONNREFUSED)
_WHOLE_ANSWER = 64 * 1024
_MOST_ASKED = 10


class Listener(StrEnum):
    """A server that listens at a port."""

    ZOOKEEPER = "a ZooKeeper server"
    BROKER = "a Kafka broker"
    KRAFT_BROKER = "a Kafka broker in KRaft mode"
    KRAFT_CONTROLLER = "a KRaft controller"
    SASL = "a Kafka server that asks for SASL"
    TLS = "a server that speaks TLS"


def listeners_instead(
    addresses: Sequence[str], *wanted: Listener, within_s: float = ANSWER_S
) -> Mapping[str, Listener]:
    """Return the listeners by address (`host:port`).

    If one is of a `wanted` kind, return an empty mapping. The first few are probed, at the same
    time. Addresses without a listener, or without a known answer, are left out.
    """
    found = _of_all(addresses, partial(listener_at, within_s=within_s))
    if any(listener in wanted for listener in found.values()):
        return {}
    return {address: listener for address, listener in found.items() if listener is not None}


def complaints(addresses: Sequence[str]) -> Mapping[str, str]:
    """Return the errors of addresses, of the first few, without an answer.

    The reason is REFUSED where no process has the port.
    """
    return _of_all(addresses, _complaint)


def no_answer(error: OSError | UnicodeError) -> str:
    """Return the reason that a server gave no answer."""
    if isinstance(error, socket.gaierror | UnicodeError):
        return "the host name cannot be resolved"
    if isinstance(error, TimeoutError):
        return "it takes connections but does not answer"
    return error.strerror or str(error)


def listener_at(address: str, *, within_s: float = ANSWER_S) -> Listener | None:
    """Return the kind of the listener at `host:port`.

    None where there is none, or none with a known answer.
    """
    server, give_up = _server(address), time.monotonic() + within_s
    try:
        if kafka := _kafka(_ask(server, _API_VERSIONS, give_up)):
            return (
                Listener.SASL if _has_mechanisms(_ask(server, _SASL_HANDSHAKE, give_up)) else kafka
            )
        # A server that speaks TLS awaits more than the four letters of the last question.
        return _tls(_ask(server, _client_hello(), give_up)) or _zookeeper(
            _ask(server, b"srvr", give_up)
        )
    except (OSError, UnicodeError):
        return None


def _of_all(addresses: Sequence[str], question: Callable[[str], _Answer]) -> dict[str, _Answer]:
    """Ask the first few addresses at the same time."""
    asked = addresses[:_MOST_ASKED]
    with ThreadPoolExecutor(max_workers=len(asked)) as pool:
        return dict(zip(asked, pool.map(question, asked), strict=True))


def _server(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _complaint(address: str) -> str:
    try:
        _ask(_server(address), _API_VERSIONS, time.monotonic() + ANSWER_S)
    except (OSError, UnicodeError) as error:
        return no_answer(error)
    return "it answers, but not in time"


def _kafka(answer: bytes) -> Listener | None:
    """Read an ApiVersions answer.

    It has correlation id, error code, then key, oldest and newest version of each request.
    """
    with suppress(struct.error):
        size, correlation_id, error, count = struct.unpack_from(">iihi", answer)
        if (correlation_id, error, size) == (0, 0, 10 + 6 * count):
            keys = {struct.unpack_from(">h", answer, 14 + 6 * index)[0] for index in range(count)}
            if _PRODUCE in keys:
                return Listener.BROKER if _LEADER_AND_ISR in keys else Listener.KRAFT_BROKER
            return Listener.KRAFT_CONTROLLER if _BROKER_REGISTRATION in keys else None
    return None


def _has_mechanisms(answer: bytes) -> bool:
    with suppress(struct.error):
        return bool(struct.unpack_from(">iih", answer)[2] == _OTHER_MECHANISMS)
    return False


def _zookeeper(answer: bytes) -> Listener | None:
    if (
        answer.startswith((b"Zookeeper version", b"This ZooKeeper instance"))
        or b"not in the whitelist" in answer
    ):
        return Listener.ZOOKEEPER
    return None


def _tls(answer: bytes) -> Listener | None:
    return Listener.TLS if answer.startswith(_TLS_RECORDS) else None


def _client_hello() -> bytes:
    sent = ssl.MemoryBIO()
    handshake = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).wrap_bio(
        ssl.MemoryBIO(), sent, server_hostname="localhost"
    )
    with suppress(ssl.SSLWantReadError):
        handshake.do_handshake()
    return sent.read()


def _ask(server: tuple[str, int], question: bytes, give_up: float) -> bytes:
    """Return the first answer of a server, empty where it closes the connection."""
    with socket.create_connection(server, max(give_up - time.monotonic(), 0.001)) as connection:
        connection.settimeout(max(give_up - time.monotonic(), 0.001))
        with suppress(ConnectionError):
            connection.sendall(question)
            return connection.recv(_WHOLE_ANSWER)
    return b""
