"""Copies without a throttle: when they are warned of, and what a policy makes of them."""

from __future__ import annotations

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, tp

from kadmin.operations.decide.examine import examine
from kadmin.plan import codes
from kadmin.plan.model import (
    UNTHROTTLED,
    PartitionTarget,
    PlanHeader,
    Policy,
    ReassignmentPlan,
    Switch,
    ThrottleBy,
    ThrottleSpec,
)
from kadmin.plan.rules import ClusterView, check

STATE = cluster({"t-0": (1, 2)}, brokers=dict.fromkeys((1, 2, 3)))
WORLD = ClusterView(STATE)
COPIES = PartitionTarget(tp("t-0"), (1, 3))
FIXED = ThrottleSpec(ThrottleBy.RATE, 50)


def severities(
    target: PartitionTarget,
    throttle: ThrottleSpec | None = None,
    world: ClusterView | None = WORLD,
    switch: Switch | None = None,
) -> list[str]:
    policy = None if switch is None else Policy(codes={codes.UNTHROTTLED: switch})
    found = check(ReassignmentPlan(PlanHeader(), (target,), throttle), world, policy)
    return [each.severity for each in found if each.code == codes.UNTHROTTLED]


def test_what_copies_without_a_throttle_is_a_warning_with_a_rate_to_type() -> None:
    (found,) = check(ReassignmentPlan(PlanHeader(), (COPIES,)), WORLD)
    assert (found.code, found.severity, found.partition) == (
        codes.UNTHROTTLED,
        "warning",
        tp("t-0"),
    )
    assert found.message.startswith("1 partition would be copied without a throttle")
    assert "--throttle 41MB/s" in found.message
    assert (
        found.next_step
        == "set spec.throttle: {rate: 41MB/s}, or spec.throttle: none if this is meant"
    )
    assert severities(PartitionTarget(tp("t-0"), (1, 3), (1, 2)), world=None) == ["warning"], (
        "of unknown size, too"
    )


@pytest.mark.parametrize(
    ("target", "world"),
    [
        (PartitionTarget(tp("t-0"), (2, 1)), WORLD),  # only the order changes
        (PartitionTarget(tp("t-0"), (1, 2), (3, 4)), WORLD),  # reached already
        (PartitionTarget(tp("t-0"), (1,)), WORLD),  # a replica less
        (COPIES, None),  # nobody knows what it copies
    ],
)
def test_what_copies_nothing_is_no_warning(
    target: PartitionTarget, world: ClusterView | None
) -> None:
    assert severities(target, world=world) == []


@pytest.mark.parametrize(
    ("throttle", "switch", "found"),
    [
        (FIXED, None, []),
        (FIXED, Switch.ERROR, []),
        (UNTHROTTLED, None, []),
        (UNTHROTTLED, Switch.WARNING, []),
        (UNTHROTTLED, Switch.ERROR, ["error"]),
        (None, Switch.ERROR, ["error"]),
        (None, Switch.OFF, []),
    ],
)
def test_none_says_that_it_is_meant_and_a_policy_may_forbid_it(
    throttle: ThrottleSpec | None, switch: Switch | None, found: list[str]
) -> None:
    assert severities(COPIES, throttle, switch=switch) == found


def test_what_a_policy_forbids_is_not_applied() -> None:
    plan = ReassignmentPlan(PlanHeader(), (COPIES,), UNTHROTTLED)
    refused = examine(
        plan, STATE, NODES.publish, policy=Policy(codes={codes.UNTHROTTLED: Switch.ERROR})
    ).refusal
    assert refused is not None
    assert (refused.exit_code, "set spec.throttle: {rate: 41MB/s}" in refused.message) == (3, True)
    warned = examine(ReassignmentPlan(PlanHeader(), (COPIES,)), STATE, NODES.publish)
    assert warned.refusals == ()
    assert "--throttle 41MB/s" in warned.warnings[0]
