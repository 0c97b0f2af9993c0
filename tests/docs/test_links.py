"""Every relative link between the pages leads to a file, and every anchor to a heading of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = sorted([*ROOT.glob("*.md"), *DOCS])
NEXT = re.compile(r"Next: \[[^\]]+\]\((?P<page>[^)#]+)(#[^)]+)?\)")


def inline(page: Path) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8")):
        yield from token.children or ()


def links(page: Path) -> set[str]:
    found = {str(token.attrs.get("href") or token.attrs.get("src") or "") for token in inline(page)}
    return {unquote(link) for link in found if link and not re.match("[a-z]+:", link)}


@cache
def anchors(page: Path) -> set[str]:
    """Name the headings as GitHub does: lower case, no punctuation, hyphens for blanks, numbered
    when they repeat.
    """
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    titles = [after.content for before, after in pairwise(tokens) if before.type == "heading_open"]
    seen: Counter[str] = Counter()
    found = set()
    for title in titles:
        name = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(f"{name}-{seen[name]}" if seen[name] else name)
        seen[name] += 1
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in sorted(links(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)
def test_every_page_ends_with_the_next_one(page: Path) -> None:
    last = NEXT.fullmatch(page.read_text(encoding="utf-8").splitlines()[-1])
    assert last is not None
    assert (page.parent / last["page"]).resolve() != page


def test_every_page_is_reached_from_the_readme() -> None:
    waiting, reached = [ROOT / "README.md"], set[Path]()
    while waiting:
        page = waiting.pop()
        reached.add(page)
        targets = {
            (page.parent / link.partition("#")[0]).resolve()
            for link in links(page)
            if link[0] != "#"
        }
        waiting += [target for target in targets & set(PAGES) if target not in reached]
    assert sorted(set(PAGES) - reached) == []
