"""Validates names and paths before they are sent to ZooKeeper."""

from __future__ import annotations

import re

from kadmin.cluster.names import is_legal_topic_name
from kadmin.errors import InvalidInputError

# What ZooKeeper's own PathUtils refuses, and lone surrogates, which no client can encode.
_REFUSED = re.compile("[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]")
_MOST_SHOWN = 80


def require_topic_name(name: str) -> str:
    """Return the name; raise InvalidInputError for an invalid topic name."""
    if not is_legal_topic_name(name):
        raise InvalidInputError(
            f"{_shown(name)} is not a topic name.",
            cause="Kafka allows 1 to 249 of a-z A-Z 0-9 . _ - and neither '.' nor '..'",
        )
    return name


def require_element(name: str) -> str:
    """Return a name that is one element of a path (a group, a child).

    Raise InvalidInputError otherwise.
    """
    if not name or "/" in name:
        raise InvalidInputError(
            f"{_shown(name)} cannot be part of a znode path.", cause="it is empty or contains '/'"
        )
    require_path(f"/{name}")
    return name


def require_path(path: str) -> str:
    """Return an absolute znode path; raise InvalidInputError where ZooKeeper would refuse it."""
    reason = _refusal(path)
    if reason is not None:
        raise InvalidInputError(f"{_shown(path)} is not a znode path.", cause=reason)
    return path


def _refusal(path: str) -> str | None:
    if not path.startswith("/"):
        return "it must begin with '/'"
    if _REFUSED.search(path):
        return "it contains a character that ZooKeeper does not allow"
    if path != "/" and any(element in {"", ".", ".."} for element in path.split("/")[1:]):
        return "an element is empty, '.' or '..'"
    return None


def _shown(text: str) -> str:
    return ascii(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")
