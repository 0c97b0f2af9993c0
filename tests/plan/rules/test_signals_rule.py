"""Limits of signals: rates that cannot follow them, and signals that the context does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cluster.states import cluster, tp

from kadmin.next_step import text_of
from kadmin.plan import codes
from kadmin.plan.facts import ClusterFacts
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    RebalanceRequest,
    SignalLimit,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.rules import ClusterView, check
from kadmin.plan.signals import KnownSignals

if TYPE_CHECKING:
    from kadmin.diagnostics import Field

STATE = cluster({"t-0": (1, 2)}, brokers=dict.fromkeys((1, 2, 3)))
LIMITS = {"produce_p99": SignalLimit("50ms")}
RANGE = ThrottleSpec(ThrottleBy.RATE, 1_000_000, 5_000_000, signals=LIMITS)
A_PLAIN_NUMBER = "its limit is 5s, and its values have no unit: write a plain number"
PROD = KnownSignals("prod", {"produce_p99": "s", "lag": None})


def found(
    throttle: ThrottleSpec, known: KnownSignals | None = None
) -> list[tuple[str, str, str | None, Field]]:
    plan = ReassignmentPlan(PlanHeader(), (PartitionTarget(tp("t-0"), (1, 3)),), throttle)
    world = ClusterView(STATE, ClusterFacts(signals=known))
    return [
        (each.code, each.message, text_of(each.next_step), each.field)
        for each in check(plan, world)
    ]


@pytest.mark.parametrize(
    ("throttle", "advice"),
    [
        (ThrottleSpec(ThrottleBy.RATE, 5_000_000, signals=LIMITS), "or another range"),
        (
            ThrottleSpec(ThrottleBy.FINISH_IN, 60, signals=LIMITS),
            "in place of finish_in",
        ),
        (
            ThrottleSpec(ThrottleBy.LINK_BUDGET, 60, signals=LIMITS),
            "in place of link_budget",
        ),
    ],
)
def test_a_fixed_rate_cannot_follow_signals(throttle: ThrottleSpec, advice: str) -> None:
    (problem,) = [each for each in found(throttle) if each[0] == codes.CANNOT_FOLLOW]
    assert problem[1].startswith("spec.throttle.while needs a rate that can follow the signals")
    assert f"}} {advice}, or leave while out" in (problem[2] or "")
    assert problem[3] == ("spec", "throttle", "while")


def test_a_request_is_checked_as_its_plan_is() -> None:
    fixed = ThrottleSpec(ThrottleBy.RATE, 5_000_000, signals=LIMITS)
    request = RebalanceRequest(PlanHeader(), throttle=fixed)
    assert codes.CANNOT_FOLLOW in {each.code for each in check(request)}


def test_signals_of_the_context_pass_and_so_do_those_that_are_not_looked_at() -> None:
    assert found(RANGE, PROD) == []
    assert found(RANGE) == []


@pytest.mark.parametrize(
    ("limits", "known", "problem"),
    [
        (
            {"produce_p95": SignalLimit("50ms")},
            PROD,
            (
                "the context prod has no signal produce_p95 (did you mean produce_p99?)",
                "kadmin context show prod",
                ("spec", "throttle", "while", "produce_p95"),
            ),
        ),
        (
            {"heap": SignalLimit("5GB")},
            PROD,
            (
                "the context prod has no signal heap; it has lag, produce_p99",
                "kadmin context show prod",
                ("spec", "throttle", "while", "heap"),
            ),
        ),
        (
            {"heap": SignalLimit("5GB")},
            KnownSignals("prod"),
            (
                "the context prod has no signal heap",
                "kadmin context show prod",
                ("spec", "throttle", "while", "heap"),
            ),
        ),
        (
            {"lag": SignalLimit("5s")},
            PROD,
            (
                f"the signal lag cannot be compared: {A_PLAIN_NUMBER}",
                "kadmin context show prod",
                ("spec", "throttle", "while", "lag", "below"),
            ),
        ),
        (
            LIMITS,
            KnownSignals(),
            (
                "produce_p99 is a signal of a context, and the cluster is named without one",
                "kadmin context list, then the command with --context NAME",
                ("spec", "throttle", "while", "produce_p99"),
            ),
        ),
    ],
)
def test_a_signal_that_the_context_does_not_have_is_refused(
    limits: dict[str, SignalLimit], known: KnownSignals, problem: tuple[str, str, Field]
) -> None:
    throttle = ThrottleSpec(ThrottleBy.RATE, 1_000_000, 5_000_000, signals=limits)
    assert found(throttle, known) == [(codes.UNKNOWN_SIGNAL, *problem)]


def test_hours_are_compared_with_the_highest_rate_of_a_range() -> None:
    """A rate outside that is above the lowest and below the highest rate makes a difference."""

    def told(outside: int) -> list[str]:
        hours = HoursSpec((parse_window("22:00-06:00"),), "UTC", outside=outside)
        target = PartitionTarget(tp("t-0"), (1, 3))
        plan = ReassignmentPlan(PlanHeader(), (target,), RANGE, hours=hours)
        return [each.code for each in check(plan)]

    assert told(4_999_999) == []
    assert told(5_000_000) == [codes.HOURS_WITHOUT_EFFECT]
