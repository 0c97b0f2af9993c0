"""Abilities of the terminal behind a stream, and text in the colours of its meaning."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from kadmin.report.links import linked

if TYPE_CHECKING:
    from collections.abc import Callable

ERASE_BELOW = "\x1b[J"
"""Erases from the cursor to the end of the screen."""
_RESET = "\x1b[0m"


class Meaning(Enum):
    """The meaning of a colour; the text has it in words as well."""

    ERROR = "\x1b[31m"
    WARNING = "\x1b[33m"
    DONE = "\x1b[32m"


_NEXT = "  next: "
_COMMAND = "kadmin "
_PREFIXES = {"error: ": Meaning.ERROR, "warning: ": Meaning.WARNING}


@dataclass(frozen=True, slots=True)
class Screen:
    """The destination of a stream: `live` is a terminal whose lines can be redrawn.

    `size` its columns and rows now, `address_of` the address that the name of a code or trouble
    links to; None, too, where the terminal has no links.
    """

    live: bool
    colour: bool
    size: Callable[[], tuple[int, int]]
    address_of: Callable[[str], str | None] | None = None

    @property
    def columns(self) -> int:
        """The columns of the terminal now."""
        return self.size()[0]

    @property
    def width(self) -> int | None:
        """Most characters in a line of an answer: one less than the terminal's columns.

        None: no terminal.
        """
        return self.columns - 1 if self.live else None

    def wrapped(self, text: str) -> str:
        """Return text with its lines broken between words at the width of the terminal.

        No terminal: as it is. Rows of tables, whose columns are two spaces apart, and commands to
        copy, which follow two spaces, stay whole; a next step in words is broken.
        """
        return "\n".join(map(self._wrapped_line, text.split("\n")))

    def _wrapped_line(self, line: str) -> str:
        if not self.live or len(line) < self.columns:
            return line
        in_words = line.startswith(_NEXT) and _COMMAND not in line
        if "  " in line.strip() and not in_words:
            return line
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        lines = textwrap.wrap(
            line,
            self.columns - 1,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(lines)

    def linked(self, text: str) -> str:
        """Return text with links from the names of codes and troubles, if the terminal has any."""
        return text if self.address_of is None else linked(text, self.address_of)

    def painted(self, text: str, meaning: Meaning | None = None) -> str:
        """Return text with its links, in its meaning's colour.

        By default the meaning is that of its first word, `error:` or `warning:`.
        """
        if meaning is None:
            meaning = next(
                (each for prefix, each in _PREFIXES.items() if text.startswith(prefix)), None
            )
        shown = self.linked(text)
        return (
            f"{meaning.value}{shown}{_RESET}"
            if self.colour and meaning is not None and text
            else shown
        )
