"""Text on terminals: broken between words, and whole where it is a table, a command or goes
elsewhere.
"""

from __future__ import annotations

import pytest

from kadmin.report.screen import Screen
from kadmin.report.text import table

LINE = "  cause: the throttle of 2.50 MB/s is on 4 brokers and 3 topics"


def screen(columns: int, *, live: bool = True) -> Screen:
    return Screen(live, colour=False, size=lambda: (columns, 24))


def test_a_line_is_broken_between_words_and_the_rest_indented() -> None:
    assert screen(40).wrapped(LINE).split("\n") == [
        "  cause: the throttle of 2.50 MB/s is",
        "    on 4 brokers and 3 topics",
    ]


def test_a_next_step_in_words_is_broken_too() -> None:
    assert screen(40).wrapped(
        "  next:  wait with --lock-timeout, or ask whoever holds the lock"
    ).split("\n") == ["  next:  wait with --lock-timeout, or", "    ask whoever holds the lock"]


HEADERS = ["broker", "rack", "fenced", "conditions"]
ROWS = [[1, "-", "-", "throttled; holds copies that nothing uses"], [12, "-", "-", "3.20 MB"]]


def test_a_table_on_a_terminal_has_no_empty_columns_and_is_folded_between_words() -> None:
    assert table(HEADERS, ROWS, 30).split("\n") == [
        "broker  conditions",
        "     1  throttled; holds",
        "        copies that nothing",
        "        uses",
        "    12  3.20 MB",
    ]


def test_a_header_is_folded_behind_an_underscore_and_amounts_stay_whole() -> None:
    assert table(
        ["topic", "under_min_isr", "size_bytes"], [["a_long_name", 0, "16.7 MB"]], 28
    ).split("\n") == [
        "topic        under_  size_",
        "               min_  bytes",
        "                isr",
        "a_long_name       0  16.7 MB",
    ]


def test_a_table_elsewhere_is_whole_and_words_that_do_not_fit_stay_whole() -> None:
    assert (
        table(HEADERS, ROWS).split("\n")[1]
        == "     1  -     -       throttled; holds copies that nothing uses"
    )
    assert {"conditions:", "throttled;"} <= set(table(HEADERS, ROWS, 5).split())


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("  next:  kadmin diff plans/drain-broker.yaml -z zk1:2181/kafka", screen(40)),
        ("orders-0   1,2,3      4,3,2      1.10 MB    1.10 MB", screen(40)),
        (LINE, screen(40, live=False)),
        (LINE, screen(80)),
    ],
    ids=["a command", "a row", "a pipe", "room"],
)
def test_what_stays_whole(line: str, shown: Screen) -> None:
    assert shown.wrapped(line) == line
