"""Resolves plain YAML scalars.

They follow the core schema of YAML 1.2, without the spellings that readers understand differently.
`no`, `on`, dates and `12:30:45` are strings. Integers are decimal digits without sign prefix,
leading zero or underscore; other spellings (`0123`, `0x1F`, `1_000`, `+5`, `.nan`) are refused,
because YAML 1.1 and YAML 1.2 readers take them for different values.
"""

from __future__ import annotations

import json
import re

_FIRST_OF_NUMBERS = frozenset("0123456789-+.")
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]{0,18})(?:\.[0-9]{1,20})?(?:[eE][-+]?[0-9]{1,2})?", re.ASCII)
_NUMBER_OF_SOME_READER = re.compile(
    r"[-+]?(?:0[xX][0-9a-fA-F_]+|0[oObB][0-7_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|\.[0-9_]+(?:[eE][-+]?[0-9]+)?"
    r"|\.(?:inf|Inf|INF|nan|NaN|NAN))",
    re.ASCII,
)

_LONGEST_SHOWN = 40


class OddNumberError(ValueError):
    """A number in a spelling that readers understand differently.

    The message says how to write it.
    """


def resolve(text: str) -> str | int | float | bool | None:
    """Return the value of a plain scalar; raises OddNumberError."""
    if text[:1] not in _FIRST_OF_NUMBERS:
        if text in _NULLS:
            return None
        return _BOOLEANS.get(text, text)
    if text != "-0" and _INTEGER.fullmatch(text):
        return int(text)
    if text != "-0" and _FLOAT.fullmatch(text):
        return float(text)
    if _NUMBER_OF_SOME_READER.fullmatch(text):
        raise OddNumberError(_advice(text))
    return text


def _advice(text: str) -> str:
    quoted = json.dumps(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}...")
    digits = text.lstrip("+").replace("_", "")
    plain = digits.lstrip("0") or "0"
    if plain.isdecimal() and _INTEGER.fullmatch(plain):
        return f"write it plainly ({plain}), or quote it ({quoted}) where a name is meant"
    return f"write it plainly in decimal digits, or quote it ({quoted}) where a name is meant"
