"""docs/report.png is a picture of the page of a plan for a generated cluster.

KADMIN_WRITE_GOLDEN=1 takes it anew, for a reader to look at. Fonts and browsers of machines differ,
so the page of which it was taken is compared, not the picture.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from family import Size, inventory
from support.cli.in_process import command
from support.pages.browser import chromium

from kadmin.inventory import write_inventory

PICTURE = Path(__file__).parents[2] / "docs" / "report.png"
TAKEN_OF = Path(__file__).with_name("picture.sha256")
SIZE = Size(partitions=240, topics=12, brokers=12, new=3, racks=3)
REQUEST = (
    "kind: RebalanceRequest\nmetadata: {name: three-new-brokers}\n"
    "spec: {throttle: {rate: 50MB/s}}\n"
)

pytestmark = pytest.mark.browser


def test_the_picture_in_the_documentation_is_of_the_page_of_today(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_inventory(inventory(SIZE, 1), Path("inventory"))
    Path("request.yaml").write_text(REQUEST)
    at = ("--inventory", "inventory")
    figures = ("--figures", "figures.json")
    request, plan, page = "request.yaml", "plan.yaml", "page.html"
    made = command("propose", "rebalance", request, *at, "--out", plan, *figures)
    assert made.status == 0, made.err
    made = command("report", plan, *at, *figures, "--out", page)
    assert made.status == 0, made.err
    digest = hashlib.sha256(Path(page).read_bytes()).hexdigest()
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        take(tmp_path / page)
        TAKEN_OF.write_text(f"{digest}\n")
    assert TAKEN_OF.read_text() == f"{digest}\n", (
        "the page has changed since: KADMIN_WRITE_GOLDEN=1 make test-report"
    )


def take(page: Path) -> None:
    with chromium() as browser:
        opened = browser.new_page(viewport={"width": 1200, "height": 1500})
        opened.goto(page.as_uri())
        opened.screenshot(path=PICTURE)
