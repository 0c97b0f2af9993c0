"""The shape of the answer of `validate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kadmin.diagnostics import Severity
from kadmin.schema.shapes import Keywords, Number

Tally: TypeAlias = Annotated[int, Keywords(minimum=0, maximum=2**31 - 1)]


@dataclass(frozen=True, slots=True)
class ValidationAnswer:
    """The problems of documents."""

    valid: Annotated[bool, "Whether there is no error; warnings do not count."]
    files: Annotated[tuple[str, ...], "The files that were read, in order; - is standard input."]
    errors: Annotated[Tally, "Number of errors."]
    warnings: Annotated[Tally, "Number of warnings."]
    problems: Annotated[tuple[Problem, ...], "Every problem, by file and place."]


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a document."""

    code: Annotated[str, Keywords(pattern="^KA[0-9]{3}$"), "A stable code."]
    severity: Annotated[Severity, "Only errors make a document invalid."]
    message: Annotated[str, "What is wrong."]
    hint: Annotated[str | None, "How to correct it; null where there is no hint."]
    file: Annotated[str, "The file as given on the command line."]
    line: Annotated[Number, "Counted from 1."]
    column: Annotated[Number, "In characters, counted from 1."]
    path: Annotated[str, "JSON path of the value."]
