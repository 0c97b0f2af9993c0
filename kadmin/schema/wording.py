"""Words an error of jsonschema for authors of plans, with a hint at the correct text.

jsonschema's `best_match` names one error of a document, without a hint: of the documents under
tests/documents 25 of 83 errors, 73 of which have a hint here. Its own messages are used for bounds;
others show patterns and whole values.
"""

from __future__ import annotations

import difflib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kadmin.wording import name_some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jsonschema import ValidationError

QUOTE_IT = "quote it"

_LONGEST_SHOWN = 60
_MOST_LISTED = 10
_KINDS = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "a whole number",
    "number": "a number",
}
_PYTHON_KINDS = {
    dict: "a mapping",
    list: "a list",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """One violation of a schema.

    `path` leads to the value, or to the name of an unknown field. `rule` is the JSON Schema
    keyword, propertyNames for every rule about a field's name. `title` is that of the violated
    subschema, `instance` the value.
    """

    path: tuple[str | int, ...]
    message: str
    hint: str | None
    rule: str
    title: str = ""
    instance: Any = None


def show(value: object) -> str:
    """Write a value as JSON on one line, short, with everything unprintable escaped."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    shown = "".join(
        char if char.isprintable() else _escape(char) for char in text[: _LONGEST_SHOWN + 1]
    )
    return shown if len(text) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]}..."


def explain(error: ValidationError) -> Iterator[SchemaViolation]:
    """Return the violations of one error of jsonschema.

    There is one for each unknown field or repeated item, else one.
    """
    word = _WORDINGS.get(str(error.validator), _in_its_own_words)
    yield from word(error)


def _violation(error: ValidationError, message: str, hint: str | None = None) -> SchemaViolation:
    schema, path = _schema(error), tuple(error.absolute_path)
    named = "propertyNames" in error.absolute_schema_path
    return SchemaViolation(
        (*path, str(error.instance)) if named else path,
        message,
        hint if hint is not None else schema.get("x-hint"),
        "propertyNames" if named else str(error.validator),
        schema.get("title", ""),
        error.instance,
    )


def _schema(error: ValidationError) -> dict[str, Any]:
    return error.schema if isinstance(error.schema, dict) else {}


def _type(error: ValidationError) -> Iterator[SchemaViolation]:
    if "enum" in _schema(error):  # its own violation lists the allowed values
        return
    expected = _items(error.validator_value) or [error.validator_value]
    found = (
        "this is null"
        if error.instance is None
        else _PYTHON_KINDS.get(type(error.instance), "a value")
    )
    wanted = " or ".join(_KINDS.get(kind, kind) for kind in expected)
    title = _schema(error).get("title")
    needed = (
        f"a {title} is {wanted}" if title and "string" in expected else f"{wanted} belongs here"
    )
    shown = "" if error.instance is None else f"{show(error.instance)} is "
    hint = None
    if "string" in expected and _would_fit_quoted(error):
        hint = QUOTE_IT
    elif "integer" in expected and isinstance(error.instance, str) and error.instance.isdecimal():
        hint = f"write it without quotes: {show(error.instance)[1:-1]}"
    elif (
        "integer" in expected and isinstance(error.instance, float) and error.instance.is_integer()
    ):
        hint = f"write it plainly: {error.instance:.0f}"
    yield _violation(error, f"{shown}{found}; {needed}", hint)


def _would_fit_quoted(error: ValidationError) -> bool:
    pattern = _schema(error).get("pattern")
    scalar = error.instance is None or isinstance(error.instance, bool | int | float)
    return scalar and pattern is not None and re.search(pattern, show(error.instance)) is not None


def _unknown_fields(error: ValidationError) -> Iterator[SchemaViolation]:
    allowed = list(_schema(error).get("properties", {}))
    fields = error.instance if isinstance(error.instance, dict) else {}
    for name, value in fields.items():
        if name in allowed:
            continue
        close = difflib.get_close_matches(name[:_LONGEST_SHOWN], allowed, n=1)
        guess = f"did you mean {close[0]}? " if close else ""
        hint = f"{guess}allowed here: {', '.join(allowed)}"
        path = (*error.absolute_path, name)
        yield SchemaViolation(
            path, f"unknown field {_name(name)}", hint, "additionalProperties", "", value
        )


def _missing_field(error: ValidationError) -> Iterator[SchemaViolation]:
    required = _items(error.validator_value)
    # No attribute has it.
    name = next(each for each in required if error.message.startswith(f"{each!r} "))
    hint = f"required here: {', '.join(required)}" if len(required) > 1 else None
    yield _violation(error, f"the field {name} is missing", hint)


def _missing_beside(error: ValidationError) -> Iterator[SchemaViolation]:
    needed = error.validator_value if isinstance(error.validator_value, dict) else {}
    # No attribute has the two names, either.
    field, name = next(
        (field, name)
        for field, names in needed.items()
        for name in names
        if error.message == f"{name!r} is a dependency of {field!r}"
    )
    yield _violation(error, f"the field {name} is missing, which {field} needs")


def _not_allowed(error: ValidationError) -> Iterator[SchemaViolation]:
    allowed = (
        [error.validator_value] if error.validator == "const" else _items(error.validator_value)
    )
    names = [str(value) for value in allowed]
    close = difflib.get_close_matches(str(error.instance)[:_LONGEST_SHOWN], names, n=1)
    listed = name_some(
        (value if isinstance(value, str) else json.dumps(value) for value in allowed),
        most=_MOST_LISTED,
    )
    hint = f"did you mean {close[0]}?" if close and len(allowed) > 1 else None
    found, field = show(error.instance), _schema(error).get("title", "this")
    message = (
        f"{field} is one of {listed}, not {found}"
        if len(allowed) > 1
        else f"{found} is not {listed}"
    )
    yield _violation(error, message, hint)


def _malformed(error: ValidationError) -> Iterator[SchemaViolation]:
    yield _violation(
        error, f"{show(error.instance)} is not a valid {_schema(error).get('title', 'text')}"
    )


def _too_few(error: ValidationError) -> Iterator[SchemaViolation]:
    what = _schema(error).get("title", "value")
    yield _violation(error, f"the {what} must not be empty")


def _too_long(error: ValidationError) -> Iterator[SchemaViolation]:
    yield _violation(error, f"longer than {error.validator_value}")


def _repeated(error: ValidationError) -> Iterator[SchemaViolation]:
    seen: set[str] = set()
    title = _schema(error).get("title", "list")
    for index, item in enumerate(_items(error.instance)):
        key = json.dumps(item, sort_keys=True)
        if key in seen:
            path = (*error.absolute_path, index)
            message = f"{show(item)} is listed twice in this {title}"
            yield SchemaViolation(path, message, "keep one of them", "uniqueItems", title, item)
        seen.add(key)


def _exactly_one(error: ValidationError) -> Iterator[SchemaViolation]:
    if not isinstance(error.instance, dict):  # its type is a violation of its own
        return
    branches = _items(error.validator_value)
    names = [name for branch in branches for name in branch.get("required", ())]
    # What may be alone may also be beside the others.
    alone = {name for each in branches if "propertyNames" in each for name in each["required"]}
    found = [name for name in names if name in error.instance and name not in alone]
    given = f"here are {' and '.join(found)}" if found else "here is none"
    yield _violation(error, f"exactly one of {', '.join(names)} is needed; {given}")


def _in_its_own_words(error: ValidationError) -> Iterator[SchemaViolation]:
    yield _violation(
        error, "".join(char if char.isprintable() else _escape(char) for char in error.message)
    )


_WORDINGS: dict[str, Callable[[ValidationError], Iterator[SchemaViolation]]] = {
    "type": _type,
    "additionalProperties": _unknown_fields,
    "required": _missing_field,
    "dependentRequired": _missing_beside,
    "const": _not_allowed,
    "enum": _not_allowed,
    "pattern": _malformed,
    "minItems": _too_few,
    "minProperties": _too_few,
    "maxItems": _too_long,
    "maxLength": _too_long,
    "uniqueItems": _repeated,
    "oneOf": _exactly_one,
}


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _name(name: str) -> str:
    shown = show(name)[1:-1]
    return shown if shown == name and name else show(name)


def _escape(char: str) -> str:
    return json.dumps(char)[1:-1]
