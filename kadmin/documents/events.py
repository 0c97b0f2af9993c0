"""The events of a YAML or JSON text, and the value, or the places, that are built from it.

A value is built without places, which would cost ten times its memory. To find the place of a path,
the text is read once more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents.text import Mark
from kadmin.plan import codes
from kadmin.schema import QUOTE_IT, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kadmin.diagnostics import Field

MOST_EVENTS = 3_000_000
"""The most keys, values and ends of mappings and lists: those of a plan of 150,000 partitions with
every field."""
MOST_DEPTH = 100
MOST_FAULTS = 1_000


class EventKind(Enum):
    """The kind of an event."""

    SCALAR = 0
    MAPPING = 1
    SEQUENCE = 2
    END = 3
    FAULT = 4
    PLACEHOLDER = 5
    STOP = 6


Event: TypeAlias = tuple[EventKind, Any, int, int]
"""Kind, payload, line and column. The payload is a scalar's value, or the Diagnostic of a FAULT,
PLACEHOLDER or STOP.

A FAULT or PLACEHOLDER concerns the node that follows it. After a PLACEHOLDER that node only
replaces a value that cannot be read, and is not checked by the schema. A STOP ends the stream.
"""


class Place(NamedTuple):
    """The place of a path in the text: its key (for list items: the item itself) and its value."""

    key: Mark
    value: Mark


@dataclass(slots=True)
class ReadResult:
    """A value, and the problems of its text; each diagnostic has its field and location.

    `number_keys` are keys written as plain integers, which some fields allow. `unjudged_fields`
    have placeholders for values. `complete` is False where reading had to stop.
    """

    value: Any = None
    faults: list[Diagnostic] = field(default_factory=list)
    number_keys: list[Diagnostic] = field(default_factory=list)
    unjudged_fields: set[Field] = field(default_factory=set)
    complete: bool = True


@dataclass(slots=True)
class _Frame:
    """One open mapping or sequence, and its step in its parent.

    `key` None: a mapping that expects a key.
    """

    container: Any
    is_mapping: bool
    step: str | int
    key: str | None = None


class _StopReadingError(Exception):
    """Nothing after this place can be read."""


def assemble(events: Iterable[Event], source: str) -> ReadResult:
    """Build the value of the file `source`.

    Of a duplicate key the first value stays, and the diagnostic has the location of the second key.
    """
    assembly = _Assembly(source)
    try:
        assembly.run(events)
    except _StopReadingError:
        assembly.reading.complete = False
    return assembly.reading


class _Assembly:
    """A value under construction.

    It has a stack of open containers, and faults that wait for the node they concern.
    """

    def __init__(self, source: str) -> None:
        self.reading = ReadResult()
        self._source = source
        self._frames: list[_Frame] = []
        self._pending: list[tuple[EventKind, Diagnostic, Mark]] = []

    def run(self, events: Iterable[Event]) -> None:
        """Take every event; raises _StopReadingError."""
        frames = self._frames
        for count, (kind, payload, line, column) in enumerate(events):
            if kind is EventKind.END:
                frames.pop()
                continue
            if kind is EventKind.FAULT or kind is EventKind.PLACEHOLDER or kind is EventKind.STOP:
                self._take_fault(kind, payload, Mark(line, column))
                continue
            if frames and (frame := frames[-1]).is_mapping and frame.key is None:
                self._take_key(kind, payload, Mark(line, column))
                continue
            if self._pending:
                self._settle((*self._path(), *self._next_step()))
            if kind is EventKind.SCALAR:
                self._put(payload)
            else:
                self._open(kind, Mark(line, column))
            if count > MOST_EVENTS:
                message = f"more than {MOST_EVENTS:,} keys, values and ends of lists and mappings"
                self._stop(message, Mark(line, column), "divide it into several files")

    def _open(self, kind: EventKind, mark: Mark) -> None:
        if len(self._frames) >= MOST_DEPTH:
            self._stop(f"nested deeper than {MOST_DEPTH} levels", mark)
        container: Any = {} if kind is EventKind.MAPPING else []
        step = (*self._next_step(), "")[0]
        self._put(container)
        self._frames.append(_Frame(container, kind is EventKind.MAPPING, step))

    def _put(self, value: object) -> None:
        if not self._frames:
            self.reading.value = value
            return
        frame = self._frames[-1]
        if frame.is_mapping:
            frame.container.setdefault(frame.key, value)
            frame.key = None
        else:
            frame.container.append(value)

    def _take_key(self, kind: EventKind, payload: object, mark: Mark) -> None:
        if kind is not EventKind.SCALAR:
            self._add(
                Diagnostic(codes.KEY_NOT_TEXT, "a key must be a string, not a list or mapping"),
                self._path(),
                mark,
            )
            raise _StopReadingError
        key = _key(payload)
        frame = self._frames[-1]
        if self._pending or not isinstance(payload, str) or key in frame.container:
            self._judge_key(payload, key, (*self._path(), key), mark)
        frame.key = key

    def _judge_key(self, payload: object, key: str, path: Field, mark: Mark) -> None:
        self._settle(path)
        if type(payload) is int:
            self.reading.number_keys.append(self._located(_quote_it(key), path, mark))
        elif not isinstance(payload, str):
            self.reading.unjudged_fields.add(path)
            self._add(_quote_it(key), path, mark)
        if key in self._frames[-1].container:
            self._add(
                Diagnostic(codes.DUPLICATE_KEY, f"the key {show(key)} is repeated"), path, mark
            )

    def _take_fault(self, kind: EventKind, fault: Diagnostic, mark: Mark) -> None:
        if kind is EventKind.STOP:
            self._add(fault, self._path(), mark)
            raise _StopReadingError
        self._pending.append((kind, fault, mark))

    def _settle(self, path: Field) -> None:
        """Record the faults of a node, now that its path is known."""
        for kind, fault, mark in self._pending:
            if kind is EventKind.PLACEHOLDER:
                self.reading.unjudged_fields.add(path)
            self._add(fault, path, mark)
        self._pending.clear()

    def _located(self, fault: Diagnostic, path: Field, mark: Mark) -> Diagnostic:
        return replace(fault, field=path, location=Location(self._source, *mark))

    def _add(self, fault: Diagnostic, path: Field, mark: Mark) -> None:
        self.reading.faults.append(self._located(fault, path, mark))
        if len(self.reading.faults) >= MOST_FAULTS:
            self._stop(
                f"{MOST_FAULTS} problems; nothing is read beyond here",
                mark,
                code=codes.MORE_PROBLEMS,
            )

    def _stop(
        self, message: str, mark: Mark, next_step: str | None = None, *, code: str = codes.TOO_LARGE
    ) -> NoReturn:
        self.reading.faults.append(
            self._located(Diagnostic(code, message, next_step), self._path(), mark)
        )
        raise _StopReadingError

    def _path(self) -> Field:
        """Return the path of the innermost open container."""
        return tuple(frame.step for frame in self._frames[1:])

    def _next_step(self) -> Field:
        """Return the step to the node that comes next; none for the root."""
        if not self._frames:
            return ()
        frame = self._frames[-1]
        return (frame.key,) if frame.key is not None else (len(frame.container),)


def _quote_it(key: str) -> Diagnostic:
    return Diagnostic(codes.KEY_NOT_TEXT, f"the key {key} is not a string", f'{QUOTE_IT}: "{key}"')


def locate(events: Iterable[Event], paths: Iterable[Field]) -> dict[Field, Place]:
    """Find the places of paths and of their containers; of a duplicate key the first counts.

    A path that is not in the text is left out.
    """
    missing = set(paths)
    wanted = {path[:length] for path in missing for length in range(len(path) + 1)}
    found: dict[Field, Place] = {}
    nodes = (
        event
        for event in events
        if event[0] is not EventKind.FAULT and event[0] is not EventKind.PLACEHOLDER
    )
    for path, place in _places(nodes, lambda path: path in wanted and path not in found):
        found[path] = place
        missing.discard(path)
        if not missing:
            break
    return found


def _places(
    events: Iterable[Event], wanted: Callable[[Field], bool]
) -> Iterator[tuple[Field, Place]]:
    """Yield the wanted paths; a container that is not wanted is skipped with its contents."""
    outer: list[_Container] = []
    skipped = 0
    for kind, payload, line, column in events:
        if kind is EventKind.STOP:
            return
        if skipped:
            skipped += {EventKind.SCALAR: 0, EventKind.END: -1}.get(kind, 1)
        elif kind is EventKind.END:
            outer.pop()
        elif outer and outer[-1].is_mapping and outer[-1].key is None:
            if kind is not EventKind.SCALAR:
                return
            outer[-1].key, outer[-1].key_mark = _key(payload), Mark(line, column)
        else:
            path, key_mark = outer[-1].next_path() if outer else ((), None)
            if wanted(path):
                yield path, Place(key_mark or Mark(line, column), Mark(line, column))
                if kind is not EventKind.SCALAR:
                    outer.append(_Container(path, kind is EventKind.MAPPING))
            elif kind is not EventKind.SCALAR:
                skipped = 1


@dataclass(slots=True)
class _Container:
    """An open mapping or list that leads to a wanted path; `key` awaits its value."""

    path: Field
    is_mapping: bool
    count: int = 0
    key: str | None = None
    key_mark: Mark | None = None

    def next_path(self) -> tuple[Field, Mark | None]:
        """Return the path of the next value, and the mark of its key."""
        step = self.count if self.key is None else self.key
        self.count, self.key = self.count + 1, None
        return (*self.path, step), self.key_mark


def _key(payload: object) -> str:
    return payload if isinstance(payload, str) else json.dumps(payload)
