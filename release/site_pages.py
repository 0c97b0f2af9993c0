"""Lays out the pages of the documentation site, and its navigation in the order of docs/index.md.

Usage: python release/site_pages.py FOLDER, then mkdocs build --config-file FOLDER/mkdocs.yml.

The pages keep their places, README.md above docs/, so the links between them work as they do in the
repository. A link to the folder of example plans leads to a page that shows them. Each code,
trouble and exit code also has a page of its own, whose address does not change: docs/codes/ka044/.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from posixpath import normpath

from kadmin.manual import PAGES, sections_of

ROOT = Path(__file__).parents[1]
_HEADING = re.compile(r"^## (.+)$")
_ENTRY = re.compile(r"^(?:\d+\.|-) \[(.+?)\]\(([^)#]+)(#[^)]*)?\)")
_FOLDER_LINK = re.compile(r"\]\(([^):]*)/\)")
_PAGE_LINK = re.compile(r"\]\((?![a-z]+:)([^)#]*)(#[^)]*)?\)")
_OWN_PAGE = """---
search: {{exclude: true}}
---
# {title}

{text}

Next: [all {page_title}](../{page}.md)
"""
_FIRST: list[dict[str, object]] = [{"kadmin": "README.md"}, {"Documentation": "docs/index.md"}]
_LAST: list[dict[str, object]] = [{"Example plans": "plans/index.md"}]


def lay_out(folder: Path) -> None:
    """Write the pages below `folder`/pages, and `folder`/mkdocs.yml."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for source in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        text = _FOLDER_LINK.sub(r"](\1/index.md)", source.read_text(encoding="utf-8"))
        _write(pages / source.relative_to(ROOT), text)
    for picture in (*(ROOT / "docs").glob("*.png"), *(ROOT / "docs").glob("*.svg")):
        shutil.copy(picture, pages / "docs")
    shutil.copytree(ROOT / "docs" / "nightly", pages / "docs" / "nightly")
    _write(pages / "plans" / "index.md", _plans())
    for page in PAGES:
        _write_sections(pages / "docs", page)
    # JSON is YAML, too.
    settings = {
        "INHERIT": str(ROOT / "release" / "mkdocs.yml"),
        "docs_dir": "pages",
        "hooks": [str(ROOT / "release" / "site_sources.py")],
        "nav": navigation(),
        "not_in_nav": "".join(f"/docs/{page}/\n" for page in PAGES),
    }
    _write(folder / "mkdocs.yml", json.dumps(settings))


def navigation() -> list[object]:
    """Return the sections of docs/index.md with their pages.

    A page is listed where it is first named.
    """
    sections: dict[str, list[dict[str, str]]] = {}
    seen, section = {"README.md", "docs/index.md"}, ""
    for line in (ROOT / "docs" / "index.md").read_text(encoding="utf-8").splitlines():
        if heading := _HEADING.match(line):
            section = heading[1]
        for title, target in (
            re.findall(r"\[(.+?)\]\(([^)#]+\.md)", line) if _ENTRY.match(line) else ()
        ):
            page = normpath(f"docs/{target}")
            if page not in seen:
                seen.add(page)
                sections.setdefault(section, []).append({title[0].upper() + title[1:]: page})
    found: list[dict[str, object]] = [{name: pages} for name, pages in sections.items()]
    return [*_FIRST, *found, *_LAST]


def _write_sections(docs: Path, page: str) -> None:
    """Write the own page of each section, with links from one folder below."""

    def from_below(link: re.Match[str]) -> str:
        return f"](../{link[1] or f'{page}.md'}{link[2] or ''})"

    for section in sections_of(page, (docs / f"{page}.md").read_text(encoding="utf-8")):
        text = _OWN_PAGE.format(
            title=section.title,
            text=_PAGE_LINK.sub(from_below, section.text),
            page=page,
            page_title=page.replace("-", " "),
        )
        _write(docs / page / f"{section.name.lower()}.md", text)


def _plans() -> str:
    head = "# Example plans\n\nEach one can be applied in the [sandbox](../docs/sandbox.md).\n"
    plans = sorted((ROOT / "plans").iterdir())
    return head + "".join(
        f"\n## {plan.name}\n\n```yaml\n{plan.read_text(encoding='utf-8')}```\n" for plan in plans
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    lay_out(Path(sys.argv[1]))
