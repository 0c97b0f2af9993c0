"""Repairs topic znodes that no new controller could read.

They have replica ids as strings, and partitions without replicas. Both come from a wrong
reassignment payload. A controller appends the original replicas to the requested ones, so the valid
ids of the list are the original, in order. From 2.7 on an empty target keeps the list and marks all
of it as being removed; older controllers have deleted the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kadmin.cluster.payloads import encode
from kadmin.worlds.zookeeper.znodes.values import MalformedZnodeError, decode_object, mapping

if TYPE_CHECKING:
    from kadmin.worlds.zookeeper.model import Znode

_MOVING = ("adding_replicas", "removing_replicas")


def repair_topic(node: Znode) -> bytes | None:
    """Return the data with every broken partition at its original replicas.

    Return None where nothing can be repaired. Keys, their order and the other partitions are
    unchanged. A partition whose list and `removing_replicas` are both empty has lost its data and
    is left alone.
    """
    try:
        value = decode_object(node.path, node.data)
        partitions = mapping(node.path, value.get("partitions"), "partitions")
        moving = [mapping(node.path, value.get(key) or {}, key) for key in _MOVING]
    except MalformedZnodeError:
        return None
    changed = False
    for number, listed in partitions.items():
        original = _original(listed, *(each.get(number, []) for each in moving))
        if original:
            partitions[number] = original
            for each in moving:
                each.pop(number, None)
            changed = True
    return encode(value) if changed else None


def _original(listed: Any, adding: Any, removing: Any) -> list[int] | None:  # noqa: ANN401 - JSON as others wrote it
    if not all(isinstance(each, list) for each in (listed, adding, removing)):
        return None
    emptied = all(each in removing for each in listed)
    if not emptied and all(map(_is_id, (*listed, *adding, *removing))):
        return None
    original = [each for each in listed if _is_id(each)] or [
        each for each in removing if _is_id(each)
    ]
    if not original:
        original = [
            int(each)
            for each in listed
            if isinstance(each, str) and each.isascii() and each.isdigit()
        ]
    return list(dict.fromkeys(original)) or None


def _is_id(value: object) -> bool:
    return type(value) is int
