"""An HTTP server of a test, on a free port of the loopback interface."""

from __future__ import annotations

import ssl
import threading
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.server import BaseHTTPRequestHandler
    from pathlib import Path


class LoopbackServer(ThreadingHTTPServer):
    """With a `certificate`, a file with its key, it speaks TLS."""

    def __init__(
        self, handler: type[BaseHTTPRequestHandler], certificate: Path | None = None
    ) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.scheme = "http" if certificate is None else "https"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)

    @property
    def origin(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}"


Server = TypeVar("Server", bound=LoopbackServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve meanwhile."""
    with server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
