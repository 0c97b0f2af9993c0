"""The pages of the documentation that kadmin carries, by section: codes, troubles, exit codes."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kadmin.errors import UsageError
from kadmin.next_step import command

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGES = ("codes", "troubles", "exit-codes")
FOLDER = Path(__file__).parent / "pages"
_SITE_FOLDER = "docs"
_HEADING = re.compile(r"^## (.+)\n", re.MULTILINE)
_NEXT = re.compile(r"\nNext: .*\n\Z")
"""The last line of a page, which belongs to no section."""
_NAME = re.compile(r"KA\d{3}|[a-z]+(-[a-z]+)+|\d+")


@dataclass(frozen=True, slots=True)
class ManualSection:
    """A section of a page.

    `name` is `KA044`, `leftover-throttle` or `8`, `title` the heading, `text` the Markdown below.
    """

    name: str
    page: str
    title: str
    text: str

    @property
    def address(self) -> str:
        """The path of the section's own page on the site."""
        return f"{_SITE_FOLDER}/{self.page}/{self.name.lower()}/"

    @property
    def file(self) -> Path:
        """The file of the page, as kadmin carries it."""
        return FOLDER / f"{self.page}.md"

    @property
    def anchor(self) -> str:
        """The anchor of the heading, as GitHub makes it."""
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")


def sections_of(page: str, text: str) -> Iterator[ManualSection]:
    """Yield the sections of a page; a heading such as `129, 130: interrupted` begins two."""
    parts = _HEADING.split(_NEXT.sub("", text))
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        for name in title.partition(":")[0].split(", "):
            if _NAME.fullmatch(name):
                yield ManualSection(name, page, title, body.strip())


@cache
def sections() -> Sequence[ManualSection]:
    """Return every section, in the order of the pages."""
    texts = {page: (FOLDER / f"{page}.md").read_text(encoding="utf-8") for page in PAGES}
    return tuple(each for page, text in texts.items() for each in sections_of(page, text))


@cache
def by_name() -> dict[str, ManualSection]:
    """Return the sections by their names in lower case."""
    return {each.name.lower(): each for each in sections()}


def section_named(name: str) -> ManualSection:
    """Return the section of a code, a trouble or an exit code.

    Raises UsageError for an unknown name.
    """
    found = by_name().get(name.lower())
    if found is None:
        close = difflib.get_close_matches(name.lower(), by_name(), n=1)
        raise UsageError(
            f"There is no code, trouble or exit code {name}.",
            cause=f"did you mean {by_name()[close[0]].name}?" if close else None,
            next_step=command("explain"),
        )
    return found
