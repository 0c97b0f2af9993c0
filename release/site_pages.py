"""Lays out the pages of the documentation site, and its navigation in the order of docs/index.md.

Usage: python release/site_pages.py FOLDER, then mkdocs build --config-file FOLDER/mkdocs.yml.

The pages keep their places, README.md above docs/, so the links between them work as they do in the
repository. A link to the folder of example plans leads to a page that shows them.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from posixpath import normpath

ROOT = Path(__file__).parents[1]
_HEADING = re.compile(r"^## (.+)$")
_ENTRY = re.compile(r"^(?:\d+\.|-) \[(.+?)\]\(([^)#]+)(#[^)]*)?\)")
_FOLDER_LINK = re.compile(r"\]\(([^):]*)/\)")
_FIRST: list[dict[str, object]] = [{"kadmin": "README.md"}, {"Documentation": "docs/index.md"}]
_LAST: list[dict[str, object]] = [{"Example plans": "plans/index.md"}]


def lay_out(folder: Path) -> None:
    """Write the pages below `folder`/pages, and `folder`/mkdocs.yml."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for source in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")):
        text = _FOLDER_LINK.sub(r"](\1/index.md)", source.read_text(encoding="utf-8"))
        _write(pages / source.relative_to(ROOT), text)
    for picture in (ROOT / "docs").glob("*.png"):
        shutil.copy(picture, pages / "docs")
    _write(pages / "plans" / "index.md", _plans())
    # JSON is YAML, too.
    settings = {
        "INHERIT": str(ROOT / "release" / "mkdocs.yml"),
        "docs_dir": "pages",
        "nav": navigation(),
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
