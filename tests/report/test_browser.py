"""Pages of report in a real browser: Debian's Chromium, without a network. `make test-report` runs
these.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from support.pages.browser import chromium
from support.pages.html import hostile_page, large_page, load_page, operation_html, paced_html

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Literal

    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

MAKERS = {
    "large": large_page,
    "hostile": hostile_page,
    "operation": operation_html,
    "load": load_page,
    "rates": paced_html,
}
WIDTHS = (360, 800, 1440)
ENTRIES = 10_000
PRINTED_PAGE = re.compile(rb"/Type\s*/Page\b")
A4 = re.compile(rb"/MediaBox\s*\[0 0 59[45][.0-9]* 84[12][.0-9]*\]")
# Of the text in a cell.
HEIGHT = """cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getBoundingClientRect().height;
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    found = {name: folder / f"{name}.html" for name in MAKERS}
    for name, make in MAKERS.items():
        found[name].write_text(make(), encoding="utf-8")
    return found


class Watched:
    """A page with all that it asked for, and all that it complained of."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.file = file.as_uri()
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(self.file)

    def open_list(self, rows: int) -> None:
        """Open the long list, and wait for its last row."""
        self.page.locator(".packed > summary").click()
        self.page.locator(f".packed tbody tr:nth-child({rows})").wait_for()

    def column(self, section: str, at: int) -> list[str]:
        """The texts of a column, from 1, as they stand."""
        return self.page.locator(f"#{section} tbody tr > :nth-child({at})").all_inner_texts()

    def sort(self, section: str, head: str) -> None:
        """Click on a column's head."""
        self.page.locator(f"#{section}").get_by_role("button", name=head, exact=True).click()

    def judge(self) -> None:
        """It asked for nothing but itself, and did not complain; nothing foreign ran."""
        assert self.requests == [self.file]
        assert self.complaints == []
        assert self.page.evaluate("window.owned") is None


@contextmanager
def look(
    browser: Browser, file: Path, width: int = 1400, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Watched]:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    context.set_default_timeout(120_000)
    try:
        watched = Watched(context.new_page(), file)
        yield watched
        watched.judge()
    finally:
        context.close()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MAKERS)
def test_a_page_renders_at_every_width(
    browser: Browser, files: dict[str, Path], name: str, width: int
) -> None:
    with look(browser, files[name], width) as watched:
        page = watched.page
        assert page.evaluate("document.documentElement.scrollWidth") == width, (
            "nothing scrolls sideways but tables"
        )
        titles = page.locator("h2")
        assert titles.count() >= 5
        for title in titles.all():
            box = title.bounding_box()
            assert box is not None
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert all(text.strip() for text in titles.all_inner_texts())
        heights = {
            row: page.locator(f"#largest {row}").first.evaluate(HEIGHT) for row in ("td.w", "td.n")
        }
        assert heights["td.w"] == heights["td.n"], (
            "a list of brokers is one line: none of them is broken in two"
        )


