"""Renders pages as one HTML file with the templates in this folder.

The only module that imports jinja2. The Content-Security-Policy of a page allows its own script and
style by their SHA-256 digests and nothing else, so a name from a cluster could not run as a script
even if it were not escaped. A page loads no other file.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kadmin.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Template

    from kadmin.report.pages.page import Page

_PACKAGE = "kadmin.report.pages"
_TEMPLATES = "templates"


def require_renderer() -> None:
    """Raise UsageError where the library that renders pages is not installed."""
    if find_spec("jinja2") is None:
        raise UsageError(
            "A report in HTML needs the library jinja2.",
            next_step="pip install 'kadmin-kafka[report]'",
        )


def render(page: Page) -> str:
    """Return the page as one HTML file; the same page gives the same bytes."""
    from markupsafe import Markup

    style, script = _resource("page.css"), _resource("page.js")
    return _template().render(
        page=page,
        style=Markup(style),  # noqa: S704 - files of ours
        script=Markup(script),  # noqa: S704
        policy=f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'",
    )


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_PACKAGE, _TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _resource(name: str) -> str:
    return files(_PACKAGE).joinpath(_TEMPLATES, name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
