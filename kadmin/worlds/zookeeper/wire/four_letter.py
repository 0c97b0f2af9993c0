"""Sends ZooKeeper's four-letter words, each over a socket without a session."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from kadmin.cluster.connect_string import server_name
from kadmin.cluster.ports import no_answer

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Sequence

Server: TypeAlias = tuple[str, int]
_Answer = TypeVar("_Answer")

DEADLINE_S = 3.0
_COMPLAINT_S = 1.0

_NOT_ALLOWED = "is not executed because it is not in the whitelist"
_NOT_SERVING = "This ZooKeeper instance is not currently serving requests"


def ask_all(
    servers: Sequence[Server], word: str, tls: ssl.SSLContext | None = None
) -> dict[str, str | None]:
    """Ask every server at the same time, as `ask`, by `host:port`."""
    return _of_all(servers, partial(ask, word=word, tls=tls))


def complaints(
    servers: Sequence[Server], tls: ssl.SSLContext | None, most_s: float
) -> dict[str, str]:
    """Return the reason that each server gives no session, by `host:port`, as found in `most_s`."""
    return _of_all(servers, partial(_complaint, tls=tls, deadline_s=min(most_s, _COMPLAINT_S)))


def ask(server: Server, word: str, tls: ssl.SSLContext | None = None) -> str | None:
    """Return the server's answer.

    Return None when it refuses, is not serving, or does not answer within DEADLINE_S.
    """
    try:
        answer = _exchange(server, word, tls, DEADLINE_S)
    except (OSError, UnicodeError):
        return None
    return (
        None if not answer or _NOT_ALLOWED in answer or answer.startswith(_NOT_SERVING) else answer
    )


def _of_all(servers: Sequence[Server], question: Callable[[Server], _Answer]) -> dict[str, _Answer]:
    with ThreadPoolExecutor(max_workers=len(servers)) as pool:
        return dict(zip(map(server_name, servers), pool.map(question, servers), strict=True))


def _complaint(server: Server, tls: ssl.SSLContext | None, deadline_s: float) -> str:
    try:
        answer = _exchange(server, "srvr", tls, deadline_s)
    except (OSError, UnicodeError) as error:
        return no_answer(error)
    return _state(answer)


def _state(answer: str) -> str:
    if _NOT_SERVING in answer:
        return "the server runs but is not serving: no quorum"
    if "Mode: read-only" in answer:
        return "the server is in read-only mode: no quorum"
    if not answer or "Zookeeper version" in answer or _NOT_ALLOWED in answer:
        return "the server answers but gave no session in time"
    return "this is not a ZooKeeper server"


def _exchange(server: Server, word: str, tls: ssl.SSLContext | None, deadline_s: float) -> str:
    give_up = time.monotonic() + deadline_s
    with socket.create_connection(server, deadline_s) as plain:
        connection = plain if tls is None else tls.wrap_socket(plain, server_hostname=server[0])
        with connection:
            connection.sendall(word.encode("ascii"))
            return _until_closed(connection, give_up).decode("utf-8", errors="replace")


def _until_closed(connection: socket.socket, give_up: float) -> bytes:
    chunks: list[bytes] = []
    while True:
        left = give_up - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        chunk = connection.recv(65_536)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
