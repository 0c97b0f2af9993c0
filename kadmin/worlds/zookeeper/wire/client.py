"""Builds the KazooClient: TLS, SASL, retries, no logging."""

from __future__ import annotations

import logging
import select
from typing import TYPE_CHECKING, Any

from kazoo.client import KazooClient
from kazoo.handlers.threading import SequentialThreadingHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.worlds.zookeeper.wire.connection import Connection
    from kadmin.worlds.zookeeper.wire.sasl import SaslLogin


def client_of(connection: Connection, login: SaslLogin | None) -> Any:  # noqa: ANN401 - kazoo ships no types
    """Return a KazooClient that is not started; `login` authenticates each of its connections."""
    identity = connection.authentication
    options: dict[str, Any] = {}
    if identity.tls is not None:
        options = {
            "use_ssl": True,
            "ca": identity.tls.ca,
            "certfile": identity.tls.certificate,
            "keyfile": identity.tls.key,
            "keyfile_password": identity.tls.key_password,
            "check_hostname": True,
        }
    if identity.sasl is not None:
        options["sasl_options"] = {"mechanism": identity.sasl.mechanism}
    if identity.digest is not None:
        options["auth_data"] = {
            ("digest", f"{identity.digest.username}:{identity.digest.password}")
        }
    client = KazooClient(
        hosts=connection.connect.hosts,
        timeout=connection.session_timeout_s,
        handler=_PollingHandler(),
        # Reconnects within a second after an outage; kazoo's default is up to a minute.
        connection_retry={"max_tries": -1, "delay": 0.1, "backoff": 2, "max_delay": 1.0},
        logger=_silent_logger(),
        **options,
    )
    if login is not None:
        handler = client._connection  # noqa: SLF001 - no public way exists
        handler._authenticate_with_sasl = (  # noqa: SLF001 - as above
            lambda host, timeout_s: login.log_in(handler, host, timeout_s)
        )
    return client


def _silent_logger() -> logging.Logger:
    # Errors are raised; at its lower levels kazoo logs credentials and session passwords.
    for name in ("kazoo", "kadmin.kazoo"):
        logger = logging.getLogger(name)
        logger.setLevel(logging.CRITICAL + 1)
        logger.propagate = False
    return logging.getLogger("kadmin.kazoo")


class _PollingHandler(SequentialThreadingHandler):  # type: ignore[misc] # kazoo ships no types
    """Uses poll where kazoo creates and closes an epoll object per call.

    Bulk reads take half as long.
    """

    def select(
        self,
        readers: Sequence[Any],
        writers: Sequence[Any],
        _others: Sequence[Any],
        timeout: float | None = None,
    ) -> tuple[list[Any], list[Any], list[Any]]:
        poll = select.poll()
        for reader in readers:
            poll.register(reader, select.POLLIN)
        for writer in writers:
            poll.register(writer, select.POLLOUT)
        ready = {
            descriptor for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)
        }
        return (
            [each for each in readers if each.fileno() in ready],
            [e for e in writers if e.fileno() in ready],
            [],
        )