@pytest.mark.parametrize("name", MAKERS)
def test_at_1000_pixels_every_table_is_seen_whole(
    browser: Browser, files: dict[str, Path], name: str
) -> None:
    with look(browser, files[name], 1000) as watched:
        for table in watched.page.locator(".scroll").all():
            if table.is_visible():
                assert table.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def test_at_500_pixels_no_word_of_the_last_rows_is_broken(
    browser: Browser, files: dict[str, Path]
) -> None:
    with look(browser, files["large"], 500) as watched:
        name = watched.page.locator("#brokers tfoot th").first
        heights = []
        for words in ("one", "maximum"):
            name.evaluate("(each, words) => { each.textContent = words }", words)
            heights.append(name.evaluate(HEIGHT))
        assert heights[0] == heights[1], "lowest possible maximum"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    ("name", "width"),
    [
        ("hostile", 360),
        ("hostile", 1400),
        ("operation", 1400),
        ("large", 1400),
        ("load", 360),
        ("rates", 360),
        ("rates", 1400),
    ],
)
def test_a_page_is_accessible(
    browser: Browser,
    files: dict[str, Path],
    name: str,
    width: int,
    scheme: Literal["light", "dark"],
) -> None:
    with look(browser, files[name], width, scheme) as watched:
        if name not in {"large", "load"}:  # axe would look at each of 50,000 cells
            watched.open_list(2)
        found = Axe().run(watched.page)
        assert found.violations_count == 0, found.generate_report()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_figure_has_its_name_and_range_and_its_labels_do_not_meet(
    browser: Browser, files: dict[str, Path], width: int
) -> None:
    with look(browser, files["rates"], width) as watched:
        figures = watched.page.locator("#rates svg.plot[role=img]")
        assert figures.count() == 3
        rate = figures.first
        assert rate.locator("title").text_content() == "Rate over time"
        assert "1.00 to 8.92 MB/s" in (rate.locator("desc").text_content() or "")
        for figure in figures.all():
            labels = [label.bounding_box() for label in figure.locator("text").all()]
            boxes = [box for box in labels if box is not None]
            assert len(boxes) == len(labels) >= 5
            for at, one in enumerate(boxes):
                assert 0 <= one["x"] <= one["x"] + one["width"] <= width
                assert not any(
                    one["x"] < other["x"] + other["width"]
                    and other["x"] < one["x"] + one["width"]
                    and one["y"] < other["y"] + other["height"]
                    and other["y"] < one["y"] + one["height"]
                    for other in boxes[at + 1 :]
                )


def test_tables_sort_by_what_cells_mean(browser: Browser, files: dict[str, Path]) -> None:
    with look(browser, files["large"]) as watched:
        shown = watched.column("brokers", 9)
        watched.sort("brokers", "Leader bytes before")
        keys = watched.page.locator("#brokers tbody tr > :nth-child(10)")
        rising = [
            float(str(each.get_attribute("data-k") or each.inner_text())) for each in keys.all()
        ]
        assert rising == sorted(rising)
        assert rising[0] < rising[-1]
        assert len(watched.column("brokers", 9)) == len(shown) == 100
        watched.sort("brokers", "Leader bytes before")
        assert [
            float(str(each.get_attribute("data-k") or each.inner_text())) for each in keys.all()
        ] == rising[::-1]
        head = watched.page.locator("#brokers th[aria-sort]")
        assert (head.count(), head.get_attribute("aria-sort")) == (1, "descending")
        watched.sort("largest", "Partition")
        names = watched.column("largest", 1)
        assert names == sorted(
            names, key=lambda name: (name.rsplit("-", 1)[0], int(name.rsplit("-", 1)[1]))
        )


def test_what_is_not_known_stays_last(browser: Browser, files: dict[str, Path]) -> None:
    with look(browser, files["operation"]) as watched:
        for _ in range(2):
            watched.sort("largest", "Bytes copied")
            assert watched.column("largest", 5) == ["1.00 GB", "unknown"]


