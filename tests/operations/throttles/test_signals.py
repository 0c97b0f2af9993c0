"""Runs whose rate follows signals, against the model of the controller and a real HTTP server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from support.cluster.states import tp
from support.controller.eras import ERAS
from support.executor.runs import Practice, apply, change_throttle, in_context, resume, stop
from support.live.waiting import wait_until
from support.network.prometheus_server import hanging, prometheus_server, samples

from kadmin.contexts.model import NamedContext, Signal, SignalUnit
from kadmin.errors import InvalidInputError
from kadmin.operations.observers import signals as observer
from kadmin.operations.record.stop_request import Stop
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.operations.record.throttle_steps import current_throttle, throttle_changes
from kadmin.plan.model import (
    PartitionTarget,
    PlanHeader,
    ReassignmentPlan,
    SignalLimit,
    ThrottleBy,
    ThrottleSpec,
    WaveLimits,
)
from kadmin.plan.pace import LOOK_S
from kadmin.plan.signals import SignalValue
from kadmin.plan.throttle import LEADER_RATE
from kadmin.plan.throttle_edit import ThrottleEdit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from support.executor.runs import Command, Process, Run, Site
    from support.network.prometheus_server import PrometheusServer

    from kadmin.operations.record.record import ThrottleRecord

pytestmark = pytest.mark.zookeeper

LEAST, MOST = 10_000, 80_000
BELOW = {"p99": SignalLimit("50ms")}
RANGE = ThrottleSpec(ThrottleBy.RATE, LEAST, MOST, signals=BELOW)
AT = "2026-01-01T00:00:00Z"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(observer, "READ_S", 0.01)


@pytest.fixture
def server() -> Iterator[PrometheusServer]:
    with prometheus_server() as found:
        yield found


@pytest.fixture
def named(server: PrometheusServer) -> NamedContext:
    return NamedContext("prod", signals={"p99": Signal(server.origin, "q", SignalUnit.SECONDS)})


class Following:
    """Runs of one wave whose copies end with the last thing that is done; a look at each wait."""

    def __init__(self, site: Site, throttle: ThrottleSpec | None = RANGE) -> None:
        self.practice = Practice(site, ERAS["2.8.2"])
        self.practice.model.create_topic("a", {0: (1, 2), 1: (1, 2)})
        self.practice.model.run()
        targets = tuple(PartitionTarget(tp(f"a-{number}"), (2, 3), (1, 2)) for number in range(2))
        self.plan = ReassignmentPlan(PlanHeader(), targets, throttle, WaveLimits())
        self._process: Process
        self.rates: list[str | None] = []
        """The rate of broker 1 at each wait."""

    def run(self, command: Command, done: Mapping[int, Callable[[], object]]) -> Run:
        """Run a command, with something that is done at some of its waits."""
        self.practice.model.copies_held = True
        waits = 0

        def work() -> float:
            nonlocal waits
            waits += 1
            self.rates.append(self.rate())
            done.get(waits, lambda: None)()
            self.practice.model.copies_held = waits < max(done)
            self.practice.work()
            return LOOK_S

        self._process = self.practice.process(command, work)
        found = self._process.run()
        self.practice.bury()
        return found

    def left(self, command: Command) -> None:
        """Let a run die while it copies."""
        assert self.run(command, {12: self._die, 13: lambda: None}).killed

    def _die(self) -> None:
        self._process.die()

    def rate(self) -> str | None:
        return self.practice.configs().get("/config/brokers/1", {}).get(LEADER_RATE)

    @property
    def operation(self) -> str:
        return self.practice.journal.listings()[-1].operation_id

    def throttle(self) -> ThrottleRecord:
        journal = self.practice.journal
        found = current_throttle(journal.record(self.operation), journal.steps(self.operation))
        assert found is not None
        return found

    def ask(self, spec: ThrottleSpec, rate: int, at: str = AT) -> None:
        self.practice.ask_throttle(ThrottleRequest(rate, "ann@host-a", at, spec))


def now_reads(server: PrometheusServer, value: float) -> Callable[[], None]:
    """Let a signal have this value, and wait until it is read."""

    def change() -> None:
        server.answer = samples(value)
        before = len(server.queries)
        wait_until(lambda: len(server.queries) >= before + 2)

    return change


def test_the_rate_goes_down_while_a_signal_is_not_below_its_limit(
    site: Site, server: PrometheusServer, named: NamedContext
) -> None:
    run = Following(site, replace(RANGE, most=MOST // 2))
    server.answer = samples(0.01)
    actions = {
        12: lambda: run.ask(RANGE, MOST),
        16: now_reads(server, 0.2),
        24: now_reads(server, 0.01),
        30: lambda: None,
    }
    ended = run.run(in_context(named, apply(run.plan)), actions)
    assert ended.exit_code == 0, ended.error
    rates = [int(rate) for rate in run.rates if rate is not None]
    assert rates[15] == MOST
    assert min(rates[16:24]) == LEAST
    reasons = [text.partition("; ")[2] for text in ended.told if text.startswith("pace: ")]
    assert reasons[0] == "p99 is 200 ms, not below 50 ms"
    assert "pace: p99 is 10 ms, below 50 ms" in ended.told
    steps = run.practice.journal.steps(run.operation)
    on_record = [change.signals for change in throttle_changes(steps) if change.request is None]
    assert on_record[0][-1] == SignalValue("p99", "s", 0.05, 0.2)
    assert all(signals[-1].value in {0.01, 0.2} for signals in on_record)
    assert run.practice.configs() == {}


def test_a_server_that_hangs_costs_the_rate_and_no_time(
    site: Site, server: PrometheusServer, named: NamedContext
) -> None:
    run = Following(site, replace(RANGE, most=MOST // 2))
    server.answer = samples(0.01)

    def hangs() -> None:
        server.answer = hanging

    actions = {
        12: lambda: run.ask(RANGE, MOST),
        13: now_reads(server, 0.01),
        14: hangs,
        25: lambda: run.ask(replace(RANGE, signals={}), LEAST, "2026-01-01T00:00:01Z"),
        30: lambda: None,
    }
    ended = run.run(in_context(named, apply(run.plan)), actions)
    assert ended.exit_code == 0, ended.error
    assert set(run.rates[13:18]) == {str(MOST)}, "for a minute"
    assert run.rates[-1] == str(LEAST)
    assert any("p99 has no value for 60 s" in text for text in ended.told)
    assert run.throttle().asked == replace(RANGE, signals={})
    assert "pace: " not in ended.told, "of a signal without a limit"


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (None, "p99 is a signal of a context, and the cluster is named without one"),
        (NamedContext("prod"), "the context prod has no signal p99"),
        (
            NamedContext("prod", signals={"p99": Signal("http://127.0.0.1:1", "q")}),
            "the signal p99 cannot be compared: its limit is 50ms, and its values have no unit",
        ),
    ],
)
def test_what_the_context_cannot_answer_is_refused_before_anything_is_written(
    site: Site, named: NamedContext, other: NamedContext | None, message: str
) -> None:
    run = Following(site)
    refused = run.run(in_context(other, apply(run.plan)), {1: lambda: None})
    assert isinstance(refused.error, InvalidInputError)
    assert refused.error.message.startswith(message)
    assert refused.error.next_command
    assert run.practice.journal.listings() == ()
    run.left(in_context(named, apply(run.plan)))
    before = run.practice.journal.status(run.operation), run.throttle()
    refused = run.practice.run(in_context(other, resume()))
    assert isinstance(refused.error, InvalidInputError)
    assert refused.error.message.startswith(message)
    assert (refused.error.next_command or "").endswith(
        "to go on without signals: kadmin throttle set --while none"
    )
    assert (run.practice.journal.status(run.operation), run.throttle()) == before
    cancelled = run.practice.run(in_context(other, stop(Stop.CANCEL_NOW)))
    assert cancelled.error is None, "a cancellation needs no signals"


def test_without_its_signals_an_operation_goes_on_where_they_are_taken_away(
    site: Site, named: NamedContext
) -> None:
    run = Following(site)
    run.left(in_context(named, apply(run.plan)))
    changed = run.practice.run(change_throttle(ThrottleEdit(signals={})))
    assert changed.error is None, changed.error
    assert run.throttle().asked == replace(RANGE, signals={})
    run.practice.model.copies_held = False
    ended = run.practice.run(resume())
    assert ended.error is None, ended.error


def test_a_runner_keeps_its_throttle_where_its_machine_lacks_the_signal(
    site: Site, named: NamedContext
) -> None:
    run = Following(site)
    other = replace(RANGE, most=MOST * 2, signals={"heap": SignalLimit("5GB")})
    actions = {12: lambda: run.ask(other, MOST), 20: lambda: None}
    ended = run.run(in_context(named, apply(run.plan)), actions)
    assert ended.exit_code == 0, ended.error
    assert set(run.rates[12:]) == {str(LEAST)}
    (told,) = [text for text in ended.told if text.startswith("the throttle was not changed: ")]
    assert told.endswith("the context prod has no signal heap; it has p99.")
    assert run.throttle().asked == RANGE


def test_limits_alone_leave_the_rates_of_brokers(
    site: Site, server: PrometheusServer, named: NamedContext
) -> None:
    """The rate of now may be above the least."""
    run = Following(site, replace(RANGE, signals={}))
    server.answer = samples(0.01)
    run.left(in_context(named, apply(run.plan)))
    run.practice.run(change_throttle(ThrottleEdit(ThrottleSpec(ThrottleBy.RATE, 40_000))))
    assert run.rate() == "40000"
    run.practice.run(change_throttle(ThrottleEdit(ThrottleSpec(ThrottleBy.RATE, 40_000, MOST))))
    assert run.throttle().asked.most == MOST
    edit = ThrottleEdit(signals={"p99": SignalLimit("70ms")})
    changed = run.practice.run(in_context(named, change_throttle(edit)))
    assert changed.error is None, changed.error
    assert run.throttle().asked == ThrottleSpec(
        ThrottleBy.RATE, 40_000, MOST, signals={"p99": SignalLimit("70ms")}
    )
    assert (run.rate(), run.throttle().rate) == ("40000", 40_000)


def test_a_fixed_rate_follows_no_signal(site: Site, named: NamedContext) -> None:
    run = Following(site)
    run.left(in_context(named, apply(run.plan)))
    run.practice.run(change_throttle(MOST))
    assert run.throttle().asked == ThrottleSpec(ThrottleBy.RATE, MOST)
    refused = run.practice.run(in_context(named, change_throttle(ThrottleEdit(signals=BELOW))))
    assert isinstance(refused.error, InvalidInputError)
    assert refused.error.next_command == "kadmin throttle set --rate MIN..MAX --while p99=50ms"
