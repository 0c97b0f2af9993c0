"""The address of one server: `host:port`, an IPv6 address in brackets, or a URL."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_LAST_PORT = 65_535
_SERVER = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(?P<port>[0-9]{1,5})")


def parse_server(given: str, usual: str) -> tuple[str, int]:
    """Return host, without brackets, and port; raises ValueError with the cause.

    `usual` is what a cause adds where the port is missing: "Kafka's usual one is {}:9092", with the
    host put in.
    """
    found = _SERVER.fullmatch(given)
    if found is not None and 0 < int(found["port"]) <= _LAST_PORT:
        return found["host"].strip("[]"), int(found["port"])
    raise ValueError(_problem(given, usual))


def is_http_url(text: str) -> bool:
    """Whether a text is an http or https URL with a host, without blank, user or password."""
    try:
        parts = urlsplit(text)
        usable = (
            parts.scheme in {"http", "https"}
            and parts.hostname
            and parts.port != 0
            and parts.username is None
        )
    except ValueError:  # a port that is no number, a bracket that is not closed
        return False
    return bool(usable) and text.isascii() and text.isprintable() and " " not in text


def _problem(given: str, usual: str) -> str:
    if given.count(":") > 1 and not given.startswith("["):
        return f"an IPv6 address needs brackets, as in [::1]:{usual.rpartition(':')[2]}"
    host, colon, port = given.rpartition(":")
    if not colon or given.endswith("]"):
        return f"{given!r} has no port; {usual.format(given)}"
    if not host:
        return f"{given!r} has no host name"
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= _LAST_PORT):
        return f"the port {port!r} is not a number from 1 to {_LAST_PORT}"
    return f"{host!r} is not a host name or address"
