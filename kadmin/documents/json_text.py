"""JSON as a value, and as events where places or the finer faults are asked for."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

from kadmin.diagnostics import Diagnostic
from kadmin.documents.events import MOST_DEPTH, MOST_EVENTS, EventKind
from kadmin.documents.text import LineIndex
from kadmin.plan import codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.documents.events import Event

_TOKEN = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]|[^ \t\r\n{}\[\]:,"]+)')
_STRUCTURE = {
    "{": EventKind.MAPPING,
    "[": EventKind.SEQUENCE,
    "}": EventKind.END,
    "]": EventKind.END,
}
_WORDS = {"true": True, "false": False, "null": None}
_MOST_DIGITS = 19
_LONGEST_SHOWN = 40
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,18})", re.ASCII)
_FLOAT = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAY_HOLD_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _UnusualError(ValueError):
    """A text whose events must be read: it may be valid or not."""


def plain_value(text: str) -> tuple[bool, Any]:
    """Return (True, the value) of JSON that has nothing unusual in it.

    (False, None) where its events must be read. This fast path loads a plan of 50,000 partitions in
    a fraction of a second.
    """
    if _MAY_HOLD_SURROGATE.search(text) or _most_events(text) > MOST_EVENTS:
        return False, None
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_pairs,
            parse_constant=_refuse,
            parse_int=_integer,
            parse_float=_finite,
        )
    except (ValueError, RecursionError):
        return False, None
    return (False, None) if _too_deep(value) else (True, value)


def _most_events(text: str) -> int:
    """Return at least as many events as the text has: some separators may be inside strings."""
    return text.count(",") + text.count(":") + 2 * (text.count("{") + text.count("[")) + 1


def _too_deep(value: object) -> bool:
    level = [value]
    for _ in range(MOST_DEPTH + 1):
        children = (
            part.values() if isinstance(part, dict) else part
            for part in level
            if isinstance(part, dict | list)
        )
        level = [child for group in children for child in group]
        if not level:
            return False
    return True


def _unique_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _UnusualError
    return value


def _refuse(_: str) -> None:
    raise _UnusualError


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS or text == "-0":
        raise _UnusualError
    return int(text)


def _finite(text: str) -> float:
    if not math.isfinite(value := float(text)):
        raise _UnusualError
    return value


def json_events(text: str) -> Iterator[Event]:
    """Yield the events of a JSON text.

    A text that is not well-formed is one STOP, in the words of Python's decoder.
    """
    lines = LineIndex(text)
    error = _syntax_error(text)
    if error is not None:
        mark = lines.mark(error.pos)
        yield (
            EventKind.STOP,
            Diagnostic(codes.SYNTAX, f"not well-formed JSON: {error.msg}"),
            mark.line,
            mark.column,
        )
        return
    for match in _TOKEN.finditer(text):
        token = match[1]
        mark = lines.mark(match.start(1))
        kind = _STRUCTURE.get(token)
        if kind is not None:
            yield kind, None, mark.line, mark.column
            continue
        value, fault = _scalar(token)
        if fault is not None:
            yield EventKind.PLACEHOLDER, fault, mark.line, mark.column
        yield EventKind.SCALAR, value, mark.line, mark.column


def _syntax_error(text: str) -> json.JSONDecodeError | None:
    try:
        # The numbers do not matter, and int() refuses long ones.
        json.loads(text, parse_int=len, parse_float=len)
    except json.JSONDecodeError as error:
        return error
    except RecursionError:
        return None  # well-formed for a thousand levels: the events report that this is too deep
    return None


def _scalar(word: str) -> tuple[Any, Diagnostic | None]:
    """Return the value of a well-formed scalar, or its text as a placeholder and the fault."""
    if word.startswith('"'):
        value = json.loads(word)
        if _SURROGATE.search(value):
            return word, Diagnostic(codes.UNREADABLE, "a lone surrogate is not a character")
        return value, None
    if word in _WORDS:
        return _WORDS[word], None
    if _INTEGER.fullmatch(word) and word != "-0":
        return int(word), None
    if (
        _FLOAT.fullmatch(word)
        and ("." in word or "e" in word or "E" in word)
        and math.isfinite(float(word))
    ):
        return float(word), None
    shown = word if len(word) <= _LONGEST_SHOWN else f"{word[:_LONGEST_SHOWN]}..."
    next_step = "write it plainly in decimal digits, or quote it where a name is meant"
    return word, Diagnostic(
        codes.ODD_NUMBER, f"{shown} is a number that readers understand differently", next_step
    )
