"""Sorting and filtering of tables, whatever their columns are."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.errors import UsageError
from kadmin.insight.tables.table import Table
from kadmin.report.cluster.tables import table_csv, table_text

if TYPE_CHECKING:
    from kadmin.insight.tables.table import Cell


@dataclass(frozen=True)
class Thing:
    name: str
    number: int | None = None
    list: tuple[int, ...] = ()
    flag: bool = False
    size_bytes: int | None = None


@dataclass(frozen=True)
class Pair:
    one: Cell
    two: Cell


THINGS = [
    Thing("b", 10, (1, 2), flag=True),
    Thing("a"),
    Thing("ab", 9, (2,)),
    Thing("\x1b[31m", 9, (12,), flag=True),
]
TABLE = Table.of("things", Thing, THINGS, without=("size_bytes",))


def names(table: Table) -> list[Cell]:
    return [row[0] for row in table.rows]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ([], ["b", "a", "ab", r"\x1b[31m"]),
        (["name"], [r"\x1b[31m", "a", "ab", "b"]),
        (["number"], ["ab", r"\x1b[31m", "b", "a"]),
        (["-number"], ["b", "ab", r"\x1b[31m", "a"]),
        (["number", "-name"], ["ab", r"\x1b[31m", "b", "a"]),
        (["list"], ["a", "b", "ab", r"\x1b[31m"]),
    ],
)
def test_sorting_is_by_value_and_what_is_not_known_comes_last(
    keys: list[str], expected: list[str]
) -> None:
    assert names(TABLE.sorted_by(keys)) == expected


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (["name=a*"], ["a", "ab"]),
        (["name!=a*"], ["b", r"\x1b[31m"]),
        (["list=2"], ["b", "ab"]),
        (["list=1,2"], ["b"]),
        (["list="], ["a"]),
        (["number="], ["a"]),
        (["flag=yes"], ["b", r"\x1b[31m"]),
        (["flag=true", "number=9"], [r"\x1b[31m"]),
        (["flag=maybe"], []),
    ],
)
def test_filters(conditions: list[str], expected: list[str]) -> None:
    assert names(TABLE.filtered(conditions)) == expected


@pytest.mark.parametrize("wrong", ["nothing=1", "name", "=a", "", "!=a"])
def test_a_wrong_filter_is_wrong_usage(wrong: str) -> None:
    with pytest.raises(UsageError):
        TABLE.filtered([wrong])


def test_a_wrong_column_to_sort_by_names_those_that_are() -> None:
    with pytest.raises(UsageError, match="no column 'size'") as raised:
        TABLE.sorted_by(["-size"])
    assert raised.value.cause == "the columns are name, number, list, flag"


def test_bytes_have_units_for_people_and_are_exact_for_programs() -> None:
    things = [Thing("a", 7, size_bytes=16_710_982), Thing("b", 16_710_982)]
    table = Table.of("things", Thing, things, without=("list", "flag"))
    assert table_text(table, ()).split("\n")[1:] == ["a            7  16.7 MB", "b     16710982  -"]
    assert table_csv(table).split("\n")[1] == "a,7,16710982"


cells = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.integers()).map(tuple)
)


@given(st.lists(st.tuples(cells, cells), max_size=6))
def test_every_row_is_kept_by_sorting_and_stays_one_line(rows: list[tuple[Cell, Cell]]) -> None:
    """Whatever lies in ZooKeeper, a table has as many lines as rows, and a CSV as many records."""
    table = Table.of("things", Pair, (Pair(*row) for row in rows))
    again = table.sorted_by(["two", "-one"])
    assert sorted(map(repr, again.rows)) == sorted(map(repr, table.rows))
    assert len(table_text(table, ()).split("\n")) == len(rows) + 1
    assert len(list(csv.reader(io.StringIO(table_csv(table))))) == len(rows) + 1
