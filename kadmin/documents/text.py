"""Bytes to text: UTF-8 only, bounded, without characters that no document may hold."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

from kadmin.diagnostics import Diagnostic, Location
from kadmin.plan import codes
from kadmin.plan.units import format_size

MOST_BYTES = 64 * 1024 * 1024

_BOM_UTF8 = b"\xef\xbb\xbf"
_BOMS_OTHER = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
_SHOWN = {"\t": "\N{RIGHTWARDS ARROW}"}
_NEWLINE = re.compile(r"\r\n|\r|\n")
# C0 and C1 controls but tab and line ends; Unicode's own line ends, which YAML 1.1 and 1.2 treat
# differently; the byte order mark inside a text, and noncharacters. YAML forbids most of them, and
# no name has any.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


class Mark(NamedTuple):
    """Line and column in a text; both count from 1, the column in characters."""

    line: int
    column: int


class UnreadableTextError(ValueError):
    """Bytes that are no text that can be parsed; `diagnostic` has the cause and the place."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def decode(data: bytes, source: str) -> str:
    """Return the text of the file `source`, without a leading UTF-8 byte order mark.

    Raises UnreadableTextError.
    """

    def unreadable(code: str, message: str, mark: Mark, next_step: str) -> UnreadableTextError:
        return UnreadableTextError(
            Diagnostic(code, message, next_step, location=Location(source, *mark))
        )

    if len(data) > MOST_BYTES:
        message = f"the file has more than {format_size(MOST_BYTES)}"
        raise unreadable(codes.TOO_LARGE, message, Mark(1, 1), "divide the plan into several files")
    for bom, encoding in _BOMS_OTHER.items():
        if data.startswith(bom):
            message = f"the file is {encoding}, not UTF-8"
            raise unreadable(codes.UNREADABLE, message, Mark(1, 1), "save it as UTF-8")
    try:
        text = data.removeprefix(_BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM_UTF8) if data.startswith(_BOM_UTF8) else 0)
        message = f"byte {offset} (0x{data[offset]:02x}) is not UTF-8"
        raise unreadable(
            codes.UNREADABLE, message, _mark_of_byte(data, offset), "save it as UTF-8"
        ) from error
    found = _FORBIDDEN.search(text)
    if found is not None:
        message = f"character U+{ord(found[0]):04X} is not allowed in a document"
        raise unreadable(
            codes.UNREADABLE, message, LineIndex(text).mark(found.start()), _nul_hint(found[0])
        )
    return text


class LineIndex:
    """Line and column of positions in a text; lines end at LF, CRLF or CR."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def mark(self, position: int) -> Mark:
        """Return the place of a position (in characters, from 0)."""
        line = bisect.bisect_right(self._starts, position)
        return Mark(line, position - self._starts[line - 1] + 1)

    def position(self, mark: Mark) -> int:
        """Return the position of a place, in characters from 0."""
        return self._starts[mark.line - 1] + mark.column - 1


def lines_of(text: str) -> list[str]:
    """Return the lines as the marks count them, without their ends."""
    return _NEWLINE.split(text)


def printable(text: str) -> str:
    """Replace characters that are not printable, one by one, so that columns stay.

    A tab by an arrow.
    """
    return "".join(
        char if char.isprintable() else _SHOWN.get(char, "\N{REPLACEMENT CHARACTER}")
        for char in text
    )


def _mark_of_byte(data: bytes, offset: int) -> Mark:
    before = data[:offset].removeprefix(_BOM_UTF8).decode()
    return LineIndex(before).mark(len(before))


def _nul_hint(character: str) -> str:
    if character == "\x00":
        return "a NUL byte: is this a binary or UTF-16 file?"
    return "remove it; in a quoted description it can be written as an escape"
