"""A server with Prometheus' API of instant queries, which answers, lies, hangs or trickles."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from support.network.loopback_server import LoopbackServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Answer: TypeAlias = "Callable[[PrometheusHandler], None]"


class PrometheusServer(LoopbackServer):
    """Answers each query with `answer`, which may be changed at any time.

    `over` is set at the end: answers that hang or trickle end by it.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        super().__init__(PrometheusHandler, certificate)
        self.answer: Answer = samples(0.05)
        self.over = threading.Event()
        self.paths: list[str] = []
        self.queries: list[str] = []
        self.credentials: list[str | None] = []
        """The header Authorization of each request."""


class PrometheusHandler(BaseHTTPRequestHandler):
    server: PrometheusServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.paths.append(parts.path)
        self.server.queries += parse_qs(parts.query)["query"]
        self.server.credentials.append(self.headers["Authorization"])
        with suppress(OSError):  # where the client has given up
            self.server.answer(self)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def prometheus_server(certificate: Path | None = None) -> Iterator[PrometheusServer]:
    """Answer queries meanwhile."""
    with serving(PrometheusServer(certificate)) as server:
        try:
            yield server
        finally:
            server.over.set()


def answering(status: int, body: bytes, **headers: str) -> Answer:
    """Answer with a body as it is."""

    def answer(handler: PrometheusHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def answering_json(status: int, value: object) -> Answer:
    return answering(status, json.dumps(value).encode())


def vector(*values: str) -> dict[str, Any]:
    """The answer of a query with one sample for each broker."""
    result = [
        {"metric": {"broker": str(number)}, "value": [1_700_000_000.5, value]}
        for number, value in enumerate(values, 1)
    ]
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


def samples(*values: float) -> Answer:
    return answering_json(200, vector(*map(str, values)))


def hanging(handler: PrometheusHandler) -> None:
    """Never answer."""
    handler.server.over.wait()


def closing(_: PrometheusHandler) -> None:
    """Close the connection without an answer."""


def trickling(start: bytes) -> Answer:
    """Answer with a start, and then one byte after the other without an end."""

    def answer(handler: PrometheusHandler) -> None:
        handler.wfile.write(start)
        while not handler.server.over.wait(0.02):
            handler.wfile.write(b"x")

    return answer


def raw(answer: bytes) -> Answer:
    """Answer with these bytes, and close the connection."""

    def write(handler: PrometheusHandler) -> None:
        handler.wfile.write(answer)

    return write
