"""The hours of an operation, against the model of the controller and a wall clock of the test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from support.answers import read_json
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.executor.runs import (
    KillPoint,
    Practice,
    apply,
    change_throttle,
    resume,
    resume_due,
    status,
    stop,
)
from support.network.frame_proxy import Action, Fault

from kadmin.insight.diagnosis.operations import operation_troubles
from kadmin.operations.execute.apply import Outcome
from kadmin.operations.reading.open_operations import open_operation
from kadmin.operations.reading.status import StatusReader
from kadmin.operations.record.record import OperationState
from kadmin.operations.record.steps import waves_of
from kadmin.operations.record.stop_request import Stop
from kadmin.plan.hours import PAUSED_RATE, parse_window
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
from kadmin.report.operations.status import status_answer, status_text
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from support.executor.runs import Command, Run, Site

    from kadmin.operations.context import Context
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

    def look(self, command: Command) -> Run:
        """Run a command that ends without a wait, now."""
        return self.practice.process(command, begins=self.at).run()

    def killed_at(self, command: Command, kill: KillPoint) -> Run:
        """Run a command that ends without a wait, and kill it at one of its requests."""
        process = self.practice.process(command, begins=self.at)
        process.proxy.faults.append(Fault(Action.CUT_BEFORE, kill.matches, then=process.die))
        found = process.run()
        self.practice.bury()
        return found

    def at_hour(self, hour: float) -> Nights:
        """Go to an hour since noon; nobody is at work until then."""
        self.at = NOON + timedelta(hours=hour)
        return self

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
    assert any(text == "pace: 80.0 kB/s on brokers 1, 2, 3; its hours began" for text in ended.told)


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


@pytest.mark.matrix
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
    assert run.rates_seen(0, 100) <= {None, *run.practice.rates_on_record()}


def test_a_run_that_leaves_ends_outside_its_hours_and_is_resumed_when_due(site: Site) -> None:
    """Applied at noon it is on record; each night is a run of cron's."""
    run = Nights.of(site, nights(0), (36.0, 60.0))
    left = run.run(apply(run.plan, leaves=True))
    assert (left.exit_code, str(left.error)) == (
        8,
        "The operation was left outside its hours, until today 22:00 UTC: 0 of 2 partitions moved.",
    )
    assert run.practice.configs() == {}, "nothing is in flight"
    assert set(waves_of(run.steps())) == set()
    nothing = run.look(resume_due())
    assert nothing.outcome is not None
    assert nothing.outcome.message.startswith("nothing is due: operation ")
    assert nothing.outcome.message.endswith(" is outside its hours, until today 22:00 UTC")
    night = run.at_hour(10).run(resume_due())
    assert night.outcome is not None, night.error
    assert night.outcome.message == (
        "The operation was left outside its hours, until today 22:00 UTC: 0 of 2 partitions moved"
    )
    assert run.rates_seen(10.5, 17.5) == {str(RATE)}
    assert run.rate() == str(PAUSED_RATE)
    (listing,) = run.practice.journal.listings()
    assert (listing.status.state, listing.status.leaves) == (OperationState.PAUSED, True)
    assert run.look(status()).outcome.message == "outside its hours, until today 22:00 UTC"  # type: ignore[union-attr] # checked by it
    assert run.practice.journal.lock.holder() is None
    run.at_hour(34).run(resume_due())
    ended = run.at_hour(58).run(resume_due())
    assert ended.error is None
    assert run.practice.configs() == {}
    (listing,) = run.practice.journal.listings()
    assert listing.status.state is OperationState.COMPLETED
    last = run.look(resume_due()).outcome
    assert last is not None
    assert last.message == "nothing is due: no operation is unfinished"


def test_the_status_of_an_operation_that_was_left_has_its_hours_and_its_rate(site: Site) -> None:
    run = Nights.of(site, nights(0), (60.0,))
    assert run.at_hour(10).run(apply(run.plan, leaves=True)).exit_code == 8
    shown = run.look(shown_status()).outcome
    assert shown is not None
    lines = shown.message.splitlines()
    assert "  throttle: 1.00 kB/s now, 80.0 kB/s" in lines
    assert (
        "  hours: 22:00-06:00 in UTC, paused outside; outside now, until today 22:00 UTC" in lines
    )
    assert "  waits for: outside its hours, until today 22:00 UTC" in lines
    assert any(line.startswith("  no runner; next: kadmin resume --due, or ") for line in lines)
    shown = run.at_hour(34).look(shown_status()).outcome
    assert shown is not None
    assert "; inside now, until on Wednesday 06:00 UTC" in shown.message
    assert run.look(doctor_of_it()).outcome is not None


def shown_status() -> Command:
    """`kadmin status`, as it is shown."""

    def command(context: Context) -> Outcome:
        found = StatusReader(context).read()
        answer = read_json(status_answer(found))
        assert validate_value(answer, "answers/status") == []
        (shown,) = answer["operations"]
        assert shown["hours"] == {"within": ["22:00-06:00"], "zone": "UTC", "outside": 0}
        assert shown["leaves"] is True
        return Outcome(None, status_text(found))

    return command


