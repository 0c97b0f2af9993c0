"""When samples are taken, and what becomes of those that fail."""

from __future__ import annotations

import signal
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.executor.fast_clock import FastClock

from kadmin.errors import NotCompletedError, StalePlanError, StoppedError, UnreachableError
from kadmin.inventory.samples import LoadSample, SampleExistsError
from kadmin.operations.events import Note
from kadmin.operations.reading.sampling import Schedule, sample_repeatedly

if TYPE_CHECKING:
    from collections.abc import Callable

    from kadmin.errors import KadminError
    from kadmin.operations.events import Event

BEGUN = datetime(2026, 3, 1, 12, 2, 30, tzinfo=UTC)
FIVE_MINUTES = Schedule(300, 1800)


class WallClock(FastClock):
    """A clock whose wall clock begins at BEGUN and goes with it."""

    def utc(self) -> datetime:
        return BEGUN + timedelta(seconds=self.time)

    def wait(self, seconds: float) -> None:
        super().wait(min(seconds, self.until - self.time))


class Runs:
    """Samples that take some seconds each or fail, by their number."""

    def __init__(
        self,
        clock: WallClock,
        cost_s: Callable[[int], float],
        failing: Callable[[int], KadminError | None],
    ) -> None:
        self.clock = clock
        self.times: list[str] = []
        self.told: list[str] = []
        self._cost_s, self._failing, self._number = cost_s, failing, 0

    def take(self) -> LoadSample:
        number, self._number = self._number, self._number + 1
        sample = LoadSample(
            self.clock.utc(),
            "one",
            {},
            {},
            unavailable=("broker 2 is silent",) if number == 1 else (),
        )
        self.clock.time += self._cost_s(number)
        if (error := self._failing(number)) is not None:
            raise error
        return sample

    def write(self, sample: LoadSample) -> Path:
        self.times.append(f"{sample.taken_at:%H:%M:%S}")
        return Path("samples") / self.times[-1]

    def tell(self, event: Event) -> None:
        assert isinstance(event, Note)
        self.told.append(event.text)


def runs(
    cost_s: Callable[[int], float] = lambda _: 2.0,
    failing: Callable[[int], KadminError | None] = lambda _: None,
) -> Runs:
    return Runs(WallClock(), cost_s, failing)


def test_the_first_is_taken_at_once_and_the_others_by_the_clock() -> None:
    found = runs()
    done = sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert found.times == [
        "12:02:30",
        "12:05:00",
        "12:10:00",
        "12:15:00",
        "12:20:00",
        "12:25:00",
        "12:30:00",
    ]
    assert (done.samples, done.missed, done.file.name) == (7, 0, "12:30:00")
    assert found.told[1:3] == ["12:05:00: 0 partitions, 0 replicas, 0 groups", "broker 2 is silent"]


def test_one_that_is_late_leaves_out_the_times_that_passed() -> None:
    found = runs(lambda number: 700.0 if number == 1 else 2.0)
    done = sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert found.times == ["12:02:30", "12:05:00", "12:20:00", "12:25:00", "12:30:00"]
    assert (done.samples, done.missed) == (5, 2)


def test_one_that_fails_costs_itself_only_and_is_told() -> None:
    lost = UnreachableError("No broker answers.")
    found = runs(failing=lambda number: lost if number in {2, 3} else None)
    done = sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert found.times == ["12:02:30", "12:05:00", "12:20:00", "12:25:00", "12:30:00"]
    assert (done.samples, done.missed) == (5, 2)
    failures = [each for each in found.told if each.endswith("No broker answers.")]
    assert failures == [
        f"no sample at 2026-03-01T12:{minute}:00Z: No broker answers." for minute in (10, 15)
    ]


@pytest.mark.parametrize(
    "error", [UnreachableError("No broker answers."), NotCompletedError("The disk is full.")]
)
def test_an_error_before_the_first_ends_it(error: KadminError) -> None:
    found = runs(failing=lambda _: error)
    with pytest.raises(type(error)):
        sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)


def test_one_that_is_there_already_does_not_end_a_run_that_is_started_again() -> None:
    found = runs(failing=lambda number: SampleExistsError("There is one.") if number == 0 else None)
    done = sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert (found.times[0], done.samples, done.missed) == ("12:05:00", 6, 1)


def test_one_that_is_there_at_every_time_ends_at_the_end() -> None:
    found = runs(failing=lambda _: SampleExistsError("There is one."))
    with pytest.raises(SampleExistsError):
        sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)


def test_another_cluster_ends_it_at_any_time() -> None:
    found = runs(failing=lambda number: StalePlanError("another cluster") if number == 3 else None)
    with pytest.raises(StalePlanError):
        sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert len(found.times) == 3


def test_a_signal_lets_the_sample_end_and_keeps_it() -> None:
    def interrupted(number: int) -> float:
        if number == 1:
            found.clock.interrupt(signal.SIGINT)
        return 2.0

    found = runs(interrupted)
    with pytest.raises(StoppedError, match="samples has 2 samples of this run") as stopped:
        sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert (stopped.value.exit_status, found.times) == (130, ["12:02:30", "12:05:00"])


def test_the_end_of_the_command_is_said() -> None:
    found = runs()
    found.clock.until = 400.0
    with pytest.raises(NotCompletedError, match="Not finished within --timeout"):
        sample_repeatedly(found.take, found.write, found.clock, found.tell, FIVE_MINUTES)
    assert found.times == ["12:02:30", "12:05:00"]


@pytest.mark.parametrize(
    ("every_s", "now_s", "following"),
    [(300, 0.0, 300), (300, 299.9, 300), (300, 300.0, 600), (7, 20.5, 21)],
)
def test_times_are_multiples_since_1970(every_s: int, now_s: float, following: float) -> None:
    assert Schedule(every_s, 1).following(now_s) == following
