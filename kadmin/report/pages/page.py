"""The content of a page as values. A template renders them as HTML and escapes all text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from kadmin.report.text import UNKNOWN, about

if TYPE_CHECKING:
    from kadmin.insight.predict.losses import Bound


_ROOM = 36
"""Characters beside each other above the bars of a chart."""


class Tone(StrEnum):
    """The colour of a notice, a card or a cell; the text says the same in words."""

    NONE = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of `length` from `start`, in percent of its cell."""

    start: float
    length: float


@dataclass(frozen=True, slots=True)
class PageCell:
    """One cell.

    `key` sorts it instead of its text. `heat` is -3 to 3 around the even share, None for no colour.
    `bars` lie along the cell, `columns` are pairs of heights in percent, before and after. `colour`
    is that of a rack.
    """

    text: str
    key: float | None = None
    tone: Tone = Tone.NONE
    heat: int | None = None
    strong: bool = False
    badges: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    columns: tuple[tuple[int, int], ...] = ()
    colour: int | None = None


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column, below the head of its group.

    `numeric` ones sort by key, `whole` ones have no line breaks, `prose` ones have room for
    sentences.
    """

    name: str
    group: str = ""
    numeric: bool = True
    sortable: bool = True
    whole: bool = False
    prose: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows below columns; the first cell of a row names it. `footer` rows are not sorted."""

    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    footer: tuple[tuple[PageCell, ...], ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The heads of groups from left to right, each with its number of columns."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and column.group and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return tuple(found)

    @property
    def starts(self) -> frozenset[int]:
        """The positions of the first column of each group."""
        names = [column.group for column in self.columns]
        return frozenset(at for at, name in enumerate(names) if name and name != names[at - 1])


@dataclass(frozen=True, slots=True)
class Card:
    """One figure of the summary."""

    label: str
    value: str
    detail: str = ""
    tone: Tone = Tone.NONE


@dataclass(frozen=True, slots=True)
class ChartBar:
    """A broker's bars: heights before and after in percent, and their amounts in words.

    `rack` is empty where it is unknown, `colour` None for the colour of all.
    """

    broker: str
    rack: str
    colour: int | None
    heights: tuple[int, int]
    texts: tuple[str, str]


@dataclass(frozen=True, slots=True)
class ChartPath:
    """An SVG path of all bars of one colour at one time; a broker is 10 wide, the height 100."""

    path: str
    colour: int | None
    is_before: bool


@dataclass(frozen=True, slots=True)
class Chart:
    """An amount of every broker by id, and the even share after, in percent of the height.

    `text` gives the range in words; `ticks` are ids of brokers below their bars, at percents of the
    width; `amounts` are labels of the scale at percents of the height.
    """

    title: str
    text: str
    bars: tuple[ChartBar, ...]
    paths: tuple[ChartPath, ...]
    share: int
    ticks: tuple[tuple[float, str], ...]
    amounts: tuple[tuple[float, str], ...]

    @property
    def has_room(self) -> bool:
        """Whether each bar after has room for its amount above it."""
        return len(self.bars) * max(len(each.texts[1]) for each in self.bars) <= _ROOM


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence above the figures, and the next command."""

    text: str
    tone: Tone = Tone.NONE
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a reviewer, and its answers."""

    title: str
    answers: tuple[Notice, ...]


@dataclass(frozen=True, slots=True)
class Packed:
    """A long list, unpacked when it is opened.

    `data`: tab-separated cells, a line per column, deflated, in base64.
    """

    columns: tuple[PageColumn, ...]
    data: str
    rows: int


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Pictures of every broker in every hour of a week, one for each of two `times`.

    They are drawn when the page opens. `data`: fiftieths of the fair share, 255 at most, less those
    of the day before, modulo 256, a byte each: hours of a broker, brokers, times; deflated, in
    base64. `steps` are the most, in fair shares, of each colour but the last.
    """

    times: tuple[str, str]
    brokers: tuple[str, ...]
    days: tuple[str, ...]
    hours_of_a_day: int
    steps: tuple[float, ...]
    data: str


@dataclass(frozen=True, slots=True)
class FigureLine:
    """An SVG path; its name in the legend is empty where it is the only one.

    `kind` is its style: empty for the line of an amount, weak, limit or points.
    """

    path: str
    name: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class LineFigure:
    """Amounts over time. Positions are of 1,000 from the left, and of 100 from the top.

    `text` gives the range in words. `shades` are times that are grey, each with its length. `times`
    are labels with their positions in percent, `amounts` labels with theirs.
    """

    anchor: str
    title: str
    text: str
    lines: tuple[FigureLine, ...]
    shades: tuple[tuple[int, int], ...]
    times: tuple[tuple[float, str], ...]
    amounts: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    `even`: its cells are coloured, and the legend calls the middle of the scale so.
    """

    anchor: str
    title: str
    lead: str
    table: PageTable | None = None
    packed: Packed | None = None
    even: str = ""
    heat_map: HeatMap | None = None
    figures: tuple[LineFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page; `facts` name the plan or operation, the cluster and the time."""

    title: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    notices: tuple[Notice, ...]
    cards: tuple[Card, ...]
    charts: tuple[Chart, ...]
    sections: tuple[Section, ...]
    questions: tuple[Question, ...] = ()

    @property
    def racks(self) -> tuple[tuple[int, str], ...]:
        """The colours of the charts with their racks."""
        bars = (bar for chart in self.charts for bar in chart.bars)
        return tuple(sorted({(bar.colour, bar.rack) for bar in bars if bar.colour is not None}))


def number(value: float | None, *, strong: bool = False, heat: int | None = None) -> PageCell:
    """Return a cell of a count, `12,345`."""
    text = UNKNOWN if value is None else f"{value:,}"
    return PageCell(text, value, strong=strong, heat=heat)


def bound(value: Bound | None, *, strong: bool = False) -> PageCell:
    """Return a cell of a count that may be known by its bounds only, `0 to 12,345`."""
    if value is None or value.least == value.most:
        return number(None if value is None else value.most, strong=strong)
    return PageCell(f"{value.least:,} to {value.most:,}", value.most, strong=strong)


def size(value: int | None, *, strong: bool = False, heat: int | None = None) -> PageCell:
    """Return a cell of bytes, `1.24 TB`."""
    return PageCell(about(value), value, strong=strong, heat=heat)
