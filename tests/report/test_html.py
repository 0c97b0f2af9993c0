"""Pages of `report`, `diff --html` and `propose --html`, read as text; tests/report/test_browser.py
looks at them.
"""

from __future__ import annotations

import base64
import html
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
from support.pages.html import (
    HTML,
    hostile_page,
    large_page,
    load_hours,
    load_page,
    operation_html,
    operation_text,
    paced_html,
    page_of,
)

from kadmin.cluster.disks import Disk, DiskReplica, DiskState
from kadmin.inventory import inventory_of, write_inventory
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import Author, OperationState
from kadmin.operations.record.steps import ThrottleChange, ThrottleStep
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
    """Return the rows of the list of all changes."""
    section = text.partition('<section id="changes"')[2].partition("</section>")[0]
    (data,) = re.findall(r'<script type="text/plain" class="data">([^<]*)</script>', section)
    columns = [
        line.split("\t") for line in zlib.decompress(base64.b64decode(data)).decode().split("\n")
    ]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_inventory(inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z"), tmp_path / "inv", "csv")
    document(tmp_path / "plan.json", PLAN)
    return tmp_path


def test_the_full_list_counts_all_copies_as_the_largest_moves_do() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("orders-0"), (3, 4), (1, 2)),))
    text = page_of(plan, STATE, ClusterFacts(sizes=SIZES))
    assert [row[-1] for row in unpacked(text)] == ["2.00e+03"]
    assert Rows(text).sections["largest"][-1][-1] == "2.00 kB"


def test_diff_writes_the_page_beside_its_answer(folder: Path) -> None:
    told = command(
        "diff", folder / "plan.json", "--inventory", folder / "inv", "--html", folder / "page.html"
    )
    assert told.status == 0
    assert told.out == command("diff", folder / "plan.json", "--inventory", folder / "inv").out
    text = (folder / "page.html").read_text()
    rows = Rows(text).sections
    brokers = {row[0]: row[2:] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "0", "1", "0", "3.00 kB", "0 B", "1.00 kB", "0 B"]
    assert brokers["4"] == ["0", "1", "0", "1", "0 B", "1.00 kB", "0 B", "1.00 kB"]
    assert [row[:3] for row in rows["waves"] if row[0] == "1"] == [["1", "2", "3.00 kB"]]
    assert ["orders-1", "2,1", "2,3", "3", "2.00 kB"] in rows["largest"]
    assert unpacked(text) == [
        ["orders", "0", "1,2", "4,2", "1.00e+03"],
        ["orders", "1", "2,1", "2,3", "2.00e+03"],
    ]
    assert "How even" not in text, "no planner, no bounds"


def test_report_of_a_plan_says_the_same_and_takes_the_figures_of_its_proposal(folder: Path) -> None:
    (folder / "request.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    made = command(
        *(
            "propose",
            "rebalance",
            folder / "request.yaml",
            "--inventory",
            folder / "inv",
            "--engine",
            "local",
        ),
        *(
            "--out",
            folder / "made.yaml",
            "--figures",
            folder / "figures.json",
            "--html",
            folder / "made.html",
        ),
    )
    assert made.status == 0, made.err
    arguments = (
        "report",
        folder / "made.yaml",
        "--inventory",
        folder / "inv",
        "--figures",
        folder / "figures.json",
    )
    assert command(*arguments).out == (folder / "made.html").read_text()
    assert "moves" in [
        row[0] for row in Rows((folder / "made.html").read_text()).sections["figures"]
    ]
    told = command(*arguments, "--out", folder / "again.html")
    assert (
        told.out
        == f"{folder / 'again.html'}: {round((folder / 'again.html').stat().st_size / 1000)} kB\n"
    )
    assert (folder / "again.html").read_text() == (folder / "made.html").read_text()


def colours(text: str) -> dict[str, list[str]]:
    """Return the classes of the cells of each broker's row: c0 (under half) to c6 (over double), -
    for no colour.
    """
    section = text.split('<section id="brokers">')[1].split("</section>", maxsplit=1)[0]
    found = {}
    for row in re.findall(r"<tr>(.*?)</tr>", section, re.DOTALL):
        cells = re.findall(r"<t[dh]([^>]*)>", row)
        name = re.search(r">([^<]*)<", row)
        found[name[1] if name else ""] = [
            (re.findall(r"\bc[0-6]\b", cell) or ["-"])[0] for cell in cells[2:]
        ]
    return found


DRAINED = cluster(
    {f"a-{number}": (3, 4, 5) if number % 2 else (1, 2, 3) for number in range(12)},
    brokers={1: "r1", 2: "r2", 3: "r3", 4: "r1", 5: "r2"},
)


