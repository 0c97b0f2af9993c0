"""The client of kafka-python's that connections work with: settings, a workaround, and a log."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafka.net.manager import KafkaConnectionManager

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.cluster.servers import Servers

REQUEST_S = 10.0
"""Seconds that an answer may take."""


_LOG = logging.getLogger(__name__)
"""Names of requests, brokers and times: never what a request holds, which may be secret."""


def client_settings(servers: Servers) -> dict[str, Any]:
    """Return the settings of every client of kafka-python."""
    return {
        "bootstrap_servers": list(servers.addresses),
        "request_timeout_ms": int(REQUEST_S * 1000),
        "reconnect_backoff_max_ms": 1_000,
        **servers.security.settings(),
    }


@contextmanager
def logged(what: str) -> Iterator[None]:
    """Log a request, its result and its duration."""
    began, result = time.monotonic(), "answered"
    try:
        yield
    except Exception as error:
        result = type(error).__name__
        raise
    finally:
        _LOG.debug("kafka: %s: %s (%.0f ms)", what, result, (time.monotonic() - began) * 1000)


def named(request: Any, broker_id: int | None) -> str:  # noqa: ANN401 - kafka-python ships no types
    """Return the name of a request for the log."""
    return (
        f"{type(request).__name__} to "
        f"{'any broker' if broker_id is None else f'broker {broker_id}'}"
    )


class ConnectionManager(KafkaConnectionManager):  # type: ignore[misc] # kafka-python ships no types
    """Works around kafka-python 3.0.12, which drops the SASL error text.

    It drops bytes received together with EOF.
    """

    async def _build_transport(self, node: Any, timeout_at: float | None = None) -> Any:  # noqa: ANN401 - as above
        transport = await super()._build_transport(node, timeout_at=timeout_at)
        receive, ends = transport._sock_recv, list[Exception]()  # noqa: SLF001 - the only place to mend it

        def data_before_end() -> tuple[bytes, Exception | None]:
            data, error = (b"", ends[0]) if ends else receive()
            if data and error:
                ends.append(error)
                return data, None
            return data, error

        transport._sock_recv = data_before_end  # noqa: SLF001 - as above
        return transport
