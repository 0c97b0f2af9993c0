"""Reads the schemas of a folder and checks values against them.

The only module that runs jsonschema. jsonschema-rs accepts values that conform, a plan of 50,000
partitions in 0.1 s; jsonschema, which needs 4 s for that plan, finds the violations of the others.
Schemas of others are checked by jsonschema alone: they may recurse without end. No URL is fetched:
a `$ref` that leads out of its schema is an error of that schema.
"""

from __future__ import annotations

import difflib
import itertools
import json
import math
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from kadmin.errors import InvalidInputError, KadminError, UsageError
from kadmin.next_step import command
from kadmin.schema.wording import explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from jsonschema.protocols import Validator

    from kadmin.schema.wording import SchemaViolation

    Check: TypeAlias = "Callable[[object], bool]"
    Schema: TypeAlias = Mapping[str, Any]

SUFFIX = ".schema.json"
MOST_VIOLATIONS = 1_000


class SchemaSet:
    """The schemas in a folder.

    A name is the path in there without `.schema.json`: `payloads/delete_topics`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._validators: dict[str, Validator] = {}

    def names(self) -> tuple[str, ...]:
        """Every schema's name, sorted; the folder is listed once."""
        return self._names

    @cached_property
    def _names(self) -> tuple[str, ...]:
        found = (
            path.relative_to(self.folder).as_posix() for path in self.folder.rglob(f"*{SUFFIX}")
        )
        return tuple(sorted(name.removesuffix(SUFFIX) for name in found))

    def text(self, name: str) -> str:
        """Return the text of a schema; raises UsageError for an unknown name."""
        if name not in (names := self.names()):
            close = difflib.get_close_matches(name, names, n=1)
            raise UsageError(
                f"There is no schema {name}.",
                cause=f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}",
                next_step=command("schema list"),
            )
        return (self.folder / f"{name}{SUFFIX}").read_text(encoding="utf-8")

    def violations(self, value: object, name: str) -> list[SchemaViolation]:
        """Return the violations of a value made of JSON's types, at most MOST_VIOLATIONS.

        Empty where it conforms. Raises InvalidInputError where the schema itself is invalid.
        """
        return list(itertools.islice(self._explained(value, name), MOST_VIOLATIONS))

    def check(self) -> None:
        """Raise InvalidInputError unless every schema is valid and has a name of kadmin's own."""
        if not self.names():
            raise InvalidInputError(
                f"There is no schema (*{SUFFIX}) in {self.folder}.",
                next_step=command("schema export", "DIR"),
            )
        schema_names = bundled().names()
        for name in self.names():
            if name not in schema_names:
                close = difflib.get_close_matches(name, schema_names, n=1)
                raise InvalidInputError(
                    f"The schema {self.folder / name}{SUFFIX} is of no kind of document.",
                    cause=f"did you mean {close[0]}{SUFFIX}?" if close else None,
                    next_step=command("schema list"),
                )
            _validator(self._schema(name), self.folder / f"{name}{SUFFIX}")

    def _explained(self, value: object, name: str) -> Iterator[SchemaViolation]:
        from referencing.exceptions import Unresolvable

        if name not in self._validators:
            self._validators[name] = _validator(self._schema(name), self.folder / f"{name}{SUFFIX}")
        try:
            for error in self._validators[name].iter_errors(value):  # type: ignore[arg-type]  # any value may be judged
                yield from explain(error)
        except Unresolvable as error:
            raise _refers_outside(self.folder / f"{name}{SUFFIX}", error.ref) from error
        except RecursionError as error:
            raise InvalidInputError(
                f"The schema {self.folder / name}{SUFFIX} never ends.",
                cause="it is nested too deep, or a reference leads back to itself",
            ) from error

    def _schema(self, name: str) -> Schema:
        path = self.folder / f"{name}{SUFFIX}"
        try:
            schema = json.loads(self.text(name), object_hook=_anchored)
        except (ValueError, RecursionError) as error:
            raise InvalidInputError(f"The schema {path} is not JSON.", cause=str(error)) from error
        if not isinstance(schema, dict):
            raise InvalidInputError(f"The schema {path} is not an object.")
        return schema


