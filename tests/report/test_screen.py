"""Text on terminals: broken between words, and whole where it is a table, a command or goes elsewhere."""

from __future__ import annotations

import pytest

from kadmin.report.screen import Screen

LINE = "  cause: the throttle of 2.50 MB/s is on 4 brokers and 3 topics"


def screen(columns: int, *, live: bool = True) -> Screen:
    return Screen(live, colour=False, size=lambda: (columns, 24))


def test_a_line_is_broken_between_words_and_the_rest_indented() -> None:
    assert screen(40).wrapped(LINE).split("\n") == [
        "  cause: the throttle of 2.50 MB/s is",
        "    on 4 brokers and 3 topics",
    ]


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
