"""Servers that are neither ZooKeeper nor Kafka, on free ports of this machine."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SILENT_S = 30.0


@contextmanager
def listener(talk: Callable[[socket.socket], object]) -> Iterator[str]:
    """Talk on each connection, one after the other, and close it; yields `host:port`."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):  # accept fails when the listener ends
                while True:
                    connection = server.accept()[0]
                    with connection, suppress(OSError):
                        connection.settimeout(SILENT_S)
                        talk(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@contextmanager
def tls_listener() -> Iterator[str]:
    """Shake hands with who speaks TLS, with a certificate that nobody trusts."""
    with TemporaryDirectory() as folder:
        key, certificate = Path(folder) / "key.pem", Path(folder) / "certificate.pem"
        made = [
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
        ]
        subprocess.run(["openssl", "req", "-x509", *made], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
    with listener(
        lambda connection: context.wrap_socket(connection, server_side=True).close()
    ) as address:
        yield address
