"""Reads and writes documents by the marks of their shapes.

The schema of a document is written from the same marks. A field is in a document if it is annotated
with a description. One with a default may be absent. `KEYS` of a class are the keys of documents in
their order, where it is not that of the fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from kadmin.schema.shapes import At, Dumped, WrittenAs, as_is, key_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.schema.shapes import Convert, FieldGroup

_Shape = TypeVar("_Shape")


class ImpossibleAmountsError(ValueError):
    """Amounts that a schema allows and no cluster can have: the path and the reason of each."""

    def __init__(self, problems: list[tuple[tuple[str, ...], str]]) -> None:
        super().__init__("; ".join(message for _, message in problems))
        self.problems = problems


class DocumentField(NamedTuple):
    """A field of a shape that is in documents; with `key` None its own fields are.

    `default` may be MISSING.
    """

    name: str
    hint: Any
    key: str | None
    group: FieldGroup | None
    default: Any
    dumped: frozenset[Dumped]

    @property
    def path(self) -> tuple[str, ...]:
        """The keys that lead to the value."""
        outer = () if self.group is None else (self.group.key,)
        return outer if self.key is None else (*outer, self.key)

    def is_left_out(self, value: object) -> bool:
        """Whether the key of this value is left out of the document."""
        if value is None or Dumped.ALWAYS in self.dumped:
            return value is None
        return value == self.default and (not value or Dumped.UNLESS_DEFAULT in self.dumped)


@cache
def document_fields(shape: Any) -> tuple[DocumentField, ...]:  # noqa: ANN401 - the class of a shape
    """Return the fields of a shape that are in documents, in their order there."""
    hints = get_type_hints(shape, include_extras=True)
    found = []
    for each in fields(shape):
        marks = getattr(hints[each.name], "__metadata__", None)
        if marks is not None:
            at = next((mark for mark in marks if isinstance(mark, At)), At(key_of(each.name)))
            default = each.default if each.default_factory is MISSING else each.default_factory()
            dumped = frozenset(mark for mark in marks if isinstance(mark, Dumped))
            found.append(DocumentField(each.name, hints[each.name], *at, default, dumped))
    keys: tuple[str, ...] = getattr(shape, "KEYS", ())
    return tuple(
        sorted(found, key=lambda field: keys.index(field.path[0]) if keys and field.path else -1)
    )


def read(shape: Callable[..., _Shape], value: Mapping[str, Any], **others: object) -> _Shape:
    """Return the shape of a value that its schema allows.

    `others` are fields that are in no document. Raises ImpossibleAmountsError.
    """
    given, problems = {}, []
    for name, path, convert in _readers(shape):
        found: Any = value
        for key in path:
            found = None if found is None else found.get(key)
        if found is None:
            continue
        try:
            given[name] = convert(found)
        except ImpossibleAmountsError as error:
            problems += [((*path, *below), message) for below, message in error.problems]
        except ValueError as error:
            problems.append((path, str(error)))
    if problems:
        raise ImpossibleAmountsError(problems)
    return shape(**given, **others)


def write(value: Any) -> dict[str, Any]:  # noqa: ANN401 - a shape
    """Return a shape as JSON's types; an object without a field is left out."""
    found: dict[str, Any] = {}
    for field, convert in _writers(value.__class__):
        part = getattr(value, field.name)
        if field.is_left_out(part) or ((written := convert(part)) == {} and is_dataclass(part)):
            continue
        if field.key is None:
            found |= written
        else:
            within = found if field.group is None else found.setdefault(field.group.key, {})
            within[field.key] = written
    return found


@cache
def _readers(shape: object) -> tuple[tuple[str, tuple[str, ...], Convert], ...]:
    return tuple(
        (field.name, field.path, _conversion(field.hint, _READ)) for field in document_fields(shape)
    )


@cache
def _writers(shape: object) -> tuple[tuple[DocumentField, Convert], ...]:
    return tuple((field, writer_of(field.hint)) for field in document_fields(shape))


def form_of(marks: tuple[object, ...]) -> WrittenAs | None:
    """Return the form of a value in documents, if its marks have one."""
    return next((mark for mark in marks if isinstance(mark, WrittenAs)), None)


def writer_of(hint: Any) -> Convert:  # noqa: ANN401 - any annotation
    """Return the conversion of values of a type to JSON's types."""
    return _conversion(hint, _WRITE)


class _Direction(NamedTuple):
    """A direction, from or to JSON.

    It has the conversions of a WrittenAs and of a plain type, and the type of lists.
    """

    written: Callable[[WrittenAs], Convert]
    plain: Callable[[Any], Convert]
    list_type: type | None = None


def _conversion(hint: Any, direction: _Direction) -> Convert:  # noqa: ANN401 - any annotation
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        written = form_of(arguments[1:])
        convert = (
            _conversion(arguments[0], direction) if written is None else direction.written(written)
        )
        in_order = direction is _WRITE and Dumped.SORTED in arguments
        return (lambda values: convert(dict(sorted(values.items())))) if in_order else convert
    if origin in {Union, UnionType}:
        kinds = [each for each in arguments if each is not NoneType]
        return _conversion(kinds[0], direction) if len(kinds) == 1 else as_is
    if origin in {tuple, frozenset}:
        item, listed = _conversion(arguments[0], direction), direction.list_type or origin
        return listed if item is as_is else lambda values: listed(map(item, values))
    if origin is Mapping:
        key, item = (_conversion(each, direction) for each in arguments)
        return partial(_convert_each, key, item)
    return direction.plain(hint)


def _convert_each(key: Convert, item: Convert, values: Mapping[Any, Any]) -> dict[Any, Any]:
    """Convert the keys and values of a mapping; raises ImpossibleAmountsError."""
    found, problems = {}, []
    for name, each in values.items():
        try:
            found[key(name)] = item(each)
        except ImpossibleAmountsError as error:
            problems += [((name, *below), message) for below, message in error.problems]
    if problems:
        raise ImpossibleAmountsError(problems)
    return found


def _read_plain(hint: Any) -> Convert:  # noqa: ANN401 - a type
    if isinstance(hint, type) and is_dataclass(hint):
        return partial(read, hint)
    return hint if hint is float or _is_enum(hint) else as_is


def _write_plain(hint: Any) -> Convert:  # noqa: ANN401 - a type
    if is_dataclass(hint):
        return write
    return attrgetter("value") if _is_enum(hint) else hint if hint is float else as_is


def _is_enum(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, Enum)


_READ = _Direction(attrgetter("read"), _read_plain)
_WRITE = _Direction(attrgetter("write"), _write_plain, list)
