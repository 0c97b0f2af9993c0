"""Reads YAML as events: plain data of YAML 1.2, without text that readers understand differently.

Aliases are never followed, so a text cannot grow into more than its own bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from kadmin.diagnostics import Diagnostic
from kadmin.documents.events import EventKind
from kadmin.documents.scalars import OddNumberError, resolve
from kadmin.plan import codes
from kadmin.schema import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.documents.events import Event

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


_KINDS = {
    yaml.ScalarEvent: EventKind.SCALAR,
    yaml.MappingStartEvent: EventKind.MAPPING,
    yaml.SequenceStartEvent: EventKind.SEQUENCE,
    yaml.MappingEndEvent: EventKind.END,
    yaml.SequenceEndEvent: EventKind.END,
}


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of the first document.

    Parts that no document may have give a FAULT, PLACEHOLDER or STOP.
    """
    begun = False
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            kind = _KINDS.get(type(event))
            mark: Any = event.start_mark
            if kind is not None:
                yield from _node_events(kind, event, mark.line + 1, mark.column + 1)
            elif isinstance(event, yaml.AliasEvent):
                yield from _alias(event, mark.line + 1, mark.column + 1)
            elif isinstance(event, yaml.DocumentStartEvent):
                fault = _SECOND if begun else _DIRECTIVES if event.version or event.tags else None
                if fault is not None:
                    yield EventKind.STOP, fault, mark.line + 1, mark.column + 1
                    return
                begun = True
    except (
        yaml.MarkedYAMLError
    ) as error:  # the reader of yaml, whose errors are not marked, never fails here
        yield _syntax_error(error, text)


_SECOND = Diagnostic(
    codes.NOT_ONE_DOCUMENT,
    "a second document starts here; a file holds one",
    "put it into a file of its own",
)
_DIRECTIVES = Diagnostic(
    codes.FORBIDDEN_YAML, "directives (%YAML, %TAG) are not read", "remove the line"
)
_KEYS_OF_YAML_1_1 = {
    "<<": Diagnostic(codes.FORBIDDEN_YAML, "<< is a merge key", "write the fields out"),
    "=": Diagnostic(codes.FORBIDDEN_YAML, "= is the value key of YAML 1.1", 'quote it: "="'),
}


def _node_events(kind: EventKind, event: Any, line: int, column: int) -> tuple[Event, ...]:  # noqa: ANN401 - PyYAML's events carry no common type
    """Return the events of a node that is no alias.

    A large plan has a million of them: its time is spent here.
    """
    if kind is EventKind.END:
        return ((kind, None, line, column),)
    value = unreadable = None
    if kind is EventKind.SCALAR:
        value = event.value
        if not event.style:  # plain is "" in C and None in Python
            value, unreadable = _plain_scalar(value)
    node = (kind, value, line, column)
    if unreadable is None and event.anchor is None and event.tag is None:
        return (node,)
    faults = [(EventKind.FAULT, fault, line, column) for fault in _decorations(event)]
    if unreadable is not None:
        faults.append((EventKind.PLACEHOLDER, unreadable, line, column))
    return (*faults, node)


def _alias(event: Any, line: int, column: int) -> Iterator[Event]:  # noqa: ANN401 - as above
    fault = Diagnostic(
        codes.FORBIDDEN_YAML, f"{_short(f'*{event.anchor}')} is an alias", "write the value out"
    )
    yield EventKind.PLACEHOLDER, fault, line, column
    yield EventKind.SCALAR, f"*{event.anchor}", line, column


def _plain_scalar(text: str) -> tuple[str | int | float | bool | None, Diagnostic | None]:
    if text in _KEYS_OF_YAML_1_1:
        return text, _KEYS_OF_YAML_1_1[text]
    try:
        return resolve(text), None
    except OddNumberError as error:
        message = f"{_short(text)} is a number that readers understand differently"
        return text, Diagnostic(codes.ODD_NUMBER, message, str(error))


def _decorations(event: Any) -> Iterator[Diagnostic]:  # noqa: ANN401 - as above
    if event.anchor is not None:
        yield Diagnostic(
            codes.FORBIDDEN_YAML, f"{_short(f'&{event.anchor}')} is an anchor", "remove it"
        )
    if event.tag is not None:
        yield Diagnostic(
            codes.FORBIDDEN_YAML,
            f"{_short(event.tag.replace('tag:yaml.org,2002:', '!!'))} is a tag",
            "remove it; types come from the schema",
        )


def _short(text: str) -> str:
    return show(text)[1:].removesuffix('"')


def _syntax_error(error: yaml.MarkedYAMLError, text: str) -> Event:
    mark: Any = error.problem_mark
    if text[mark.index : mark.index + 1] == "\t":
        fault = Diagnostic(
            codes.SYNTAX, "not well-formed YAML: a tab in the indentation", "indent with spaces"
        )
    else:
        parts = [_short(part) for part in (error.context, error.problem) if part]
        begun: Any = error.context_mark
        if error.context and begun is not None and begun.line != mark.line:
            parts[0] += f" that starts on line {begun.line + 1}, column {begun.column + 1}"
        fault = Diagnostic(codes.SYNTAX, f"not well-formed YAML: {', '.join(parts)}")
    return EventKind.STOP, fault, mark.line + 1, mark.column + 1
