"""A quick yes: a JSON Schema turned into one Python function that is True only for values that surely conform.

jsonschema needs 10 s for a plan of 50,000 partitions, this 0.2 s. False means nothing by itself: jsonschema then says
whether something is wrong, and what. Stricter than jsonschema in the two places where JSON and Python differ: 1.0 is no
integer, and a pattern's `$` is the end of the text, not of its last line.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Check: TypeAlias = "Callable[[Any], bool]"
    Schema: TypeAlias = Mapping[str, Any]

_ANNOTATIONS = frozenset(
    {"$schema", "$id", "$defs", "$comment", "title", "description", "default", "examples", "x-hint"}
)
_OBJECT_KEYWORDS = frozenset({"properties", "additionalProperties", "required", "propertyNames", "minProperties"})


class UnsupportedSchemaError(Exception):
    """The schema uses a keyword that is not known here; only jsonschema can judge it."""


def is_integer(value: object) -> bool:
    """Whether it is an integer: neither 1.0 nor True is one."""
    return type(value) is int


def is_number(value: object) -> bool:
    """Whether it is a number of JSON: finite, and not a boolean."""
    return type(value) is int or (type(value) is float and math.isfinite(value))


_TYPES: dict[str, Check] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "number": is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Compile a pattern as JSON Schema means it: a final `$` does not match before a trailing newline."""
    return re.compile(re.sub(r"\$$", r"\\Z", pattern))


def compile_quick(schema: Schema) -> Check:
    """Return the quick test of a whole schema; raises UnsupportedSchemaError."""
    return _Compiler(schema).compile(schema)


class _Compiler:
    """Compiles subschemas of one root; references are to its `$defs`, and never recursive."""

    def __init__(self, root: Schema) -> None:
        self._definitions: Schema = root.get("$defs", {})

    def compile(self, schema: Schema) -> Check:
        checks = tuple(self._checks(schema))
        if len(checks) == 1:
            return checks[0]
        return lambda value: all(check(value) for check in checks)

    def _checks(self, schema: Schema) -> Iterator[Check]:
        kinds = schema.get("type", ())
        if kinds:
            yield _type(kinds)
        if not _OBJECT_KEYWORDS.isdisjoint(schema):
            yield self._object(schema)
        for keyword, argument in schema.items():
            if keyword in _ANNOTATIONS or keyword in _OBJECT_KEYWORDS or keyword == "type":
                continue
            if keyword == "$ref":
                yield self._reference(argument)
            elif keyword == "items":
                yield self._items(argument)
            elif keyword == "oneOf":
                yield self._one_of(argument)
            elif keyword in _SIMPLE:
                yield _SIMPLE[keyword](argument)
            else:
                raise UnsupportedSchemaError(keyword)

    def _reference(self, reference: str) -> Check:
        name = reference.removeprefix("#/$defs/")
        if name not in self._definitions:
            raise UnsupportedSchemaError(reference)
        return self.compile(self._definitions[name])

    def _items(self, argument: Schema) -> Check:
        check = self.compile(argument)
        return lambda value: not isinstance(value, list) or all(map(check, value))

    def _one_of(self, branches: list[Schema]) -> Check:
        checks = [self.compile(branch) for branch in branches]
        return lambda value: sum(check(value) for check in checks) == 1

    def _object(self, schema: Schema) -> Check:
        properties = {name: self.compile(part) for name, part in schema.get("properties", {}).items()}
        required = frozenset(schema.get("required", ()))
        least = schema.get("minProperties", 0)
        names = self.compile(schema["propertyNames"]) if "propertyNames" in schema else None
        others = self._additional(schema.get("additionalProperties", True))

        def check(value: Any) -> bool:  # noqa: ANN401 - any JSON value
            if not isinstance(value, dict):
                return True
            if len(value) < least or not required <= value.keys():
                return False
            if names is not None and not all(map(names, value)):
                return False
            return all(properties.get(name, others)(part) for name, part in value.items())

        return check

    def _additional(self, argument: bool | Schema) -> Check:  # noqa: FBT001 - a JSON Schema may be a boolean
        if isinstance(argument, bool):
            return lambda _: argument
        return self.compile(argument)


def _type(kinds: str | list[str]) -> Check:
    if isinstance(kinds, str):
        return _TYPES[kinds]
    checks = [_TYPES[kind] for kind in kinds]
    return lambda value: any(check(value) for check in checks)


def _one_of_values(allowed: list[Any]) -> Check:
    exact = {(type(value), value) for value in allowed}
    return lambda value: isinstance(value, str | int | float | None) and (type(value), value) in exact


def _pattern(pattern: str) -> Check:
    search = compile_pattern(pattern).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _bound(holds: Callable[[Any, Any], bool]) -> Callable[[Any], Check]:
    return lambda bound: lambda value: not is_number(value) or holds(value, bound)  # pragma: no mutate - as below


def _length(kind: type[list[Any] | str], holds: Callable[[int, int], bool]) -> Callable[[Any], Check]:
    # Made when this module is imported, before any mutant is chosen.
    return lambda bound: lambda value: not isinstance(value, kind) or holds(len(value), bound)  # pragma: no mutate


def _unique(wanted: bool) -> Check:  # noqa: FBT001 - the keyword's own argument
    return lambda value: not wanted or not isinstance(value, list) or _all_different(value)


def _all_different(values: list[Any]) -> bool:
    scalars = all(type(value) in {int, str} for value in values)
    return scalars and len(set(values)) == len(values)


_SIMPLE: dict[str, Callable[[Any], Check]] = {
    "const": lambda value: _one_of_values([value]),
    "enum": _one_of_values,
    "pattern": _pattern,
    "minimum": _bound(lambda value, bound: value >= bound),
    "maximum": _bound(lambda value, bound: value <= bound),
    "exclusiveMinimum": _bound(lambda value, bound: value > bound),
    "minItems": _length(list, lambda length, bound: length >= bound),
    "maxItems": _length(list, lambda length, bound: length <= bound),
    "minLength": _length(str, lambda length, bound: length >= bound),
    "maxLength": _length(str, lambda length, bound: length <= bound),
    "uniqueItems": _unique,
}
