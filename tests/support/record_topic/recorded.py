"""Loads the topic of lock and record of a 4.4.0 cluster, as kadmin 1.0.0 left it when it was
killed, and compacted.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support.zookeeper.recorded_znodes import decode_data

from kadmin.worlds.kafka.values.topic_log import TopicLog
from kadmin.worlds.kafka.values.topic_settings import BODIES, CONTROL
from kadmin.worlds.kafka.values.topic_writer import decode_offsets, is_body
from kadmin.worlds.kafka.wire.partition_log import LogEntry
from kadmin.worlds.kafka.wire.transactions import Producer

if TYPE_CHECKING:
    from collections.abc import Mapping

_FILE = Path(__file__).parents[2] / "operations" / "kafka" / "recorded" / "kadmin-1.0.0.json"
_FOUND: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
IDS: Mapping[str, str] = _FOUND["ids"]
"""The id of the cluster, and that of each topic by its name."""


def recorded_log() -> TopicLog:
    """Return the records of the control partition, applied in order; each of them counts."""
    log = TopicLog()
    for entry in _entries(CONTROL):
        assert log.add(entry) is None, entry
    return log


def recorded_values(ids: Mapping[str, str] = IDS) -> dict[str, bytes]:
    """Return the values of operations by key, with other ids of cluster and topics."""
    bodies = {entry.offset: entry.value or b"" for entry in _entries(BODIES)}
    found = {
        key: b"".join(bodies[offset] for offset in decode_offsets(value)) if is_body(key) else value
        for key, value in recorded_log().values.items()
    }
    return {key: _with_ids(key, value, ids) for key, value in found.items()}


def _entries(partition: int) -> list[LogEntry]:
    return [
        LogEntry(
            each["offset"],
            each["key"],
            decode_data(each),
            None if each["producer"] is None else Producer(*each["producer"]),
            each["timestamp_ms"],
        )
        for each in _FOUND["partitions"][partition]
    ]


def _with_ids(key: str, value: bytes, ids: Mapping[str, str]) -> bytes:
    """Return a value with other ids, which are in a compressed record and in a step's compressed
    intent.
    """
    if is_body(key):
        return zlib.compress(_replaced(zlib.decompress(value), ids), level=9)
    if b'"intent":"' not in value:
        return value
    step = json.loads(value)
    intent = _replaced(zlib.decompress(base64.b64decode(step["intent"])), ids)
    packed = base64.b64encode(zlib.compress(intent, level=9)).decode()
    return value.replace(step["intent"].encode(), packed.encode())


def _replaced(text: bytes, ids: Mapping[str, str]) -> bytes:
    for name, recorded in IDS.items():
        text = text.replace(recorded.encode(), ids[name].encode())
    return text
