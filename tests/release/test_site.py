"""The documentation as a site: it builds without a broken link, can be searched, and loads nothing
from elsewhere.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from site_pages import ROOT, lay_out
from site_sources import on_post_build
from support.release.environments import TOOLS, run, succeed

from kadmin.manual import sections

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.release

LOADED = re.compile(r"""<(?:script|img|link|iframe)[^>]+(?:src|href)=["']?(https?://[^"' >]+)""")


def mkdocs(folder: Path) -> list[str | Path]:
    site = folder / "site"
    return [
        TOOLS / "mkdocs",
        "build",
        "--strict",
        "--config-file",
        folder / "mkdocs.yml",
        "--site-dir",
        site,
    ]


def test_the_site_builds_with_every_link_and_a_search(tmp_path: Path) -> None:
    folder = tmp_path / "site-source"
    lay_out(folder)
    succeed(mkdocs(folder), tmp_path)
    site = folder / "site"
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    found = {
        entry["location"] for entry in index["docs"] if "KA050" in entry["title"] + entry["text"]
    }
    assert "docs/codes/#ka050" in found
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).with_suffix("").as_posix() for path in docs.rglob("*.md")} - {
        "index"
    }
    pages_built = [
        path for path in (site / "docs").rglob("index.html") if path.parent != site / "docs"
    ]
    built = {
        path.parent.relative_to(site / "docs").as_posix(): path.read_text(encoding="utf-8")
        for path in pages_built
    }
    own_pages = {section.address for section in sections()}
    assert set(built) == pages | {
        address.removeprefix("docs/").rstrip("/") for address in own_pages
    }
    without_next = {page for page, text in built.items() if "md-footer__link--next" not in text}
    assert {page for page in without_next if "Next: <a" not in built[page]} == set()
    assert "puts a partition on fewer racks" in built["codes/ka044"]
    assert {page: LOADED.findall(text) for page, text in built.items() if LOADED.search(text)} == {}


def test_each_page_is_there_as_markdown_and_llms_txt_lists_them(tmp_path: Path) -> None:
    folder = tmp_path / "site-source"
    lay_out(folder)
    site = folder / "site"
    site.mkdir()
    config = {"docs_dir": folder / "pages", "site_dir": site, "site_description": "a tool"}
    on_post_build({name: str(value) for name, value in config.items()})
    assert (site / "docs" / "kraft.md").read_bytes() == (ROOT / "docs" / "kraft.md").read_bytes()
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# kadmin\n\n> a tool.\n")
    listed = re.findall(r"\]\((?![a-z]+:)([^)#]+)", text)
    assert {"README.md", "CHANGELOG.md", "docs/codes.md"} <= set(listed)
    assert [page for page in listed if not (site / page).exists()] == []


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    folder = tmp_path / "site-source"
    lay_out(folder)
    page = folder / "pages" / "docs" / "index.md"
    page.write_text("[away](nowhere.md) [and](codes.md#ka999)", encoding="utf-8")
    done = run(mkdocs(folder), tmp_path)
    assert done.returncode != 0
    assert "nowhere.md" in done.stderr
    assert "ka999" in done.stderr