def doctor_of_it() -> Command:
    """`kadmin doctor`: the next step of the unfinished operation."""

    def command(context: Context) -> Outcome:
        (listing,) = context.operations.unfinished()
        found = open_operation(context, listing, None, context.backend.read(with_configs=True))
        (finding,) = operation_troubles(None, (found,))
        assert str(finding.next_step).endswith(" --due")
        return Outcome(listing.operation_id, str(finding.next_step))

    return command


def test_a_run_that_leaves_keeps_the_rate_outside(site: Site) -> None:
    run = Nights.of(site, nights(SLOW), (60.0,))
    run.at_hour(11)
    left = run.run(apply(run.plan, leaves=True))
    assert left.exit_code == 8
    assert run.rate() == str(SLOW)
    assert run.at_hour(20).run(resume(leaves=True)).exit_code == 8
    assert run.rate() == str(SLOW)


@pytest.mark.parametrize("dies_at", [10.5, 17.5, 18.0])
def test_a_run_that_was_to_leave_and_was_killed_is_due(site: Site, dies_at: float) -> None:
    run = Nights.of(site, nights(0), (36.0, 60.0))
    assert run.at_hour(10).run(apply(run.plan, leaves=True), dies_at=dies_at).killed
    assert run.at_hour(34).run(resume_due()).error is None
    assert run.rates_seen(34.5, 41.5) == {str(RATE)}
    assert run.at_hour(58).run(resume_due()).error is None
    assert run.practice.configs() == {}
    (listing,) = run.practice.journal.listings()
    assert listing.status.state is OperationState.COMPLETED


def test_copies_of_a_killed_run_are_slowed_down_when_cron_comes_outside_the_hours(
    site: Site,
) -> None:
    run = Nights.of(site, nights(0), (60.0,))
    assert run.at_hour(10).run(apply(run.plan, leaves=True), dies_at=17.5).killed
    assert run.rate() == str(RATE)
    assert run.at_hour(20).run(resume_due()).error is None
    assert run.rate() == str(PAUSED_RATE)
    (listing,) = run.practice.journal.listings()
    assert listing.status.state is OperationState.PAUSED


@pytest.mark.matrix
def test_a_run_may_be_killed_at_any_request_while_it_leaves(site: Site) -> None:
    """Each kill finds what the last one left, and the last run leaves."""
    run = Nights.of(site, nights(0), (60.0,))
    assert run.at_hour(10).run(apply(run.plan, leaves=True), dies_at=17.5).killed
    run.at_hour(20)
    for number in range(1, 200):
        found = run.killed_at(resume_due(), KillPoint(number, forwarded=number % 2 == 0))
        assert run.rate() in {str(RATE), str(PAUSED_RATE)}
        if not found.killed:
            break
        (listing,) = run.practice.journal.listings()
        assert listing.status.leaves
    assert number > 20, "every request was a kill point"
    assert run.rate() == str(PAUSED_RATE)
    assert listing.status.state is OperationState.PAUSED
    assert run.practice.journal.lock.holder() is None
    assert run.at_hour(58).run(resume_due()).error is None
    assert run.practice.configs() == {}


def test_cron_resumes_nothing_that_a_person_paused_or_that_was_not_left(site: Site) -> None:
    run = Nights.of(site, nights(0), (36.0, 60.0))
    assert run.at_hour(10).run(dies_at=12.0).killed
    skipped = run.look(resume_due()).outcome
    assert skipped is not None
    assert skipped.message.endswith(" is interrupted, and was not left by --leave")
    assert run.run(resume(leaves=True)).exit_code == 8
    paused = run.look(stop(Stop.PAUSE)).outcome
    assert paused is not None
    assert paused.message.endswith(": resume --due leaves it paused")
    skipped = run.at_hour(34).look(resume_due()).outcome
    assert skipped is not None
    assert " is paused: asked to pause by " in skipped.message
    assert run.run(resume()).error is None, "a person resumes it"


def test_another_rate_waits_for_the_hours_of_an_operation_that_was_left(site: Site) -> None:
    run = Nights.of(site, nights(0), (36.0, 60.0))
    run.at_hour(10).run(apply(run.plan, leaves=True))
    changed = run.look(change_throttle(2 * RATE))
    assert changed.error is None
    assert "outside its hours, until today 22:00 UTC: at most 1.00 kB/s" in changed.told
    assert run.rate() == str(PAUSED_RATE)
    run.at_hour(34).run(resume_due())
    assert run.rates_seen(34.5, 41.5) == {str(2 * RATE)}


def test_a_pause_that_is_asked_for_outside_ends_when_the_wave_does(site: Site) -> None:
    """The rates follow the hours while a request is pending: its wave would never end otherwise."""
    run = Nights.of(site, nights(0), (36.0, 60.0))
    assert run.at_hour(10).run(dies_at=20.0).killed
    ended = run.run(stop(Stop.PAUSE))
    assert ended.error is None
    assert run.rates_seen(34.5, 35.5) == {str(RATE)}
    (listing,) = run.practice.journal.listings()
    assert listing.status.state is OperationState.PAUSED
    assert run.practice.configs() == {}
