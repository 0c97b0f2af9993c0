"""The fast CSV reader gives the same values as kadmin.inventory, or leaves the table to it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kadmin.inventory.columns import PARTITIONS
from kadmin.inventory.text_tables import read_csv
from kadmin.planner.fast_csv import read_plain_csv

HEADER = "topic,partition,replicas,leader,size_bytes,bytes_in_per_s\n"
PLAIN = "orders,0,1;2;3,-1,635465148,12.25\npay-in,11,2,,,\n"
ODD = ["", "0", "007", "+5", "-1", "- 1", " 5", "5 ", "1.0", "1e3", "0x10", "1_0", "nan", "inf", ";", "1;", "1;;2", "a"]
ODD += ["true", "99999999999", "9" * 20, '"5"', '""', '"a,b"', '"a\nb"', 'a"b', "é", "null", "NULL", "NA"]
cells = st.sampled_from(ODD)


def both(text: str) -> tuple[dict[str, list[object]] | None, dict[str, list[object]]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "partitions.csv"
        path.write_text(text, encoding="utf-8")
        plain = read_plain_csv(path, PARTITIONS)
    careful = {name: list(values) for name, values in read_csv(text, PARTITIONS, "partitions.csv").items()}
    if plain is None:
        return None, careful
    rows = plain.to_pydict()
    lists = {name: [each if each is None else tuple(each) for each in rows[name]] for name in ("replicas", "isr")}
    return {name: {**rows, **lists}[name] for name in careful}, careful


def test_plain_cells_are_read_column_by_column() -> None:
    plain, careful = both(HEADER + PLAIN)
    assert plain == careful
    assert careful["size_bytes"] == [635465148, None]


@given(st.lists(st.tuples(cells, cells, cells, cells, cells, cells), min_size=1, max_size=3))
@example([("a", "0", "1", "", "", "nan")])
def test_odd_cells_are_read_alike_or_left_to_the_inventory_reader(rows: list[tuple[str, ...]]) -> None:
    text = HEADER + PLAIN + "".join(",".join(row) + "\n" for row in rows)
    plain, careful = both(text)
    assert plain is None or plain == careful


@pytest.mark.parametrize("odd", [each for each in ODD if each not in ("", "0", "007", "-1", '"5"', '""')])
def test_an_odd_number_is_left_to_the_inventory_reader(odd: str) -> None:
    plain, _ = both(HEADER + PLAIN + f"a,{odd},1,,,\n")
    assert plain is None
