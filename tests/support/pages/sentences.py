"""Cuts a page of documentation into its sentences and counts their words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

FEWEST_WORDS = 3
_DEPTH = {"heading_open": 1, "heading_close": -1, "table_open": 1, "table_close": -1}
_AS_READ = {"softbreak": "\n", "hardbreak": "\n", "code_inline": "code", "html_inline": ""}
_END = re.compile(r"(?<=[.!?])\s+")


class Sentence(NamedTuple):
    """A sentence: the number of its first line, and its words; a piece of code is one word."""

    line: int
    words: tuple[str, ...]


def sentences(page: str) -> Iterator[Sentence]:
    """Yield the sentences of a page in Markdown, in their order.

    A full stop, an exclamation or question mark ends a sentence, and so does the end of a paragraph
    or list item. Headings, tables, blocks of code and fragments of one or two words are left out.
    """
    depth = 0
    for token in MarkdownIt("commonmark").enable("table").parse(page):
        depth += _DEPTH.get(token.type, 0)
        if token.type == "inline" and token.map is not None and not depth:
            yield from _of_paragraph(_as_read(token), token.map[0] + 1)


def average(found: Sequence[Sentence]) -> float:
    """Return the average number of words, 0 without sentences."""
    return sum(len(sentence.words) for sentence in found) / max(len(found), 1)


def _as_read(paragraph: Token) -> str:
    """Return the text of a paragraph: a link as its words, code as one word, no tags."""
    return "".join(_AS_READ.get(child.type, child.content) for child in paragraph.children or ())


def _of_paragraph(text: str, first_line: int) -> Iterator[Sentence]:
    start = 0
    for end in (*(found.end() for found in _END.finditer(text)), len(text)):
        words = tuple(text[start:end].split())
        if len(words) >= FEWEST_WORDS:
            yield Sentence(first_line + text.count("\n", 0, start), words)
        start = end
