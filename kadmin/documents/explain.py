"""Gives violations of a schema their codes, and hints that quote the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kadmin.documents.other_tools import answer_to
from kadmin.plan import codes
from kadmin.plan.units import parse_duration, parse_percent, parse_rate, parse_size
from kadmin.schema import QUOTE_IT, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.next_step import NextStep
    from kadmin.schema import SchemaViolation

_CODES = {
    "type": codes.WRONG_TYPE,
    "additionalProperties": codes.UNKNOWN_FIELD,
    "required": codes.MISSING_FIELD,
    "dependentRequired": codes.MISSING_FIELD,
    "const": codes.NOT_ALLOWED,
    "enum": codes.NOT_ALLOWED,
    "pattern": codes.MALFORMED,
    "propertyNames": codes.MALFORMED,
    "maxLength": codes.MALFORMED,
    "minimum": codes.OUT_OF_RANGE,
    "exclusiveMinimum": codes.OUT_OF_RANGE,
    "maximum": codes.OUT_OF_RANGE,
    "minItems": codes.EMPTY,
    "minProperties": codes.EMPTY,
    "uniqueItems": codes.DUPLICATE_ENTRY,
    "oneOf": codes.NOT_EXACTLY_ONE,
}
_AMOUNTS: dict[str, Callable[[str], int | float]] = {
    "size": parse_size,
    "rate": parse_rate,
    "duration": parse_duration,
    "percentage": parse_percent,
}
_WITHIN: dict[str, dict[str, Callable[[str], int | float]]] = {
    "throttle": {"rate": parse_rate, "finish_in": parse_duration},
    "tolerance": {"bytes": parse_percent},
}
"""Mappings that are often written as the amount that belongs into them, with its field."""
_TOKEN = re.compile(r"[^\s,\[\]{}#]+")
_UNIT_MISSING = "has no unit"


def code_of(violation: SchemaViolation) -> str:
    """Return the code of a schema's violation."""
    if violation.path == ("apiVersion",):
        return codes.KIND
    return _CODES.get(violation.rule, codes.NOT_ALLOWED)


def amount_problem(violation: SchemaViolation) -> tuple[str, str] | None:
    """Return code and message of a violation about an amount with a unit, as text or number."""
    parse = _AMOUNTS.get(violation.title)
    if (
        parse is None
        or violation.rule not in {"type", "pattern"}
        or isinstance(violation.instance, bool)
    ):
        return None
    if not isinstance(violation.instance, str | int | float):
        return None
    text = violation.instance if isinstance(violation.instance, str) else show(violation.instance)
    try:
        parse(text)
    except ValueError as error:
        return (codes.NO_UNIT if _UNIT_MISSING in str(error) else codes.MALFORMED), str(error)
    return None


def hint_of(violation: SchemaViolation, line: str, column: int) -> NextStep | str | None:
    """Return the next step; where it says to quote a value, with the value from the line."""
    if violation.rule in {"type", "pattern"} and isinstance(violation.instance, str):
        for field, parse in _WITHIN.get(violation.title, {}).items():
            if _is_amount(parse, violation.instance):
                return f"write {{{field}: {violation.instance}}}"
    if (
        violation.rule == "additionalProperties"
        and (answer := answer_to(violation.path[-1])) is not None
    ):
        return f"{violation.hint}; " + answer
    if violation.hint != QUOTE_IT:
        return violation.hint
    token = _TOKEN.match(line, column - 1)
    return f'{QUOTE_IT}: "{token[0]}"' if token else "write a value"


def _is_amount(parse: Callable[[str], int | float], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True