def drained(folder: Path, request: str) -> tuple[str, str]:
    """Return the pages of a proposal with its figures, and of its plan without."""
    write_inventory(inventory_of(DRAINED, {}, "2026-01-01T00:00:00Z"), folder / "drained", "csv")
    (folder / "request.yaml").write_text(f"kind: RebalanceRequest\nspec: {request}\n")
    made = command(
        *(
            "propose",
            "rebalance",
            folder / "request.yaml",
            "--inventory",
            folder / "drained",
            "--engine",
            "local",
        ),
        *("--out", folder / "made.yaml", "--html", folder / "made.html"),
    )
    assert made.status == 0, made.err
    told = command(
        "diff",
        folder / "made.yaml",
        "--inventory",
        folder / "drained",
        "--html",
        folder / "diff.html",
    )
    assert told.status == 0, told.err
    return (folder / "made.html").read_text(), (folder / "diff.html").read_text()


def test_the_even_share_of_a_drain_is_that_of_the_brokers_that_may_hold_replicas(
    tmp_path: Path,
) -> None:
    for text in drained(tmp_path, "{brokers: {drain: [3]}, racks: relaxed}"):
        rows = {row[0]: row[2:6] for row in Rows(text).sections["brokers"] if row}
        assert rows["even share"] == ["7.2", "9.0", "2.4", "3.0"]
        assert rows["3"] == ["12", "0", "6", "0"]
        shown = colours(text)
        assert {broker: (shown[broker][1], shown[broker][3]) for broker in "12345"} == {
            **dict.fromkeys("1245", ("c3", "c3")),
            "3": ("-", "-"),
        }
        assert "6 to 12 before, 9 after" in text
        assert '<line class="share" x2="100%" y1="25%" y2="25%"/>' in text, "9 of 12"


def test_what_is_proved_optimal_is_not_painted_as_uneven(tmp_path: Path) -> None:
    """Three replicas on three racks: the one broker of r3 must hold one of each partition."""
    made, without_figures = drained(tmp_path, "{}")
    rows = {row[0]: row[2:6] for row in Rows(made).sections["brokers"] if row}
    assert rows["3"][1] == "12"
    assert rows["lowest possible maximum"] == ["", "12", "", "3"]
    assert {row[1] for row in colours(made).values() if len(row) > 1} == {"c3", "-"}
    assert {row[1] for row in colours(without_figures).values() if len(row) > 1} == {
        "c2",
        "c5",
        "-",
    }
    assert ">even, or at the lowest possible maximum<" in made
    assert ">even<" in without_figures


def test_the_even_share_goes_by_weight_and_leaders_by_who_may_lead(tmp_path: Path) -> None:
    made, _ = drained(tmp_path, "{brokers: {weights: {4: 2.0}, never_lead: [5]}, racks: ignore}")
    rows = {row[0]: row[2:6] for row in Rows(made).sections["brokers"] if row}
    assert [rows[name][1] for name in ("1", "4", "even share")] == ["6", "12", "6.0"]
    assert {colours(made)[broker][1] for broker in "12345"} == {"c3"}
    assert (rows["even share"][3], rows["5"][3], colours(made)["5"][3]) == ("3.0", "0", "-")


def test_a_fleet_gets_a_page_for_each_cluster(folder: Path) -> None:
    one = inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z")
    fleet = type(one)(one.taken_at, {"north": one.clusters[""], "south": one.clusters[""]})
    write_inventory(fleet, folder / "fleet", "csv")
    (folder / "request.yaml").write_text("kind: RebalanceRequest\nspec: {}\n")
    made = command(
        *(
            "propose",
            "rebalance",
            folder / "request.yaml",
            "--inventory",
            folder / "fleet",
            "--engine",
            "local",
        ),
        *("--out", folder / "plans", "--html", folder / "pages"),
    )
    assert made.status == 0, made.err
    assert sorted(path.name for path in (folder / "pages").iterdir()) == [
        "north.html",
        "south.html",
    ]


def test_elections_and_deletions_have_pages(folder: Path) -> None:
    for name, value in {"elect": election(all=True), "delete": deletion("single")}.items():
        plan = document(folder / f"{name}.json", value)
        assert (
            command(
                "diff", plan, "--inventory", folder / "inv", "--html", folder / f"{name}.html"
            ).status
            == 0
        )
    text = (folder / "delete.html").read_text()
    assert ["single"] in Rows(text).sections["targets"]
    assert "Destroyed" in text
    assert [row[3] for row in Rows(text).sections["brokers"] if row[0] == "3"] == ["0"]