def test_the_list_of_every_change_unpacks_and_is_filtered(
    browser: Browser, files: dict[str, Path]
) -> None:
    with look(browser, files["large"]) as watched:
        assert watched.page.locator(".packed tbody tr").count() == 0
        watched.open_list(ENTRIES)
        assert watched.page.locator(".packed tbody tr").count() == ENTRIES
        watched.page.get_by_label("Filter").fill("topic-00007")
        visible = watched.page.locator(".packed tbody tr:visible")
        assert {row.locator("th").inner_text() for row in visible.all()} == {"topic-00007"}
        shown = watched.page.locator("output", has_text="shown")
        assert shown.inner_text() == f"{visible.count()} shown"
    with look(browser, files["hostile"]) as watched:
        watched.open_list(2)
        assert "<script>" in watched.column("changes", 1)[0], "shown as it is, and never run"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_heat_map_tells_the_hour_under_the_pointer_and_by_keyboard(
    browser: Browser, files: dict[str, Path], scheme: Literal["light", "dark"]
) -> None:
    with look(browser, files["load"], scheme=scheme) as watched:
        section = watched.page.locator("#load-in")
        before, after = section.locator("canvas").all()
        told = section.locator(".told output")
        # It is drawn.
        watched.page.wait_for_function("document.querySelector('#load-in canvas').height === 100")
        before.focus()
        told.get_by_text("Broker 1, Monday 00:00").wait_for()
        for key in ("ArrowRight", "ArrowDown", "ArrowDown", "PageDown", "ArrowLeft", "ArrowUp"):
            before.press(key)
        assert told.inner_text().startswith("Broker 2, Tuesday 00:00: ")
        box = after.bounding_box()
        assert box is not None
        assert box["height"] >= 300
        after.hover(position={"x": box["width"] - 1, "y": box["height"] - 1})
        assert told.inner_text().startswith("Broker 100, Sunday 23:00: ")
        colours = [
            canvas.evaluate("canvas => canvas.getContext('2d').getImageData(0, 0, 168, 100).data")
            for canvas in (before, after)
        ]
        seen = [
            {tuple(found[at + each] for each in range(3)) for at in range(0, len(found), 4)}
            for found in colours
        ]
        assert len(seen[0]) >= 5, "cool and hot hours differ"
        assert len(seen[1]) < len(seen[0])


@pytest.mark.parametrize("name", MAKERS)
def test_a_page_prints_on_one_sheet(browser: Browser, files: dict[str, Path], name: str) -> None:
    with look(browser, files[name]) as watched:
        watched.page.emulate_media(media="print")
        assert not watched.page.locator("nav").is_visible()
        assert watched.page.get_by_role("heading", name="How do I undo it").is_visible()
        assert watched.page.locator(".charts").is_visible()
        assert not watched.page.locator("#brokers").is_visible()
        printed = watched.page.pdf(prefer_css_page_size=True, print_background=True)
        assert len(PRINTED_PAGE.findall(printed)) == 1
        assert A4.search(printed), "595 by 842 points"
        # Nothing is cut off at the right: 210 mm less the margins are 703 pixels.
        watched.page.set_viewport_size({"width": 703, "height": 1032})
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= 703


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_tells_the_broker_under_the_pointer_and_by_keyboard(
    browser: Browser, files: dict[str, Path], scheme: Literal["light", "dark"]
) -> None:
    with look(browser, files["large"], scheme=scheme) as watched:
        chart = watched.page.locator(".chart").first
        bars, told = chart.locator(".bars"), chart.locator("output")
        box = bars.bounding_box()
        assert box is not None
        bars.hover(position={"x": box["width"] - 2, "y": 5})
        row = watched.page.locator("#brokers tbody tr").last
        broker, rack, before, after = row.locator("th, td").all_inner_texts()[:4]
        assert told.inner_text() == f"Broker {broker} ({rack}): {before} before, {after} after"
        bars.focus()
        bars.press("ArrowLeft")
        assert told.inner_text().startswith("Broker 99 (")
        labels = chart.locator(".amounts text").all_text_contents()
        assert labels[-1] == "0"
        assert len(labels) >= 3


def test_racks_have_the_colours_that_the_legend_names(
    browser: Browser, files: dict[str, Path]
) -> None:
    colour = "each => getComputedStyle(each, '::before').backgroundColor"
    fill = "each => getComputedStyle(each).fill"
    with look(browser, files["large"]) as watched:
        named = watched.page.locator(".racks li").all()
        shown = {each.inner_text(): each.evaluate(colour) for each in named}
        assert len(set(shown.values())) == len(shown) == 5
        paths = watched.page.locator(".chart").first.locator("path:not(.weak)").all()
        assert {each.evaluate(fill) for each in paths} == set(shown.values())
        first = watched.page.locator("#brokers tbody tr").first.locator("td").first
        assert first.evaluate(colour) == shown[first.inner_text()]
