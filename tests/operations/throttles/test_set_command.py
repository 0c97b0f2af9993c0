"""`throttle set` on an operation that was killed: what it shows, writes and refuses."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command

from kadmin.operations.context import Clock
from kadmin.operations.record.throttle_steps import current_throttle
from kadmin.plan.hours import parse_window
from kadmin.plan.model import HoursSpec, SignalLimit, ThrottleBy, ThrottleSpec

if TYPE_CHECKING:
    from pathlib import Path

    from support.cli.in_process import Answer
    from support.executor.runs import Practice

    from kadmin.operations.record.record import ThrottleRecord

pytestmark = pytest.mark.zookeeper

FIXED = ThrottleSpec(ThrottleBy.RATE, 1_000_000)
NIGHT = datetime(2026, 6, 2, 1, tzinfo=UTC)
"""A Tuesday, inside the hours of these tests, in UTC and in Berlin."""
RANGE = ThrottleSpec(ThrottleBy.RATE, 10_000_000, 200_000_000)
NIGHTS = HoursSpec(
    tuple(map(parse_window, ("22:00-06:00", "sat-sun"))), "Europe/Berlin", outside=500_000
)


class Steering:
    """`throttle set --yes` in a context with the signals p99 and lag."""

    def __init__(self, practice: Practice, file: Path) -> None:
        self.practice = practice
        signal = {"prometheus": "http://127.0.0.1:1", "query": "q"}
        context = {
            "zookeeper": {"connect": practice.connect_string},
            "signals": {"p99": {**signal, "unit": "s"}, "lag": signal},
        }
        file.write_text(json.dumps({"kind": "Contexts", "contexts": {"prod": context}}))

    def __call__(self, *arguments: str) -> Answer:
        return command("throttle", "set", *arguments, "--yes", "--context", "prod")

    @property
    def throttle(self) -> ThrottleRecord:
        journal = self.practice.journal
        (listing,) = journal.unfinished()
        found = current_throttle(
            journal.record(listing.operation_id), journal.steps(listing.operation_id)
        )
        assert found is not None
        return found


@pytest.fixture
def steering(killed: Practice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Steering:
    monkeypatch.setenv("KADMIN_CONFIG", str(tmp_path / "contexts.json"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(Clock, "utc", lambda _: NIGHT)
    return Steering(killed, tmp_path / "contexts.json")


def test_each_part_is_changed_alone_and_is_on_record(steering: Steering) -> None:
    set_ = steering("--rate", "10MB/s..200MB/s", "--while", "p99=50ms", "--while", "lag=7")
    assert set_.status == 0, set_.err
    limits = {"p99": SignalLimit("50ms"), "lag": SignalLimit("7")}
    following = ThrottleSpec(ThrottleBy.RATE, 10_000_000, 200_000_000, signals=limits)
    assert steering.throttle.asked == following
    words = "10.0 MB/s to 200 MB/s while lag is below 7 and p99 is below 50ms"
    assert f": throttle at {words}, removed when it ends\n" in set_.err
    assert "10.0 MB/s" in set_.out

    hours = ["--hours", "22:00-06:00", "--hours", "sat-sun"]
    set_ = steering(*hours, "--zone", "Europe/Berlin", "--outside", "500kB/s")
    assert set_.status == 0, set_.err
    assert set_.out.startswith("it is on record; no config changes now\nnext: ")
    assert (steering.throttle.asked, steering.throttle.hours) == (following, NIGHTS)
    (shown,) = [each for each in set_.err.splitlines() if each.startswith("operation ")]
    assert words in shown
    assert "within 22:00-06:00 and sat-sun in Europe/Berlin, 500 kB/s outside" in shown

    assert steering("--outside", "pause", "-o", "json").status == 0
    assert steering.throttle.hours == HoursSpec(NIGHTS.within, NIGHTS.zone)
    assert steering("--while", "none").status == 0
    assert steering.throttle.asked == RANGE
    assert steering("--hours", "none").status == 0
    last = steering.throttle
    assert (last.asked, last.hours) == (RANGE, None)
    assert steering("--rate", "1MB/s").status == 0
    assert steering.throttle.asked == FIXED


def test_what_is_on_record_is_shown_in_words(steering: Steering) -> None:
    steering("--rate", "10MB/s..200MB/s", "--while", "p99=50ms")
    steering("--hours", "22:00-06:00", "--zone", "UTC")
    words = "throttle: 10.0 MB/s now, 10.0 MB/s to 200 MB/s while p99 is below 50ms"
    (listing,) = steering.practice.journal.unfinished()
    status = command("status", "--context", "prod").out
    assert f"{words}\n" in status
    assert "22:00-06:00 in UTC, paused outside" in status
    history = command("history", listing.operation_id, "--context", "prod").out
    assert f"{words}, within 22:00-06:00 in UTC, paused outside" in history
    assert "changed the throttle to 10.0 MB/s to 200 MB/s while p99 is below 50ms" in history


def test_a_rate_above_every_network_is_shown_nowhere_as_a_number_of_bytes(
    steering: Steering,
) -> None:
    """Copies with hours, and without a throttle, have one."""
    assert steering("--hours", "22:00-06:00", "--zone", "UTC", "--rate", "1TB/s").status == 0
    (listing,) = steering.practice.journal.unfinished()
    for shown in (
        ("status",),
        ("history", listing.operation_id),
        ("throttle", "show"),
        ("throttle", "audit"),
    ):
        out = command(*shown, "--context", "prod").out
        assert "the network's speed" in out
        assert "1.00 TB/s" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--while", "p99=50ms"), "Limits of signals need a range of rates"),
        (("--rate", "1MB/s..2MB/s", "--while", "p98=50ms"), "the context prod has no signal p98"),
        (("--rate", "1MB/s..2MB/s", "--while", "lag=5s"), "the signal lag cannot be compared"),
        (("--hours", "sat-sun"), "The hours have no time zone."),
        (("--outside", "5MB/s"), "The operation has no hours"),
        (("--hours", "sat", "--zone", "Europe/Berln"), "this machine has no data of a time zone"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    steering: Steering, arguments: tuple[str, ...], message: str
) -> None:
    answer = steering(*arguments)
    assert (answer.status, answer.out) == (3, "")
    assert answer.err.startswith(f"error: {message}")
    assert "  next:  " in answer.err or "add --zone" in answer.err or "tzdata" in answer.err
    assert (steering.throttle.asked, steering.throttle.hours) == (FIXED, None)


def test_hours_that_change_nothing_are_noted(steering: Steering) -> None:
    answer = steering("--hours", "sat", "--zone", "UTC", "--outside", "1MB/s")
    assert answer.status == 0
    assert "warning: spec.hours changes nothing: the throttle is 1MB/s" in answer.err