def test_disks_have_bars_and_the_fullest_come_first(folder: Path) -> None:
    disks = {
        1: (Disk(1, "/a", 1000, 250), Disk(1, "/b", state=DiskState.FAILED)),
        2: (Disk(2, "/a", 1000, 40), Disk(2, "/old")),
    }
    replicas = {1: (DiskReplica(tp("orders-0"), 1, "/a", 700),), 2: ()}
    facts = ClusterFacts(disks=disks, replicas=replicas)
    taken = inventory_of(STATE, SIZES, "2026-01-01T00:00:00Z", facts)
    write_inventory(taken, folder / "inv", "csv")
    page = folder / "page.html"
    arguments = ("report", folder / "plan.json", "--inventory", folder / "inv", "--out", page)
    assert command(*arguments).status == 0
    text = page.read_text(encoding="utf-8")
    head, *rows = Rows(text).sections["disks"]
    assert head[:3] == ["Broker", "Directory", "0 to 100 %"]
    assert rows == [
        ["1", "/b failed", "", "unknown", "unknown", "unknown", "unknown", "unknown"],
        ["2", "/a", "", "96 %", "40 B", "1.00 kB", "0", "0 B"],
        ["1", "/a", "", "75 %", "250 B", "1.00 kB", "1", "700 B"],
        ["2", "/old", "", "unknown", "unknown", "unknown", "0", "0 B"],
    ]
    section = text.partition('<section id="disks"')[2].partition("</section>")[0]
    assert re.findall(r'<rect x="0.00" width="([0-9.]+)"', section) == ["96.00", "75.00"]


def test_what_is_not_known_is_told_as_unknown() -> None:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("orders-0"), (4, 2), (1, 2)),))
    rows = Rows(page_of(plan, STATE)).sections
    brokers = {row[0]: row[2:] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "1", "1", "0", *["unknown"] * 4]
    assert brokers["4"][4:] == ["0 B", "unknown", "0 B", "unknown"], "what is empty is known to be"
    assert rows["waves"][-1][2:4] == ["unknown", "unknown"]
    assert rows["largest"][-1][-1] == "unknown"
    text = page_of(plan, replace(STATE, states={}))
    assert "before: 0 to 2 offline; 3 not known" in text, "no leaders, losses are bounds"
    (third,) = [row for row in Rows(text).sections["losses"] if row[0].startswith("3")]
    assert third[1:3] == ["1", "1"], "no replica of single-0 is left"
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
        [f"started by {HTML}@{HTML}", "2026-01-01T00:00:00Z", "", "", ""],
        ["probed whether the controller listens", "2026-01-01T00:00:01Z", "0:01", "0", "none"],
        ["published wave 1 of 2", "2026-01-01T00:00:02Z", "1:28", "1", "1.00 GB"],
        ["published wave 2 of 2", "2026-01-01T00:01:30Z", "0:30", "1", "unknown"],
        [f"failed: {HTML}", "2026-01-01T00:02:00Z", "", "", ""],
    ]
    brokers = {row[0]: row[2:6] for row in rows["brokers"] if row[0].isdigit()}
    assert brokers["1"] == ["2", "1", "2", "1"]
    assert "Not at their target now: orders-1." in operation_html()


def test_the_page_of_a_running_operation_names_its_runner_and_never_what_would_fail_beside_it() -> (
    None
):
    runner = Holder(Author("ops", "box", 7), "op-1", "2026-01-01T00:00:00Z", 18.0)
    watched = operation_text([], OperationState.RUNNING, sizes={}, runner=runner)
    assert "<b>Note</b> <span>Running" in watched
    assert (
        "runner: ops@box (pid 7) since 2026-01-01T00:00:00Z <code>kadmin status --watch</code>"
        in watched
    )
    assert "resume" not in watched
    assert "<b>Warning</b>" not in watched
    assert "<dt>Time so far</dt><dd>3:00</dd>" in watched
    alone = operation_text([], OperationState.RUNNING, sizes={})
    assert "<b>Warning</b> <span>Interrupted" in alone
    assert "no runner <code>kadmin resume op-1</code>" in alone


def test_a_change_of_the_throttle_concerns_no_partition() -> None:
    change = ThrottleStep(1, "2026-01-01T00:00:01Z", ThrottleChange(5_000_000, {}, None))
    rows = Rows(operation_text([change], OperationState.FAILED, sizes={})).sections["steps"]
    (told,) = (row[5:] for row in rows if row[1].startswith("changed the throttle"))
    assert told == ["none", "none"]


