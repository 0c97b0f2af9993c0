"""A webhook that answers, hangs, refuses or closes the connection."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from support.network.loopback_server import LoopbackServer, serving

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SECRET = "T0KEN-in-the-path"  # noqa: S105 - looked for in whatever is printed
CLOSES = 0
"""In place of a status: the connection is closed without an answer."""


class WebhookServer(LoopbackServer):
    """Answers the posts with `statuses`, one after the other, and those after them with 200.

    Each post waits for `gate` before it is answered.
    """

    def __init__(self, statuses: Sequence[int] = ()) -> None:
        super().__init__(_Handler)
        self.statuses = list(statuses)
        self.gate = threading.Event()
        self.gate.set()
        self.methods: list[str] = []
        self.tried: list[dict[str, Any]] = []
        """Every value that was posted."""
        self.taken: list[dict[str, Any]] = []
        """Those that were answered with 200."""

    @property
    def url(self) -> str:
        return f"{self.origin}/services/{SECRET}"


class _Handler(BaseHTTPRequestHandler):
    server: WebhookServer

    def do_POST(self) -> None:
        server = self.server
        assert self.headers["Content-Type"] == "application/json; charset=utf-8"
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server.tried.append(value)
        status = server.statuses.pop(0) if server.statuses else 200
        server.gate.wait(60)
        if status == CLOSES:
            self.close_connection = True
            return
        if status == 200:
            server.taken.append(value)
        self.send_response(status, SECRET)  # a server may say anything
        self.send_header("Location", server.url)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.server.methods.append("GET")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def webhook_server(*statuses: int) -> Iterator[WebhookServer]:
    """Take posts meanwhile."""
    with serving(WebhookServer(statuses)) as server:
        try:
            yield server
        finally:
            server.gate.set()
