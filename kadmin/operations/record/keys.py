"""The keys of values on record: one grammar for every storage. Pure.

::

    operations/<id>/status       the only value of an operation that changes
    operations/<id>/record       the compressed record
    operations/<id>/request      pause or cancel, written without the lock
    operations/<id>/throttle     a change of the throttle, written without the lock
    operations/<id>/steps/<n>    one for each publish and each change of the throttle, six digits
    cordons/<broker id>          a cordon by kadmin, until it is taken off

A key is matched whole, and an id is one that `new_operation_id` makes, because any writer of the
topic chooses its keys, and a key becomes the path of a file.
"""

from __future__ import annotations

import re

from kadmin.errors import InvalidInputError
from kadmin.next_step import command

OPERATIONS = "operations"
CORDONS = "cordons"

_LEAVES = ("status", "record", "request", "throttle", "steps/[0-9]{6}")
_OPERATION = rf"{OPERATIONS}/[0-9]{{8}}T[0-9]{{6}}Z-[0-9a-f]{{6}}"
_CORDON = rf"{CORDONS}/(0|[1-9][0-9]{{0,9}})"
_KEY = re.compile(rf"{_OPERATION}/({'|'.join(_LEAVES)})|{_CORDON}")
_ASKED = re.compile(rf"{_OPERATION}/(request|throttle)")
_PARENT = re.compile(rf"{CORDONS}|{OPERATIONS}|{_OPERATION}|{_OPERATION}/steps")


def is_key(key: str) -> bool:
    """Whether a value on record may have this key."""
    return _KEY.fullmatch(key) is not None


def is_asked(key: str) -> bool:
    """Whether a key is of a request to an operation, which is written without the lock."""
    return _ASKED.fullmatch(key) is not None


def leads_to_keys(path: str) -> bool:
    """Whether a path is a key, or the parent of keys."""
    return is_key(path) or _PARENT.fullmatch(path) is not None


def key_of(operation_id: str, name: str) -> str:
    """Return the key of a value; raises InvalidInputError for an id that no operation can have."""
    key = f"{OPERATIONS}/{operation_id}/{name}"
    if not leads_to_keys(key):
        raise no_operation(operation_id)
    return key


def step_key(operation_id: str, number: int) -> str:
    """Return the key of a step."""
    return key_of(operation_id, f"steps/{number:06d}")


def cordon_key(broker_id: int) -> str:
    """Return the key of a cordon."""
    return f"{CORDONS}/{broker_id}"


def no_operation(operation_id: str) -> InvalidInputError:
    """Build the error for an operation that is not on record."""
    return InvalidInputError(f"There is no operation {operation_id}.", next_step=command("history"))