def test_an_operation_whose_rate_changed_has_figures_of_it_and_of_its_signals() -> None:
    text = paced_html()
    drawn = text.partition('<section id="rates">')[2].partition("</section>")[0]
    assert drawn.count("<figure>") == 3
    assert "<b>Rate</b>1.00 to 8.92 MB/s, 3.58 MB/s last, 30 changes<" in drawn
    assert '<li class="k0">broker 1</li><li class="k1">broker 2</li>' in drawn
    assert drawn.count('<rect class="outside"') == 3 * 2
    assert drawn.count('class="limit"') == drawn.count('class="points"') == 2
    assert "rates" not in Rows(operation_html()).sections


def test_the_order_of_a_list_is_no_order_of_execution_and_others_are_named_if_any() -> None:
    copied = PartitionTarget(tp("orders-0"), (4, 2), (1, 2))
    reordered = PartitionTarget(tp("orders-1"), (1, 2), (2, 1))
    whole = page_of(ReassignmentPlan(PlanHeader(), (copied,)), STATE)
    assert "order of execution" not in whole, "spec.order: shortest packs waves otherwise"
    assert "Entries that copy data: 1 of 1.<" in whole
    both = page_of(ReassignmentPlan(PlanHeader(), (copied, reordered)), STATE)
    assert "Entries that copy data: 1 of 2; the others change the order only." in both


def test_load_over_time_is_in_tables_and_in_pictures_of_few_bytes() -> None:
    text = load_page()
    assert len(text.encode()) < MOST_BYTES
    data = re.findall(r'<div class="hours".*?class="data">([^<]*)</script>', text, flags=re.DOTALL)
    assert len(data) == 2, "in and out"
    drawn = zlib.decompress(base64.b64decode(data[0]))
    hours = load_hours().resources["in"]
    assert len(drawn) == 2 * 100 * 168
    assert list(drawn[:24]) == [round(50 * each) for each in hours.before[0][:24]]
    assert drawn[24] == (round(50 * hours.before[0][24]) - drawn[0]) % 256, (
        "less that of the day before"
    )
    worst = max(hours.before[0])
    at = hours.before[0].index(worst)
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    assert f"{days[at // 24]} {at % 24:02}:00" in text
    assert f">{worst:.2f}</td>" in text
    assert "Network in, Monday 23:00, the busiest hour" in text
    assert "by hour" not in large_page(entries=10), "nothing of it where load is not asked for"


@pytest.mark.matrix
def test_the_page_of_a_hundred_brokers_is_small() -> None:
    text = large_page()
    assert len(unpacked(text)) == 10_000
    assert len(text.encode()) < MOST_BYTES
    for page, least in (
        (large_page(load_hours(), entries=10_000), 2_900),
        (large_page(disks=12), 9_000),
        (large_page(load_hours(), entries=10_000, disks=12), 1_000),
    ):
        listed = len(unpacked(page))
        assert least < listed < 10_000
        assert f"The plan's file has {10_000 - listed:,} more entries." in html.unescape(page)
        assert len(page.encode()) < MOST_BYTES
    first, folded = text.split('<details class="more">')
    assert (first.count("silence"), folded.count("silence")) == (7, 3), "the rest is one click away"
    assert "<summary>3 more</summary>" in folded


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["report"], 64, "add -z CONNECT (or set KADMIN_ZOOKEEPER), -b BROKERS"),
        (["report", "--inventory", "inv"], 64, "A snapshot needs a plan"),
        (
            ["report", "op-1", "--figures", "f.json", "-z", "127.0.0.1:1"],
            64,
            "--figures goes with a plan",
        ),
        (["report", "plan.json", "-z", "127.0.0.1:1"], 64, "kadmin diff plan.json --html"),
        (["report", "none.yaml", "--inventory", "inv"], 3, "Cannot read none.yaml"),
        (
            ["report", "plan.json", "--inventory", "inv", "--figures", "plan.json"],
            3,
            "holds no figures",
        ),
        (
            ["report", "plan.json", "--inventory", "inv", "--figures", "inv/brokers.csv"],
            3,
            "is not JSON",
        ),
        (
            ["report", "plan.json", "--inventory", "inv", "--figures", "f.json"],
            4,
            "no figures of cluster",
        ),
        (
            ["report", "plan.json", "--inventory", "inv", "--out", "no/page.html"],
            8,
            "Cannot write no/page.html",
        ),
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
    # As on a machine without it.
    code = "import sys; sys.modules['jinja2'] = None\nfrom kadmin.cli import main; main()"
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
        "error: A report in HTML needs the library jinja2.\n  next:  pip install "
        "'kadmin-kafka[report]'\n"
    )
