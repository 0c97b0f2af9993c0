"""The pages have short sentences: people read them once, in a language that is not their own."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.pages.sentences import average, sentences

if TYPE_CHECKING:
    from support.pages.sentences import Sentence

ROOT = Path(__file__).parents[2]
PAGES = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
MOST_ON_A_PAGE = 18
MOST_ON_ALL = 16
EXAMPLE = """# A heading is left out

A broker holds `kafka-topics --describe`
and [two links](page.md). Does it? It does so:
a list follows.

- One item, no full stop
- Another item. Too short.

| a | table of many words |
|---|---|

    a block of code
"""


@cache
def sentences_of(page: str) -> list[Sentence]:
    return list(sentences((ROOT / page).read_text(encoding="utf-8")))


def longest(pages: dict[str, list[Sentence]]) -> str:
    """Name the ten longest sentences of the pages, the longest first."""
    found = [(len(each.words), page, each) for page, on_page in pages.items() for each in on_page]
    found.sort(key=lambda each: -each[0])
    return "split the longest:" + "".join(
        f"\n{page}:{each.line}: {words} words: {' '.join(each.words)}"
        for words, page, each in found[:10]
    )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_short_sentences(page: str) -> None:
    found = sentences_of(page)
    assert average(found) <= MOST_ON_A_PAGE, longest({page: found})


def test_all_pages_together_have_short_sentences() -> None:
    pages = {page: sentences_of(page) for page in PAGES}
    everything = [sentence for on_page in pages.values() for sentence in on_page]
    assert average(everything) <= MOST_ON_ALL, longest(pages)


def test_a_page_is_cut_into_its_sentences() -> None:
    assert [(each.line, " ".join(each.words)) for each in sentences(EXAMPLE)] == [
        (3, "A broker holds code and two links."),
        (4, "It does so: a list follows."),
        (7, "One item, no full stop"),
    ]


def test_the_average_is_of_words_in_a_sentence() -> None:
    assert average(list(sentences("One two three. One two three four five."))) == 4
    assert average([]) == 0


def test_the_longest_sentences_are_named_by_line() -> None:
    text = longest({"docs/page.md": list(sentences(EXAMPLE))})
    assert text.splitlines()[1] == "docs/page.md:3: 7 words: A broker holds code and two links."
