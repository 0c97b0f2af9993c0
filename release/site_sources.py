"""Publishes each page of the site as Markdown too, and llms.txt, the list of them for programs.

mkdocs calls `on_post_build`. The page docs/codes/ is there as docs/codes.md.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ABOVE = re.compile(r"\]\(\.\./")
_BESIDE = re.compile(r"\]\((?!\.\./)(?=[^):#]+\.md)")
_HEAD = """# kadmin

> {description}.

- [README](README.md): what it is, and the first steps

"""


def on_post_build(config: Mapping[str, str]) -> None:
    """Copy the pages beside their HTML, and write llms.txt."""
    pages, site = Path(config["docs_dir"]), Path(config["site_dir"])
    for page in pages.rglob("*.md"):
        copy = site / page.relative_to(pages)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(page, copy)
    index = (pages / "docs" / "index.md").read_text(encoding="utf-8")
    (site / "llms.txt").write_text(llms_text(config["site_description"], index), encoding="utf-8")


def llms_text(description: str, index: str) -> str:
    """Return the list of the pages, by what one wants to do (llmstxt.org)."""
    sections = index.partition("\n## ")[2]
    links = _ABOVE.sub("](", _BESIDE.sub("](docs/", f"## {sections}"))
    return f"{_HEAD.format(description=description)}{links}"
