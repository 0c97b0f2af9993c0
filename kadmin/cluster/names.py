"""Names of topics, and text escaped for terminals."""

from __future__ import annotations

import re

RECORD_TOPIC = "__kadmin"
"""The topic with kadmin's lock and records of a cluster in KRaft mode."""
INTERNAL_TOPICS = frozenset(
    {
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__remote_log_metadata",
        RECORD_TOPIC,
    }
)
"""Topics that Kafka or kadmin itself uses, whether or not brokers flag them as internal.

Kafka's tools refuse to delete some of them, its controller none.
"""
MIGRATION_SETTING = "zookeeper.metadata.migration.enable"
"""The setting that every server has on the way from ZooKeeper to KRaft (KIP-866)."""
_MOST_SHOWN = 300
_LEGAL_TOPIC = re.compile(r"[a-zA-Z0-9._-]{1,249}")


def is_legal_topic_name(name: str) -> bool:
    """Whether Kafka accepts the name (Topic.validate): checked before any path is built from it."""
    return _LEGAL_TOPIC.fullmatch(name) is not None and name not in {".", ".."}


def escaped(value: str | bytes | None, most: int = _MOST_SHOWN) -> str:
    """Return text as one line, safe on any terminal: escaped, and cut after `most` characters."""
    if value is None:
        return "null"
    text = value.decode("utf-8", errors="backslashreplace") if isinstance(value, bytes) else value
    cut = (
        ""
        if len(text) <= most
        else f"... ({len(value):,} {'bytes' if isinstance(value, bytes) else 'characters'})"
    )
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text[:most]) + cut


def one_line(text: str) -> str:
    """Return text with its unprintable characters escaped."""
    # Fast path: most text needs no escape, and a large cluster has much text.
    return text if text.isprintable() else escaped(text, len(text))
