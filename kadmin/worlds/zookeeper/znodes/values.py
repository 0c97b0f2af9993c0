"""Typed values of a znode's JSON; every codec raises MalformedZnodeError."""

from __future__ import annotations

import json
import re
from typing import Any

MAX_INT32 = 2**31 - 1
MIN_INT32 = -(2**31)
_MOST_SHOWN = 300
_DECIMAL = re.compile(rb"-?[0-9]{1,19}")


class MalformedZnodeError(ValueError):
    """A znode whose data does not have the format of its path."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason if len(reason) <= _MOST_SHOWN else f"{reason[:_MOST_SHOWN]}..."
        super().__init__(f"{path}: {self.reason}")


def decode_object(path: str, data: bytes | None) -> dict[str, Any]:
    """Decode a JSON object."""
    value = decode_json(path, data)
    if not isinstance(value, dict):
        raise MalformedZnodeError(path, f"not a JSON object but {type(value).__name__}")
    return value


def decode_json(path: str, data: bytes | None) -> object:
    """Decode UTF-8 JSON; NaN and Infinity are refused."""
    if not data:
        raise MalformedZnodeError(path, "no data")
    try:
        value: object = _DECODER.decode(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise MalformedZnodeError(path, f"not JSON: {error}") from error
    return value


def leading_json(path: str, data: bytes) -> object:
    """Decode the leading JSON value and ignore what follows, as controllers from 1.1 on do."""
    try:
        value: object = _DECODER.raw_decode(data.decode("utf-8").lstrip(" \t\r\n"))[0]
    except (ValueError, RecursionError) as error:
        raise MalformedZnodeError(path, f"not JSON: {error}") from error
    return value


def integer(path: str, value: object, what: str) -> int:
    """Return an int32; true and 1.0 are refused."""
    if type(value) is not int:
        raise MalformedZnodeError(path, f"{what} is not an integer: {value!r}")
    if not MIN_INT32 <= value <= MAX_INT32:
        raise MalformedZnodeError(path, f"{what} is not a 32-bit integer: {value}")
    return value


def text(path: str, value: object, what: str) -> str:
    """Return a value that must be a string."""
    if not isinstance(value, str):
        raise MalformedZnodeError(path, f"{what} is not a string: {value!r}")
    return value


def integers(path: str, value: object, what: str) -> tuple[int, ...]:
    """Return a list of ints."""
    if not isinstance(value, list):
        raise MalformedZnodeError(path, f"{what} is not a list: {value!r}")
    return tuple([integer(path, each, what) for each in value])


def mapping(path: str, value: object, what: str) -> dict[str, Any]:
    """Return a JSON object inside another."""
    if not isinstance(value, dict):
        raise MalformedZnodeError(path, f"{what} is not an object: {value!r}")
    return value


def decimal(path: str, data: bytes | None) -> int:
    """Decode a bare ASCII integer, as offsets and epochs are kept."""
    if data is None or not _DECIMAL.fullmatch(data):
        raise MalformedZnodeError(path, f"not an integer: {data!r}")
    return int(data)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


# Created once: creating one takes nearly as long as decoding a znode.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
