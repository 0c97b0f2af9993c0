"""Detects the abilities of the terminal behind a stream."""

from __future__ import annotations

import os
import re
import socket
from typing import TYPE_CHECKING

from kadmin.errors import UsageError

if TYPE_CHECKING:
    from typing import TextIO

    from kadmin.report.screen import Screen

DOCS = "KADMIN_DOCS"
"""Environment variable with the address of the documentation's site; `kadmin --docs` sets it.

It is read where links are written, also of errors, which come after the parser has ended.
"""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[!-~]+")
_UNKNOWN_SIZE = (80, 24)
_WITH_LINKS = {
    "TERM": ("xterm-kitty", "xterm-ghostty", "alacritty", "foot"),
    "TERM_PROGRAM": ("iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper", "Tabby", "zed"),
}
"""Values of variables by which terminals with links (OSC 8) introduce themselves."""
_LINKS_BY_PRESENCE = ("KONSOLE_VERSION", "WT_SESSION", "DOMTERM")
_VTE_WITH_LINKS = 5000
"""The first VTE_VERSION with links: 0.50."""


def screen_of(stream: TextIO | None) -> Screen:
    """Return the screen of a stream; that of a closed one (None) is not live.

    TERM=dumb is no terminal that can be drawn on; NO_COLOR leaves out colours.
    """
    from kadmin.report.screen import Screen

    live = stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    return Screen(
        live,
        live and not os.environ.get("NO_COLOR"),
        lambda: _size(stream),
        _page_address if live and _has_links() else None,
    )


def docs_site() -> str | None:
    """Return the address of the documentation's site without a slash at its end, if one is named.

    Raises UsageError for text that is no address.
    """
    given = os.environ.get(DOCS)
    if not given:
        return None
    if not _ADDRESS.fullmatch(given):
        raise UsageError(
            f"The address of the documentation is no URL: {given!r}.",
            next_step=f"--docs https://HOST/PATH, or {DOCS}",
        )
    return given.rstrip("/")


def _page_address(name: str) -> str | None:
    """Return the address of the page of a code or a trouble: on the site, or kadmin's own file."""
    from kadmin.manual import by_name

    section = by_name().get(name.lower())
    if section is None:
        return None
    site = docs_site()
    if site is not None:
        return f"{site}/{section.address}"
    # Terminals open a file only where its host is theirs.
    return f"file://{socket.gethostname()}{section.file.as_uri()[7:]}#{section.anchor}"


def _has_links() -> bool:
    """Whether the terminal is known to show links; others may print their addresses.

    FORCE_HYPERLINK, which other programs read too, outweighs that.
    """
    forced = os.environ.get("FORCE_HYPERLINK")
    if forced is not None:
        return forced != "0"
    named = any(os.environ.get(variable) in values for variable, values in _WITH_LINKS.items())
    vte = os.environ.get("VTE_VERSION", "")
    return (
        named
        or any(variable in os.environ for variable in _LINKS_BY_PRESENCE)
        or (vte.isdecimal() and int(vte) >= _VTE_WITH_LINKS)
    )


def _size(stream: TextIO | None) -> tuple[int, int]:
    if stream is None:
        return _UNKNOWN_SIZE
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except OSError:
        return _UNKNOWN_SIZE
    return columns or _UNKNOWN_SIZE[0], rows or _UNKNOWN_SIZE[1]
