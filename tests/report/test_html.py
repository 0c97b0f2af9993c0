"""Pages of `report`, `diff --html` and `propose --html`, read as text; tests/report/test_browser.py looks at them."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.cluster.states import cluster, tp
from support.documents.plans import deletion, document, election, reassignment
from support.pages.html import HTML, hostile_page, large_page, operation_html, page_of

from kadmin.inventory import inventory_of, write_inventory
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.model import PartitionTarget, PlanHeader, ReassignmentPlan

if TYPE_CHECKING:
    from pathlib import Path

STATE = cluster({"orders-0": (1, 2), "orders-1": (2, 1), "single-0": (3,)})
SIZES = {tp("orders-0"): 1_000, tp("orders-1"): 2_000, tp("single-0"): 4_000}
PLAN = reassignment("orders", {0: [4, 2], 1: [2, 3]}, current={0: [1, 2], 1: [2, 1]})
MOST_BYTES = 300_000


class Rows(HTMLParser):
    """The rows of every table below the section it stands in, and the tags that were opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.sections: dict[str, list[list[str]]] = {}
        self.tags: list[str] = []
        self._rows: list[list[str]] = []
        self._cell: list[str] | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "section":
            self._rows = self.sections.setdefault(str(dict(attrs)["id"]), [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._cell = []

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None:
            self._rows[-1].append("".join(self._cell))
            self._cell = None

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)


def unpacked(text: str) -> list[list[str]]:
    (data,) = re.findall(r'<script type="text/plain" class="data">([^<]*)</script>', text)
    columns = [line.split("\t") for line in zlib.decompress(base64.b64decode(data)).decode().split("\n")]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inventory(inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z"), tmp_path / "inv", "csv")
    document(tmp_path / "plan.json", PLAN)
    return tmp_path


def test_diff_writes_the_page_beside_its_answer(folder: Path) -> None:
    told = command("diff", folder / "plan.json", "--inventory", folder / "inv", "--html", folder / "page.html")
    assert told.status == 0
    assert told.out == command("diff", folder / "plan.json", "--inventory", folder / "inv").out
    text = (folder / "page.html").read_text()
    rows = Rows(text).sections
    brokers = {row[0]: row[2:] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "0", "1", "0", "3.00 kB", "0 B", "1.00 kB", "0 B"]
    assert brokers["4"] == ["0", "1", "0", "1", "0 B", "1.00 kB", "0 B", "1.00 kB"]
    assert [row[:3] for row in rows["waves"] if row[0] == "1"] == [["1", "2", "3.00 kB"]]
    assert ["orders-1", "2,1", "2,3", "3", "2.00 kB"] in rows["largest"]
    assert unpacked(text) == [["orders", "0", "1,2", "4,2", "1.00e+03"], ["orders", "1", "2,1", "2,3", "2.00e+03"]]
    assert "How even" not in text, "no planner, no bounds"


def test_report_of_a_plan_says_the_same_and_takes_the_figures_of_its_proposal(folder: Path) -> None:
    (folder / "request.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    made = command(
        *("propose", "rebalance", folder / "request.yaml", "--inventory", folder / "inv", "--engine", "local"),
        *("--out", folder / "made.yaml", "--figures", folder / "figures.json", "--html", folder / "made.html"),
    )
    assert made.status == 0, made.err
    arguments = ("report", folder / "made.yaml", "--inventory", folder / "inv", "--figures", folder / "figures.json")
    assert command(*arguments).out == (folder / "made.html").read_text()
    assert "moves" in [row[0] for row in Rows((folder / "made.html").read_text()).sections["figures"]]
    told = command(*arguments, "--out", folder / "again.html")
    assert told.out == f"{folder / 'again.html'}: {round((folder / 'again.html').stat().st_size / 1000)} kB\n"
    assert (folder / "again.html").read_text() == (folder / "made.html").read_text()


def test_a_fleet_gets_a_page_for_each_cluster(folder: Path) -> None:
    one = inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z")
    fleet = type(one)(one.taken_at, {"north": one.clusters[""], "south": one.clusters[""]})
    write_inventory(fleet, folder / "fleet", "csv")
    (folder / "request.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    made = command(
        *("propose", "rebalance", folder / "request.yaml", "--inventory", folder / "fleet", "--engine", "local"),
        *("--out", folder / "plans", "--html", folder / "pages"),
    )
    assert made.status == 0, made.err
    assert sorted(path.name for path in (folder / "pages").iterdir()) == ["north.html", "south.html"]


def test_elections_and_deletions_have_pages(folder: Path) -> None:
    for name, value in {"elect": election(all=True), "delete": deletion("single")}.items():
        plan = document(folder / f"{name}.json", value)
        assert command("diff", plan, "--inventory", folder / "inv", "--html", folder / f"{name}.html").status == 0
    text = (folder / "delete.html").read_text()
    assert ["single"] in Rows(text).sections["targets"]
    assert "Destroyed" in text
    assert [row[3] for row in Rows(text).sections["brokers"] if row[0] == "3"] == ["0"]


def test_what_is_not_known_is_told_as_unknown() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("orders-0"), (4, 2), (1, 2)),))
    rows = Rows(page_of(plan, STATE)).sections
    brokers = {row[0]: row[2:] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "1", "1", "0", *["unknown"] * 4]
    assert brokers["4"][4:] == ["0 B", "unknown", "0 B", "unknown"], "what is empty is known to be"
    assert rows["waves"][-1][2:4] == ["unknown", "unknown"]
    assert rows["largest"][-1][-1] == "unknown"
    leaderless = page_of(plan, replace(STATE, states={}))
    assert "before: unknown; 3 not known" in leaderless, "no leaders, no losses"
    known = Rows(page_of(plan, STATE, ClusterFacts(sizes=SIZES))).sections
    assert known["waves"][-1][2:4] == ["1.00 kB", "unknown"], "no throttle, no time"


