"""The story of an operation: lines in a pipe, a progress line on real pseudo-terminals, JSON for
programs.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from support.cli.terminal import Shown, in_terminal, python

from kadmin.operations import events
from kadmin.operations.record.steps import StepKind
from kadmin.report.operations.event_line import event_line
from kadmin.report.operations.follow import Follower
from kadmin.report.operations.follow_json import JsonFollower
from kadmin.report.operations.progress_line import progress_line
from kadmin.report.screen import Screen
from kadmin.schema import validate_value

PIPE = Screen(live=False, colour=False, size=lambda: (80, 24))
WAITING = "target brokers that are not alive: 3"
STORY: tuple[events.Event, ...] = (
    events.OperationStarted("op-1", "id"),
    events.StepPublished("wave", 2, 1),
    events.Progressed(0, 4, 0, 66_000_000, 1, 2, None, None, "copying"),
    events.Progressed(0, 4, 1_500_000, 66_000_000, 1, 2, 1_500_000.0, 43.0, "copying"),
    events.Progressed(2, 4, 33_000_000, 66_000_000, 2, 2, 5_000_000.0, 6.6, ""),
    events.Note("warning: the controller has not started the request within 5 s"),
    events.Progressed(2, 4, 45_200_000, 66_000_000, 2, 2, 5_000_000.0, 4.2, WAITING),
    events.Note("the active controller is now 2"),
    events.Progressed(4, 4, 66_000_000, 66_000_000, 2, 2, 5_000_000.0, 0.0, ""),
)
TOLD = f"""
import sys
from kadmin.cli.terminal import screen_of
from kadmin.operations.events import *
from kadmin.report.operations.follow import Follower
write = lambda text: (sys.stderr.write(text), sys.stderr.flush())
follower = Follower(write, screen_of(sys.stderr), iter(range(100)).__next__)
for event in {STORY!r}: follower(event)
follower.close()
"""
KEPT = [
    "operation op-1 is on record",
    "step 1: reassignment of 2 partitions published",
    "wave 1 of 2 done in 0:01: 2/4 done, 33.0 of 66.0 MB",
    "warning: the controller has not started the request within 5 s",
    "the active controller is now 2",
    "wave 2 of 2 done in 0:01: 4/4 done, 66.0 of 66.0 MB",
]
COLOURS = re.compile(r"\x1b\[\d+m")


def told(follower: Follower | JsonFollower, written: list[str]) -> str:
    for event in STORY:
        follower(event)
    follower.close()
    return "".join(written)


def test_lines_where_no_terminal_looks_at_each_change() -> None:
    written: list[str] = []
    assert told(Follower(written.append, PIPE, lambda: 7.0), written).splitlines() == [
        "operation op-1 is on record",
        "step 1: reassignment of 2 partitions published",
        "wave 1 of 2, 0/4 done, 0 B of 66.0 MB, copying",
        "wave 1 of 2 done in 0:00: 2/4 done, 33.0 of 66.0 MB",
        "wave 2 of 2, 2/4 done, 33.0 of 66.0 MB, 5.00 MB/s, 0:07 left",
        "warning: the controller has not started the request within 5 s",
        f"wave 2 of 2, 2/4 done, 45.2 of 66.0 MB, 5.00 MB/s, 0:04 left, {WAITING}",
        "the active controller is now 2",
        "wave 2 of 2 done in 0:00: 4/4 done, 66.0 of 66.0 MB",
    ]


def test_a_run_that_ends_before_its_work_leaves_no_progress_line_with_a_time_left() -> None:
    written: list[str] = []
    terminal = Screen(live=True, colour=False, size=lambda: (80, 24))
    follower = Follower(written.append, terminal, lambda: 7.0)
    follower(STORY[3])
    follower.close()
    shown = Shown(80)
    shown.write("".join(written))
    assert shown.rows == [""]


def test_a_pipe_gets_a_line_at_least_every_30_s() -> None:
    written: list[str] = []
    seconds = [0.0]
    follower = Follower(written.append, PIPE, lambda: seconds[0])
    for copied in range(0, 70, 5):
        seconds[0] = float(copied)
        follower(events.Progressed(0, 1, copied, 900, 0, 0, None, None, "copying"))
    assert written == [f"0/1 done, {copied} of 900 B, copying\n" for copied in (0, 30, 60)]


def broken(lines: list[str], columns: int) -> list[str]:
    screen = Screen(live=True, colour=False, size=lambda: (columns, 24))
    return [part for line in lines for part in screen.wrapped(line).split("\n")]


def test_no_line_is_longer_than_a_narrow_terminal() -> None:
    status, written = in_terminal(python(TOLD), 30)
    assert status == 0, written
    shown = Shown(1000)
    shown.write(written)
    assert max(map(len, shown.rows)) < 30
    first = shown.rows.index("wave 1 of 2 done in 0:01: 2/4")
    assert shown.rows[first + 1] == "  done, 33.0 of 66.0 MB"


@pytest.mark.parametrize("columns", [20, 80, 200])
def test_a_line_that_never_wraps_below_one_kept_line_for_each_wave_and_event(columns: int) -> None:
    status, written = in_terminal(python(TOLD), columns)
    assert status == 0, written
    drawn = [COLOURS.sub("", line) for line in re.findall(r"\r\x1b\[J([^\r]*)\r", written)]
    assert all(len(line) < columns for line in drawn)
    whole = Shown(1000)
    whole.write(written)
    cut = broken({20: [WAITING], 80: [WAITING], 200: []}[columns], columns)
    assert [row for row in whole.rows[:-2] if row not in cut] == broken(KEPT, columns)
    assert [row for row in whole.rows[:-2] if row in cut] == cut, (
        "what has no room in the line is told above it, once"
    )
    assert (
        whole.rows[-2]
        == {
            20: "[########] 4/4 0:00",
            80: f"[{'#' * 16}] wave 2 of 2  4/4 done  66.0 of 66.0 MB  5.00 MB/s  0:00 left",
            200: f"[{'#' * 24}] wave 2 of 2  4/4 done  66.0 of 66.0 MB  5.00 MB/s  0:00 left",
        }[columns]
    )
    real = Shown(columns)
    real.write(written)
    assert real.rows[-2] == whole.rows[-2], "the rest of no earlier line is left"


def test_a_terminal_that_becomes_narrower_gets_shorter_lines() -> None:
    narrower = "import termios\n" + TOLD.replace(
        ": follower(event)",
        ":\n  follower(event)\n  if event.__class__ is StepPublished: termios.tcsetwinsize(2, "
        "(24, 30))",
    )
    status, written = in_terminal(python(narrower), 200)
    assert status == 0, written
    drawn = [COLOURS.sub("", line) for line in re.findall(r"\r\x1b\[J([^\r]*)\r", written)]
    assert max(map(len, drawn)) == 29


def test_colours_by_meaning_and_none_where_they_are_not_wanted() -> None:
    _, coloured = in_terminal(python(TOLD), 80)
    assert "\x1b[33mwarning: the controller has not started" in coloured
    assert "\x1b[32mwave 1 of 2 done" in coloured
    _, plain = in_terminal(python(TOLD), 80, NO_COLOR="1")
    assert COLOURS.search(plain) is None
    assert COLOURS.sub("", coloured) == plain
    _, dumb = in_terminal(python(TOLD), 80, TERM="dumb")
    assert "\x1b" not in dumb
    assert "wave 1 of 2, 0/4 done, 0 B of 66.0 MB, copying\r\n" in dumb


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (
            99,
            (
                "[#######........] wave 3 of 70  12000/49000 done  4.52 of 9.30 GB  51.0 MB/s  "
                "1:23:45 left  copying"
            ),
        ),
        (
            88,
            (
                "[######.......] wave 3 of 70  12000/49000 done  4.52 of 9.30 GB  51.0 MB/s  "
                "1:23:45 left"
            ),
        ),
        (79, "[#######........] wave 3 of 70  12000/49000 done  4.52 of 9.30 GB  1:23:45 left"),
        (59, "[#####.......] wave 3 of 70  12000/49000 done  1:23:45 left"),
        (50, "[########.........] 12000/49000 done  1:23:45 left"),
        (24, "12000/49000 1:23:45"),
        (19, "12000/49000 1:23:45"),
        (9, "12000/490"),
    ],
)
def test_a_narrow_line_drops_the_least_important_first(width: int, line: str) -> None:
    event = events.Progressed(
        12000, 49000, 4_520_000_000, 9_300_000_000, 3, 70, 51e6, 5025.0, "copying"
    )
    full, empty, text = progress_line(event, width)
    shown = (f"[{full}{empty}] " if full or empty else "") + text
    assert (len(shown) <= width, shown) == (True, line)


def test_json_for_programs_one_value_per_line_of_the_published_schema() -> None:
    written: list[str] = []
    values = [
        json.loads(line)
        for line in told(JsonFollower(written.append, lambda: "now"), written).splitlines()
    ]
    steps = ["progressed", "progressed", "progressed", "noted", "progressed", "noted", "progressed"]
    assert [value["event"] for value in values] == ["opened", "published", *steps]
    assert [validate_value(value, "answers/event") for value in values] == [[]] * len(values)
    assert {(value["at"], value["cluster_id"], value["operation"]) for value in values} == {
        ("now", "id", "op-1")
    }
    assert values[3] == {
        **values[0],
        "event": "progressed",
        "done": 0,
        "total": 4,
        "bytes_done": 1_500_000,
        "bytes_total": 66_000_000,
        "wave": 1,
        "waves": 2,
        "rate_bytes_per_s": 1_500_000.0,
        "eta_s": 43.0,
        "reason": "copying",
    }


def test_a_line_of_json_for_every_change_that_counts() -> None:
    """The rate alone is no news; before an operation is on record its fields are null."""
    written: list[str] = []
    follower = JsonFollower(written.append, lambda: "now")
    first = events.Progressed(0, 2, 0, 9, 1, 2, None, None, "copying")
    changes: list[dict[str, Any]] = [
        {"done_bytes": 1},
        {"rate": 5.0},
        {"done": 1},
        {"wave": 2},
        {"reason": ""},
    ]
    for event in itertools.accumulate(
        changes, lambda event, change: replace(event, **change), initial=first
    ):
        follower(event)
    values = [json.loads(line) for line in written]
    assert [
        (each["done"], each["bytes_done"], each["wave"], each["reason"]) for each in values
    ] == [
        (0, 0, 1, "copying"),
        (0, 1, 1, "copying"),
        (1, 1, 1, "copying"),
        (1, 1, 2, "copying"),
        (1, 1, 2, ""),
    ]
    assert (values[0]["operation"], values[0]["cluster_id"]) == (None, None)
    assert validate_value(values[0], "answers/event") == []


@pytest.mark.parametrize("kind", list(StepKind))
def test_every_kind_of_step_has_its_words(kind: StepKind) -> None:
    written: list[str] = []
    Follower(written.append, PIPE, lambda: 0.0)(events.StepPublished(kind, 1, 3))
    assert written[0].startswith("step 3: ")


def test_a_request_that_repeats_another_says_which_try_it_is() -> None:
    first, second = (events.StepPublished("cancel", 2, step, step - 1) for step in (2, 3))
    returned = "return to the original replicas of 2 partitions published"
    assert [event_line(each) for each in (first, second)] == [
        f"step 2: {returned}",
        f"step 3: {returned}, try 2",
    ]


def test_an_event_is_one_line_whatever_it_names() -> None:
    written: list[str] = []
    Follower(written.append, PIPE, itertools.count().__next__)(
        events.Note("Cannot write x\n::error::y.prom")
    )
    assert written == ["Cannot write x\\n::error::y.prom\n"]
