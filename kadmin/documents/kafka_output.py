"""Finds the JSON in the text that kafka-reassign-partitions prints.

`--generate` prints a current and a proposed reassignment, `--execute` the current one, each under a
heading. Prompts, warnings and messages may be around them.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from typing import NamedTuple

from kadmin.diagnostics import Diagnostic, Location
from kadmin.documents.json_section import JsonSection, conversion_refusal
from kadmin.documents.text import LineIndex
from kadmin.plan import codes


class Heading(StrEnum):
    """A line above a reassignment."""

    CURRENT = "Current partition replica assignment"
    PROPOSED = "Proposed partition reassignment configuration"


class Printed(NamedTuple):
    """The reassignments in a text of `--generate`, or in one of `--execute`, without `proposed`."""

    current: JsonSection
    proposed: JsonSection | None


_HEADING = re.compile(rf"^(?:{'|'.join(Heading)})[ \t\r]*$", re.MULTILINE)
_EXECUTED = "Save this to use as the --reassignment-json-file option during rollback"
_OBJECT = re.compile(r"^[ \t]*\{", re.MULTILINE)
_DECODER = json.JSONDecoder(parse_int=len, parse_float=len)
"""Finds the end of an object. Its numbers do not matter, and int() refuses long ones."""


def find_printed(text: str, source: str) -> Printed | None:
    """Return the reassignments of a text, None where it has no heading.

    Raises InvalidInputError for a text that is not of one run of the tool.
    """
    found = list(_HEADING.finditer(text))
    if not found:
        return None
    ends = [*(heading.start() for heading in found[1:]), len(text)]
    sections = [
        _section(text, source, heading.end(), end) for heading, end in zip(found, ends, strict=True)
    ]
    match [heading[0].rstrip() for heading in found]:
        case [Heading.CURRENT, Heading.PROPOSED]:
            return Printed(sections[0], sections[1])
        case [Heading.CURRENT] if _EXECUTED in text:
            return Printed(sections[0], None)
    message = "this is not the output of one kafka-reassign-partitions --generate or --execute"
    next_step = (
        f'that of --generate is "{Heading.CURRENT}", JSON, "{Heading.PROPOSED}", JSON; or keep one '
        "JSON document and no other text"
    )
    location = Location(source, *LineIndex(text).mark(found[0].start()))
    problem = Diagnostic(codes.NOT_ONE_DOCUMENT, message, next_step, location=location)
    raise conversion_refusal(source, [problem])


def _section(text: str, source: str, start: int, end: int) -> JsonSection:
    """Return the first object that begins a line of this part of a text.

    Where it does not end, it is the rest of the part.
    """
    opening = _OBJECT.search(text, start, end)
    if opening is None:
        return JsonSection.of(text, source, start, end)
    first = opening.end() - 1
    try:
        _, last = _DECODER.raw_decode(text, first)
    except (ValueError, RecursionError):
        last = end
    return JsonSection.of(text, source, first, min(last, end))
