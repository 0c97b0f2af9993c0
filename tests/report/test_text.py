from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kadmin.report.text import duration, table


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0, "0:00"),
        (90, "1:30"),
        (7_205, "2:00:05"),
        (86_399.4, "23:59:59"),
        (86_399.5, "1 d 0:00:00"),
        (200_000, "2 d 7:33:20"),
    ],
)
def test_durations_beyond_a_day_are_in_days(seconds: float, told: str) -> None:
    assert duration(seconds) == told


HEADERS = ("broker_id", "host", "rack", "listeners")
BROKERS = [
    [1, "kafka1.example", "-", "PLAINTEXT://kafka1.example:9092"],
    [2, "kafka2.example", "r2", "-"],
]


def test_a_row_that_does_not_fit_the_terminal_is_a_block() -> None:
    """Folded between words as far as it goes, it would still be broken by the terminal, wherever
    the edge is.
    """
    assert table(HEADERS, BROKERS, 60).split("\n") == [
        "broker_id: 1",
        "  host: kafka1.example",
        "  listeners: PLAINTEXT://kafka1.example:9092",
        "",
        "broker_id: 2",
        "  host: kafka2.example",
        "  rack: r2",
    ]
    assert "broker_id  host" in table(HEADERS, BROKERS, 80)
    assert "broker_id  host" in table(HEADERS, BROKERS), "a pipe has no edge"


@given(
    st.lists(st.tuples(st.text("ab -", max_size=40), st.text("xy ", max_size=40)), max_size=4),
    st.integers(25, 90),
)
def test_no_line_of_a_table_is_wider_than_the_room_unless_a_word_is(
    rows: list[tuple[str, str]], width: int
) -> None:
    longest = max((len(word) for row in rows for cell in row for word in cell.split()), default=0)
    assert all(
        len(line) <= max(width, longest + 12)
        for line in table(("first", "second"), rows, width).split("\n")
    )
