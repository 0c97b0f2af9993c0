"""Hours of a plan: zones that the machine has no data of, and hours that change nothing."""

from __future__ import annotations

import pytest
from support.cluster.states import tp

from kadmin.plan import codes
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    UNTHROTTLED,
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.rules import check

FIXED = ThrottleSpec(ThrottleBy.RATE, 5_000_000)
NIGHTS = (parse_window("22:00-06:00"),)


def found(hours: HoursSpec, throttle: ThrottleSpec | None = FIXED) -> list[tuple[str, str, str]]:
    plan = ReassignmentPlan(
        PlanHeader(), (PartitionTarget(tp("t-0"), (1, 3)),), throttle, hours=hours
    )
    return [
        (each.code, each.severity, f"{each.message} ({each.next_step})") for each in check(plan)
    ]


@pytest.mark.parametrize(
    ("zone", "guess"),
    [
        ("Europe/Berln", "did you mean Europe/Berlin? "),
        ("Europe", "did you mean Europe/"),  # a folder of zones
        ("Moon/Tranquillitatis", ""),
    ],
)
def test_a_zone_without_data_is_an_error(zone: str, guess: str) -> None:
    ((code, severity, text),) = found(HoursSpec(NIGHTS, zone))
    assert (code, severity) == (codes.UNKNOWN_ZONE, "error")
    assert text.startswith(f"this machine has no data of a time zone {zone} ({guess}")
    assert text.endswith("update the package tzdata: pip install --upgrade tzdata)")


@pytest.mark.parametrize(
    ("hours", "throttle", "said"),
    [
        (HoursSpec((parse_window("mon-sun"),), "UTC"), None, "its windows are the whole week"),
        (HoursSpec(quiet=1.0, folder="load"), FIXED, "no broker has more than its own peak"),
        (
            HoursSpec(NIGHTS, "UTC", outside=5_000_000),
            FIXED,
            "the throttle is 5MB/s, inside and outside (write a rate below 5MB/s, or pause)",
        ),
    ],
)
def test_hours_that_change_nothing_are_a_warning(
    hours: HoursSpec, throttle: ThrottleSpec | None, said: str
) -> None:
    ((code, severity, text),) = found(hours, throttle)
    assert (code, severity) == (codes.HOURS_WITHOUT_EFFECT, "warning")
    assert text.startswith(f"spec.hours changes nothing: {said}")


def test_a_request_is_judged_as_its_plan_would_be() -> None:
    hours = HoursSpec(NIGHTS, "Europe/Berln", outside=5_000_000)
    request = RebalanceRequest(PlanHeader(), throttle=FIXED, hours=hours)
    problems = [(each.code, each.severity) for each in check(request)]
    assert problems == [(code, severity) for code, severity, _ in found(hours)]
    assert [code for code, _ in problems] == [codes.UNKNOWN_ZONE, codes.HOURS_WITHOUT_EFFECT]


@pytest.mark.parametrize("throttle", [FIXED, UNTHROTTLED, None])
@pytest.mark.parametrize("outside", [0, 4_000_000])
def test_a_rate_outside_needs_no_throttle(throttle: ThrottleSpec | None, outside: int) -> None:
    assert found(HoursSpec(NIGHTS, "Europe/Berlin", outside=outside), throttle) == []
    assert found(HoursSpec(quiet=0.7, folder="load", outside=outside), throttle) == []
