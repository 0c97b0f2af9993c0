"""The hours of an operation, against the model of the controller and a wall clock of the test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.executor.runs import Practice, apply, resume

from kadmin.operations.execute.pacer import PAUSED_RATE
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import current_throttle, waves_of
from kadmin.operations.throttles.changes import rates_of
from kadmin.plan.hours import parse_window
from kadmin.plan.model import (
    HoursSpec,
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.throttle import LEADER_RATE

if TYPE_CHECKING:
    from support.executor.runs import Command, Run, Site

    from kadmin.operations.record.steps import Step

pytestmark = pytest.mark.zookeeper

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
RATE, SLOW = 80_000, 5_000
THROTTLE = ThrottleSpec(ThrottleBy.RATE, RATE)
STEP = timedelta(minutes=30)


def nights(outside: int) -> HoursSpec:
    return HoursSpec((parse_window("22:00-06:00"),), "UTC", outside=outside)


@dataclass
class Nights:
    """Runs of two waves, whose copies end at times of the test, half an hour at a wait.

    `seen` has the rate of broker 1, and the number of waves published, by the hour since noon.
    """

    site: Site
    plan: ReassignmentPlan
    ends_at: tuple[float, ...]
    seen: dict[float, tuple[str | None, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.practice = Practice(self.site, ERAS["2.8.2"])
        self.practice.model.create_topic("a", {0: (1, 2), 1: (1, 2)})
        self.practice.model.run()
        self.at = NOON

    @classmethod
    def of(
        cls, site: Site, hours: HoursSpec, ends_at: tuple[float, ...], *, throttled: bool = True
    ) -> Nights:
        targets = tuple(PartitionTarget(tp(f"a-{number}"), (2, 3), (1, 2)) for number in range(2))
        limits, throttle = WaveLimits(max_partitions=1), THROTTLE if throttled else None
        plan = ReassignmentPlan(PlanHeader(), targets, throttle, limits, hours=hours)
        return cls(site, plan, ends_at)

    def run(self, command: Command | None = None, dies_at: float | None = None) -> Run:
        """Apply the plan, or run another command from where the last one ended."""

        def work() -> float:
            self.at += STEP
            hour = (self.at - NOON) / timedelta(hours=1)
            self.seen[hour] = self.rate(), len(set(waves_of(self.steps())))
            self.practice.model.copies_held = not any(end <= hour < end + 1 for end in self.ends_at)
            if hour == dies_at:
                process.die()
            self.practice.work()
            return STEP.total_seconds()

        self.practice.model.copies_held = True
        process = self.practice.process(command or apply(self.plan), work, self.at)
        found = process.run()
        self.practice.bury()
        return found

    def rate(self) -> str | None:
        return self.practice.configs().get("/config/brokers/1", {}).get(LEADER_RATE)

    def steps(self) -> list[Step]:
        listings = self.practice.journal.listings()
        return list(self.practice.journal.steps(listings[-1].operation_id)) if listings else []

    def rates_seen(self, first: float, last: float) -> set[str | None]:
        return {rate for hour, (rate, _) in self.seen.items() if first <= hour <= last}


def test_copies_begin_in_their_hours_and_stop_between_them(site: Site) -> None:
    """The first wave begins at 22:00 and ends in the second night, the other in the third."""
    run = Nights.of(site, nights(0), (36.0, 60.0))
    ended = run.run()
    assert ended.exit_code == 0, ended.error
    assert {waves for hour, (_, waves) in run.seen.items() if hour < 10} == {0}
    assert run.rates_seen(11, 17.5) == {str(RATE)}
    assert run.rates_seen(19, 33.5) == {str(PAUSED_RATE)}
    assert run.rates_seen(35, 35.5) == {str(RATE)}
    assert {waves for hour, (_, waves) in run.seen.items() if 11 < hour < 35} == {1}
    assert run.practice.configs() == {}
    assert any(text == "pace: 80.0 kB/s on brokers 1, 2, 3" for text in ended.told)


def test_outside_its_hours_copies_go_on_at_the_rate_outside(site: Site) -> None:
    run = Nights.of(site, nights(SLOW), (15.0, 40.0))
    ended = run.run()
    assert ended.exit_code == 0, ended.error
    assert run.rates_seen(1, 9.5) == {str(SLOW)}
    assert {waves for hour, (_, waves) in run.seen.items() if 1 < hour < 9} == {1}
    assert run.rates_seen(11, 14.5) == {str(RATE)}
    assert run.practice.configs() == {}


def test_without_a_throttle_copies_are_slower_outside_only(site: Site) -> None:
    run = Nights.of(site, nights(SLOW), (15.0, 40.0), throttled=False)
    ended = run.run()
    assert ended.exit_code == 0, ended.error
    assert run.rates_seen(1, 9.5) == {str(SLOW)}
    (inside,) = run.rates_seen(11, 14.5)
    assert int(inside or 0) > 10**11
    assert run.practice.configs() == {}


@pytest.mark.parametrize("dies_at", [5.0, 10.5, 14.0, 20.0])
def test_a_run_that_was_killed_is_resumed_in_its_hours(site: Site, dies_at: float) -> None:
    """Every rate that was seen is on record, and the throttle is gone at the end."""
    run = Nights.of(site, nights(0), (36.0, 60.0))
    assert run.run(dies_at=dies_at).killed
    ended = run.run(resume())
    assert ended.exit_code == 0, ended.error
    assert {waves for hour, (_, waves) in run.seen.items() if hour < 10} == {0}
    assert run.rates_seen(21, 33.5) == {str(PAUSED_RATE)}
    assert run.practice.configs() == {}
    journal = run.practice.journal
    (listing,) = journal.listings()
    assert listing.status.state is OperationState.COMPLETED
    throttle = current_throttle(
        journal.record(listing.operation_id), journal.steps(listing.operation_id)
    )
    assert throttle is not None
    known = {*rates_of(throttle.changes).values()}
    for keys in throttle.changes.values():
        known |= (
            {int(each) for each in keys[LEADER_RATE].earlier if each}
            if LEADER_RATE in keys
            else set()
        )
    assert run.rates_seen(0, 100) <= {None, *map(str, known)}
