"""Sections of the manual as plain text, and the list of them."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from kadmin.report.text import WIDTH, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kadmin.manual import ManualSection

_HEADINGS = {"codes": "Codes", "troubles": "Troubles", "exit-codes": "Exit codes"}
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
_CODE_OR_EMPHASIS = re.compile(r"(`[^`]+`)|\*{1,2}")
_BLOCK = re.compile(r"```\w*\n(?P<fenced>(?s:.*?))```\n|(?P<paragraph>(?:(?!```).+\n)+)")
_BETWEEN_ROWS = re.compile(r"\|[|-]+\|")
_BETWEEN_SENTENCES = re.compile(r"(?<=\w)[.;:] ")
_INDENT = "    "
_ITEM = "- "
_BEGINS_LINE = re.compile(r"^(?=- |\*\S)", re.MULTILINE)
_RECOGNISE = "- **Recognise it:** "


def explained_text(
    section: ManualSection, width: int | None = None, address: str | None = None
) -> str:
    """Show a section in lines of 79 characters, or of the width of a narrower terminal.

    Examples stay as they are. `address` is that of the section's page on a site.
    """
    width = min(WIDTH, width or WIDTH)
    blocks = [section.title, *_blocks(section.text, width), *filter(None, [address])]
    return "\n\n".join(blocks)


def explained_list(sections: Iterable[ManualSection], width: int | None = None) -> str:
    """List the sections of each page with their first sentences."""
    width = min(WIDTH, width or WIDTH)
    return "\n\n".join(
        "\n".join([f"{_HEADINGS[page]}:", *_entries(tuple(found), width)])
        for page, found in groupby(sections, lambda section: section.page)
    )


def _entries(sections: Sequence[ManualSection], width: int) -> Iterator[str]:
    columns = max(len(section.name) for section in sections)
    for section in sections:
        yield from textwrap.wrap(
            f"{section.name:<{columns}}  {_summary(section)}",
            width,
            initial_indent="  ",
            subsequent_indent=" " * (columns + 4),
            break_on_hyphens=False,
        )


def _summary(section: ManualSection) -> str:
    """Return the first sentence of a section, or what its heading says of an exit code."""
    _, _, meaning = section.title.partition(": ")
    first = section.text.partition("\n")[0].removeprefix(_RECOGNISE)
    return meaning or _BETWEEN_SENTENCES.split(_plain(first))[0].removesuffix(".")


def _blocks(text: str, width: int) -> Iterator[str]:
    """Yield the paragraphs, lists, tables and examples of a Markdown text without its marks."""
    for found in _BLOCK.finditer(f"{text}\n"):
        if found["fenced"] is not None:
            yield textwrap.indent(found["fenced"].rstrip(), _INDENT)
        elif found["paragraph"].startswith("|"):
            yield _table(found["paragraph"].splitlines(), width)
        elif found["paragraph"].startswith(_INDENT):
            yield found["paragraph"].rstrip()
        else:
            yield "\n".join(_wrapped(found["paragraph"], width))


def _table(lines: Sequence[str], width: int) -> str:
    header, *rows = (
        [_plain(cell.strip()) for cell in line.strip("|").split("|")]
        for line in lines
        if not _BETWEEN_ROWS.fullmatch(line)
    )
    return table(header, rows, width)


def _wrapped(paragraph: str, width: int) -> Iterator[str]:
    """Wrap the sentences of a paragraph, of each item of a list, and of each case in italics."""
    for part in filter(None, _BEGINS_LINE.split(paragraph)):
        words = _plain(" ".join(part.split()))
        indent = "  " if part.startswith(_ITEM) else ""
        yield from textwrap.wrap(
            words,
            width,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def _plain(text: str) -> str:
    """Return text without links and emphasis; code keeps its marks."""
    return _CODE_OR_EMPHASIS.sub(lambda found: found[1] or "", _LINK.sub(r"\1", text))
