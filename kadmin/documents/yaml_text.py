"""YAML as events: plain data of YAML 1.2, nothing that other readers could understand differently.

Aliases are never followed, so a text cannot grow into more than its own bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from kadmin.documents.events import Complaint, Kind
from kadmin.documents.scalars import OddNumberError, resolve
from kadmin.plan import codes
from kadmin.schema import show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kadmin.documents.events import Event

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def yaml_events(text: str) -> Iterator[Event]:
    """Yield the events of the first document, with a FAULT or STOP for whatever no document may hold."""
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            mark = event.start_mark
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    message = "a second document starts here; a file holds one"
                    yield _stop(codes.NOT_ONE_DOCUMENT, message, mark, "put it into a file of its own")
                    return
                if event.version or event.tags:
                    yield _stop(codes.FORBIDDEN_YAML, "directives (%YAML, %TAG) are not read", mark, "remove the line")
                    return
            else:
                yield from _node_events(event, mark)
    except yaml.YAMLError as error:
        yield _syntax_error(error)


def _node_events(event: Any, mark: Any) -> Iterator[Event]:  # noqa: ANN401 - PyYAML's events carry no common type
    line, column = mark.line + 1, mark.column + 1
    if isinstance(event, yaml.ScalarEvent):
        if event.anchor is not None or event.tag is not None:
            yield from _decorations(event, line, column)
        if event.style:  # plain is "" in C and None in Python
            yield Kind.SCALAR, event.value, line, column
        elif event.value == "<<":
            yield Kind.FAULT, _MERGE, line, column
            yield Kind.SCALAR, event.value, line, column
        else:
            yield from _plain_scalar(event.value, line, column)
    elif isinstance(event, yaml.CollectionStartEvent):
        if event.anchor is not None or event.tag is not None:
            yield from _decorations(event, line, column)
        yield (Kind.MAPPING if isinstance(event, yaml.MappingStartEvent) else Kind.SEQUENCE), None, line, column
    elif isinstance(event, yaml.CollectionEndEvent):
        yield Kind.END, None, line, column
    elif isinstance(event, yaml.AliasEvent):
        complaint = Complaint(
            codes.FORBIDDEN_YAML, f"{_short(f'*{event.anchor}')} is an alias", "write the value out", blind=True
        )
        yield Kind.FAULT, complaint, line, column
        yield Kind.SCALAR, f"*{event.anchor}", line, column


_MERGE = Complaint(codes.FORBIDDEN_YAML, "<< is a merge key", "write the fields out", blind=True)


def _plain_scalar(text: str, line: int, column: int) -> Iterator[Event]:
    try:
        yield Kind.SCALAR, resolve(text), line, column
    except OddNumberError as error:
        message = f"{_short(text)} is a number that readers understand differently"
        yield Kind.FAULT, Complaint(codes.ODD_NUMBER, message, str(error), blind=True), line, column
        yield Kind.SCALAR, text, line, column


def _decorations(event: Any, line: int, column: int) -> Iterator[Event]:  # noqa: ANN401 - as above
    if event.anchor is not None:
        complaint = Complaint(codes.FORBIDDEN_YAML, f"{_short(f'&{event.anchor}')} is an anchor", "remove it")
        yield Kind.FAULT, complaint, line, column
    if event.tag is not None:
        complaint = Complaint(
            codes.FORBIDDEN_YAML,
            f"{_short(event.tag.replace('tag:yaml.org,2002:', '!!'))} is a tag",
            "remove it; types come from the schema",
        )
        yield Kind.FAULT, complaint, line, column


def _short(text: str) -> str:
    return show(text)[1:].removesuffix('"')


def _stop(code: str, message: str, mark: Any, hint: str | None = None) -> Event:  # noqa: ANN401 - as above
    return Kind.STOP, Complaint(code, message, hint), mark.line + 1, mark.column + 1


def _syntax_error(error: yaml.YAMLError) -> Event:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    said = ", ".join(part for part in (getattr(error, "context", None), getattr(error, "problem", None)) if part)
    complaint = Complaint(codes.SYNTAX, f"not well-formed YAML: {_short(said or str(error))}")
    return (Kind.STOP, complaint, mark.line + 1, mark.column + 1) if mark else (Kind.STOP, complaint, 1, 1)