def compile_quick(schema: Schema) -> Check:
    """Return a test that is True only for values that conform.

    Where it is False, jsonschema has to judge. It is False for every value where the schema is
    invalid or refers to another one.
    """
    from jsonschema_rs import Draft202012Validator

    try:
        validator = Draft202012Validator(dict(schema), offline=True)
    except ValueError:
        return lambda _: False

    def conforms(value: object) -> bool:
        try:
            return validator.is_valid(value) and not _has_integral_float(value)
        except ValueError:  # a value that JSON does not have, such as half a surrogate pair
            return False

    return conforms


def _has_integral_float(value: object) -> bool:
    """Whether a 1.0 is in the value: JSON Schema takes it for an integer, Kafka does not."""
    parts = [value]
    for part in parts:
        if isinstance(part, dict):
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
        elif isinstance(part, float) and part.is_integer():
            return True
    return False


def _validator(schema: Schema, path: Path) -> Validator:
    from jsonschema import Draft202012Validator, SchemaError, validators
    from referencing import Registry

    try:
        foreign = next(
            (target for target in _references(schema) if not target.startswith("#")), None
        )
        Draft202012Validator.check_schema(schema)
    except RecursionError as error:
        raise InvalidInputError(f"The schema {path} is nested too deep.") from error
    except SchemaError as error:
        raise InvalidInputError(
            f"{path} is not a valid JSON Schema.", cause=f"{error.json_path}: {error.message}"
        ) from error
    if foreign is not None:
        raise _refers_outside(path, foreign)
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: type(value) is int,
            "number": lambda _, value: (
                type(value) is int or (type(value) is float and math.isfinite(value))
            ),
        }
    )
    kind = validators.extend(Draft202012Validator, type_checker=types)  # type: ignore[no-untyped-call]  # jsonschema's own gap
    validator: Validator = kind(schema, registry=Registry())
    return validator


def _refers_outside(path: Path, target: str) -> InvalidInputError:
    return InvalidInputError(
        f"The schema {path} refers to {target}, which is not in it.",
        cause="schemas are complete in themselves; nothing is fetched",
    )


def _references(part: object) -> Iterator[str]:
    if isinstance(part, dict):
        yield from (
            target for key in ("$ref", "$dynamicRef") if isinstance(target := part.get(key), str)
        )
    children = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    for child in children:
        yield from _references(child)


def _anchored(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a schema with its pattern as Python has it.

    There a final `$` matches before a newline, too.
    """
    pattern = part.get("pattern")
    return (
        {**part, "pattern": f"{pattern[:-1]}\\Z"}
        if isinstance(pattern, str) and pattern.endswith("$")
        else part
    )


@lru_cache(maxsize=1)
def bundled() -> SchemaSet:
    """Return kadmin's own schemas."""
    return SchemaSet(Path(__file__).resolve().parent.parent / "schemas")


def schema_file_name(name: str) -> str:
    """Return the path of a schema's file within a folder of schemas."""
    return f"{name}{SUFFIX}"


def validate_value(value: object, schema_name: str) -> list[SchemaViolation]:
    """Return the violations of one of kadmin's own schemas by a value."""
    return [] if _quick(schema_name)(value) else bundled().violations(value, schema_name)


@lru_cache
def _quick(schema_name: str) -> Check:
    return compile_quick(json.loads(bundled().text(schema_name)))


def require_valid_payload(value: object, name: str) -> None:
    """Raise KadminError for a payload that a znode's schema forbids: a bug.

    A schema is `reassign_partitions`, for example.
    """
    violations = validate_value(value, f"payloads/{name}")
    if violations:
        first = violations[0]
        place = "/".join(map(str, first.path))
        raise KadminError(
            f"Refused to write an invalid payload of {name}.",
            cause=f"{place}: {first.message}" if place else first.message,
            next_step="nothing was written; please report this",
        )