@pytest.mark.parametrize("text", [hostile_page(), operation_html()], ids=["plan", "operation"])
def test_foreign_text_never_becomes_markup(text: str) -> None:
    assert HTML not in text
    assert "window.owned" in text, "it is shown, escaped"
    tags = Rows(text).tags
    assert tags.count("script") - text.count('class="data"') == 1
    assert "img" not in tags
    assert "http" not in re.sub(r'http-equiv="', "", text), "nothing is loaded, nothing is linked"


def test_an_operation_is_told_step_by_step() -> None:
    rows = Rows(operation_html()).sections
    assert [row[1:4] + row[5:] for row in rows["steps"][1:]] == [
        ["probed whether the controller listens", "2026-01-01T00:00:01Z", "0:01", "0", "none"],
        ["published wave 1 of 2", "2026-01-01T00:00:02Z", "1:28", "1", "1.00 GB"],
        ["published wave 2 of 2", "2026-01-01T00:01:30Z", "0:30", "1", "unknown"],
    ]
    brokers = {row[0]: row[2:6] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "1", "2", "1"]
    assert "Not at their target now: orders-1." in operation_html()


def test_the_page_of_a_hundred_brokers_is_small() -> None:
    text = large_page()
    assert len(unpacked(text)) == 10_000
    assert len(text.encode()) < MOST_BYTES
    first, folded = text.split('<details class="more">')
    assert (first.count("its capacity is"), folded.count("its capacity is")) == (7, 3), "the rest is one click away"
    assert "<summary>3 more</summary>" in folded


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["report"], 64, "A cluster or a snapshot is needed"),
        (["report", "--inventory", "inv"], 64, "A snapshot needs a plan"),
        (["report", "op-1", "--figures", "f.json", "-z", "127.0.0.1:1"], 64, "--figures goes with a plan"),
        (["report", "plan.json", "-z", "127.0.0.1:1"], 64, "kadmin diff plan.json --html"),
        (["report", "none.yaml", "--inventory", "inv"], 3, "Cannot read none.yaml"),
        (["report", "plan.json", "--inventory", "inv", "--figures", "plan.json"], 3, "holds no figures"),
        (["report", "plan.json", "--inventory", "inv", "--figures", "inv/brokers.csv"], 3, "is not JSON"),
        (["report", "plan.json", "--inventory", "inv", "--figures", "f.json"], 4, "no figures of cluster"),
        (["report", "plan.json", "--inventory", "inv", "--out", "no/page.html"], 8, "Cannot write no/page.html"),
    ],
)
def test_what_cannot_be_is_told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], status: int, words: str
) -> None:
    monkeypatch.chdir(folder)
    (folder / "f.json").write_text(json.dumps({"clusters": []}))
    told = command(*arguments)
    assert (told.status, words in told.err) == (status, True), told.err


def test_without_jinja2_the_remedy_is_named(folder: Path) -> None:
    code = "import sys; sys.modules['jinja2'] = None\nfrom kadmin.cli import main; main()"  # as on a machine without it
    done = subprocess.run(
        [sys.executable, "-c", code, "diff", "p", "--html", "h"],
        cwd=folder,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 64
    assert done.stderr == (
        "error: A report in HTML needs the library jinja2.\n  next:  pip install 'kadmin-kafka[report]'\n"
    )
