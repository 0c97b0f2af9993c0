"""Debian's Chromium, in which the pages of reports are looked at."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, and end it."""
    path = shutil.which("chromium")
    assert path, "there is no chromium; tests/with-chromium.sh installs Debian's where it can"
    with sync_playwright() as playwright:
        # As root Chromium runs without its sandbox only; the pages are ours.
        opened = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()
