"""Edits of a throttle: what an edit does not name stays as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kadmin.errors import InvalidInputError
from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    SignalLimit,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.throttle_edit import ThrottleEdit

BELOW = {"p99": SignalLimit("50ms")}
FIXED = ThrottleSpec(ThrottleBy.RATE, 50)
RANGE = ThrottleSpec(ThrottleBy.RATE, 10, 200)
FOLLOWING = replace(RANGE, pair=2, signals=BELOW)
NIGHTS, WEEKENDS = (parse_window("22:00-06:00"),), (parse_window("sat-sun"),)
HOURS = HoursSpec(NIGHTS, "Europe/Berlin", outside=5)


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (ThrottleEdit(), FOLLOWING, FOLLOWING),
        (ThrottleEdit(FIXED), None, FIXED),
        (ThrottleEdit(FIXED), FOLLOWING, replace(FIXED, pair=2)),
        (ThrottleEdit(replace(RANGE, most=300)), FOLLOWING, replace(FOLLOWING, most=300)),
        (ThrottleEdit(signals={}), FOLLOWING, replace(RANGE, pair=2)),
        (ThrottleEdit(RANGE, BELOW), FIXED, replace(RANGE, signals=BELOW)),
        (
            ThrottleEdit(signals={"lag": SignalLimit("7")}),
            FOLLOWING,
            replace(FOLLOWING, signals={"lag": SignalLimit("7")}),
        ),
        (ThrottleEdit(within=NIGHTS, zone="UTC"), None, WHOLE_NETWORK),
    ],
)
def test_a_throttle_keeps_what_is_not_named(
    edit: ThrottleEdit, before: ThrottleSpec | None, after: ThrottleSpec
) -> None:
    assert edit.throttle(before) == after


@pytest.mark.parametrize(
    ("edit", "before"),
    [
        (ThrottleEdit(signals=BELOW), FIXED),
        (ThrottleEdit(signals=BELOW), None),
        (ThrottleEdit(FIXED, BELOW), FOLLOWING),
    ],
)
def test_limits_of_signals_need_a_range(edit: ThrottleEdit, before: ThrottleSpec | None) -> None:
    with pytest.raises(InvalidInputError, match="a fixed rate cannot follow them") as refused:
        edit.throttle(before)
    assert refused.value.next_command == "kadmin throttle set --rate MIN..MAX --while p99=50ms"


@pytest.mark.parametrize(
    ("edit", "before", "after"),
    [
        (ThrottleEdit(FIXED), HOURS, HOURS),
        (ThrottleEdit(FIXED), None, None),
        (ThrottleEdit(within=()), HOURS, None),
        (ThrottleEdit(within=()), None, None),
        (ThrottleEdit(outside=0), HOURS, replace(HOURS, outside=0)),
        (ThrottleEdit(zone="UTC"), HOURS, replace(HOURS, zone="UTC")),
        (ThrottleEdit(within=WEEKENDS), HOURS, replace(HOURS, within=WEEKENDS)),
        (ThrottleEdit(within=NIGHTS, zone="UTC"), None, HoursSpec(NIGHTS, "UTC")),
        (
            ThrottleEdit(within=NIGHTS, zone="UTC"),
            HoursSpec(quiet=0.7, folder="load", outside=5),
            HoursSpec(NIGHTS, "UTC", outside=5),
        ),
        (
            ThrottleEdit(outside=7),
            HoursSpec(quiet=0.7, folder="load"),
            HoursSpec(quiet=0.7, folder="load", outside=7),
        ),
    ],
)
def test_hours_keep_what_is_not_named(
    edit: ThrottleEdit, before: HoursSpec | None, after: HoursSpec | None
) -> None:
    assert edit.hours(before) == after


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (ThrottleEdit(zone="UTC"), "The operation has no hours"),
        (ThrottleEdit(outside=5), "The operation has no hours"),
        (ThrottleEdit(within=NIGHTS), "The hours have no time zone"),
    ],
)
def test_hours_that_cannot_be(edit: ThrottleEdit, said: str) -> None:
    with pytest.raises(InvalidInputError, match=said) as refused:
        edit.hours(None)
    assert refused.value.next_command


@pytest.mark.parametrize(
    ("throttle", "after"),
    [
        (FIXED, replace(FIXED, pair=2)),
        (replace(RANGE, most=300), replace(FOLLOWING, most=300)),
    ],
)
def test_a_plan_keeps_beside_another_rate_what_goes_with_it(
    throttle: ThrottleSpec, after: ThrottleSpec
) -> None:
    """`apply --throttle` follows the rule of `throttle set`."""
    plan = ReassignmentPlan(PlanHeader(), tuple[PartitionTarget, ...](), FOLLOWING)
    assert plan.throttled_at(throttle).throttle == after
