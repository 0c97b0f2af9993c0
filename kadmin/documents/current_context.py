"""Sets `current` in the text of a contexts file, and keeps every other byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kadmin.documents.check import events_of, examine
from kadmin.documents.dump import yaml_scalar
from kadmin.documents.events import locate
from kadmin.documents.text import LineIndex, decode
from kadmin.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_CURRENT, _CONTEXTS = ("current",), ("contexts",)
_SCALAR = re.compile(r"""[A-Za-z0-9][A-Za-z0-9._-]*|'[^'\r\n]*'|"(?:[^"\\\r\n]|\\.)*\"""")
_LINE_END = re.compile(r"\r\n|\r|\n")


def with_current(data: bytes, source: str, name: str) -> bytes:
    """Return the bytes of a valid contexts file with another `current`.

    Only its value is replaced; where there is none, it is added before `contexts`. Raises
    InvalidInputError for a layout in which that would change the contexts.
    """
    text = decode(data, source)
    wanted = {**examine(data, source).value, "current": name}
    for changed in _candidates(text, source, name):
        # A byte order mark stays.
        encoded = data[: len(data) - len(text.encode())] + changed.encode()
        found = examine(encoded, source)
        if not found.problems and found.value == wanted:
            return encoded
    raise InvalidInputError(
        f"{source}: current cannot be replaced in this layout.",
        next_step=f"write it by hand, on a line of its own: current: {yaml_scalar(name)}",
    )


def _candidates(text: str, source: str, name: str) -> Iterator[str]:
    places, index = locate(events_of(text, source), [_CURRENT, _CONTEXTS]), LineIndex(text)
    if _CURRENT in places:
        begin = index.position(places[_CURRENT].value)
        if (old := _SCALAR.match(text, begin)) is not None:
            for scalar in (yaml_scalar(name), json.dumps(name)):
                yield text[:begin] + scalar + text[old.end() :]
        return
    begin = index.position(places[_CONTEXTS].key)
    line_end = _LINE_END.search(text)
    yield (
        f"{text[:begin]}current: {yaml_scalar(name)}{line_end[0] if line_end else ''}{text[begin:]}"
    )
    yield f'{text[:begin]}"current": {json.dumps(name)}, {text[begin:]}'
