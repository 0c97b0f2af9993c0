from __future__ import annotations

import json

import pytest

from kadmin.operations import events
from kadmin.operations.record.record import StepKind
from kadmin.report.operations.follow import Follower, JsonFollower
from kadmin.schema import validate_value

STORY: tuple[events.Event, ...] = (
    events.Opened("op-1"),
    events.StepPublished("wave", 2, 1),
    events.Progressed(0, 2, 0, 2_000_000, 1, 1, None, None, "copying"),
    events.Progressed(0, 2, 0, 2_000_000, 1, 1, None, None, "copying"),
    events.Progressed(1, 2, 1_000_000, 2_000_000, 1, 1, 250_000.0, 4.0, "copying"),
    events.Noted("the controller is now broker 2, epoch 7"),
    events.Progressed(2, 2, None, None, 1, 1, None, None, ""),
)


def told(follower: Follower | JsonFollower, written: list[str]) -> str:
    for event in STORY:
        follower(event)
    follower.close()
    return "".join(written)


def test_lines_where_no_terminal_looks_and_only_what_is_new() -> None:
    written: list[str] = []
    assert told(Follower(written.append, live=False), written).splitlines() == [
        "operation op-1 is on record",
        "step 1: reassignment of 2 partitions published",
        "0/2 done, 0B of 2MB, copying",
        "1/2 done, 1MB of 2MB, 250kB/s, 0:04 left, copying",
        "the controller is now broker 2, epoch 7",
        "2/2 done",
    ]


def test_a_bar_is_drawn_over_itself_and_ended_before_a_line() -> None:
    written: list[str] = []
    text = told(Follower(written.append, live=True), written)
    assert text.count("\r[") == 4
    assert "[############............] 1/2 done" in text
    assert "\nthe controller is now broker 2, epoch 7\n" in text
    assert text.endswith("\n")


def test_json_for_programs_one_value_per_line_of_the_published_schema() -> None:
    written: list[str] = []
    values = [json.loads(line) for line in told(JsonFollower(written.append), written).splitlines()]
    assert [value["event"] for value in values] == [
        "opened",
        "published",
        "progressed",
        "progressed",
        "noted",
        "progressed",
    ]
    assert [validate_value(value, "answers/event") for value in values] == [[]] * len(values)


@pytest.mark.parametrize("kind", list(StepKind))
def test_every_kind_of_step_has_its_words(kind: StepKind) -> None:
    written: list[str] = []
    Follower(written.append, live=False)(events.StepPublished(kind, 1, 3))
    assert written[0].startswith("step 3: ")
