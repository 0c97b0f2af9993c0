"""What a page shows, as values: text that is ready to be read, and what it sorts by. A template turns it into HTML.

Text is plain: whoever renders it escapes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kadmin.report.text import UNKNOWN, about


class Tone(StrEnum):
    """How a notice, a card or a cell is meant; every tone also says so in words."""

    NONE = ""
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar from `start` over `length`, in percent of its cell; `weak` ones stand behind, for what was before."""

    start: float
    length: float
    weak: bool = False


@dataclass(frozen=True, slots=True)
class PageCell:
    """One cell. `key` sorts it where its text does not; `heat` is -3 to 3 around the even share, None for no colour.

    `bars` lie along the cell, `columns` are pairs of heights in percent, before and after.
    """

    text: str
    key: float | None = None
    tone: Tone = Tone.NONE
    heat: int | None = None
    strong: bool = False
    badges: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    columns: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PageColumn:
    """A column, below the head of a group where it has one. `numeric` ones sort by key, the unknown last.

    `whole`: a cell is never broken into lines, as a list of brokers would be within an id.
    """

    name: str
    group: str = ""
    numeric: bool = True
    sortable: bool = True
    whole: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under columns; the first cell of a row names it. `footer` rows stay below, whatever is sorted."""

    columns: tuple[PageColumn, ...]
    rows: tuple[tuple[PageCell, ...], ...]
    footer: tuple[tuple[PageCell, ...], ...] = ()

    @property
    def groups(self) -> tuple[tuple[str, int], ...]:
        """The heads of groups from left to right, and over how many columns each stands."""
        found: list[tuple[str, int]] = []
        for column in self.columns:
            if found and column.group and found[-1][0] == column.group:
                found[-1] = (column.group, found[-1][1] + 1)
            else:
                found.append((column.group, 1))
        return tuple(found)

    @property
    def starts(self) -> frozenset[int]:
        """The columns that a group begins with."""
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
class Chart:
    """One amount of every broker by id: pairs of heights, before and after, and the even share after, in percent.

    `text` says the same in words.
    """

    title: str
    text: str
    columns: tuple[tuple[int, int], ...]
    share: int


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence that stands before all figures, and what to type next."""

    text: str
    tone: Tone = Tone.NONE
    next_command: str = ""


@dataclass(frozen=True, slots=True)
class Packed:
    """A long list that the page unpacks when it is opened.

    `data` has a line of tab-separated cells for each column, deflated, in base64.
    """

    columns: tuple[PageColumn, ...]
    data: str
    rows: int


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page. `heat`: its cells are coloured, and the legend says how."""

    anchor: str
    title: str
    lead: str
    table: PageTable | None = None
    packed: Packed | None = None
    heat: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page; `facts` say of what and of when it is."""

    title: str
    kind: str
    facts: tuple[tuple[str, str], ...]
    notices: tuple[Notice, ...]
    cards: tuple[Card, ...]
    charts: tuple[Chart, ...]
    sections: tuple[Section, ...]


def number(value: float | None, *, strong: bool = False, heat: int | None = None) -> PageCell:
    """Return a cell of a count, `12,345`."""
    text = UNKNOWN if value is None else f"{value:,}"
    return PageCell(text, value, strong=strong, heat=heat)


def size(value: int | None, *, strong: bool = False, heat: int | None = None, tone: Tone = Tone.NONE) -> PageCell:
    """Return a cell of bytes, `1.24 TB`."""
    return PageCell(about(value), value, strong=strong, heat=heat, tone=tone)
