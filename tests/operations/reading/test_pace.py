"""Rate and remaining time of a run, with bytes that brokers tell and without."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from support.cluster.capabilities import NODES
from support.cluster.states import cluster, tp

from kadmin.operations.decide import remember
from kadmin.operations.decide.actions import Memory, Observed
from kadmin.operations.decide.election import ElectionWork
from kadmin.operations.decide.reassignment import ReassignmentWork
from kadmin.operations.reading.pace import Pace
from kadmin.operations.record.record import ThrottleRecord
from kadmin.plan.hours import parse_window
from kadmin.plan.model import Elect, HoursSpec, PartitionTarget, ThrottleBy, ThrottleSpec

TARGETS = tuple(PartitionTarget(tp(f"a-{n}"), (1, 3), (1, 2), size_bytes=100) for n in range(4))
WORK = ReassignmentWork((TARGETS,), TARGETS, Elect.NONE)


def seen(done: int = 0, **told: int) -> Observed:
    """Observe the first partitions done, and what broker 3 has of others, such as `a2=40`."""
    moved = {f"a-{n}": (1, 3) if n < done else (1, 3, 2) for n in range(4)}
    states = {f"a-{n}": (1, (1, 3) if n < done else (1, 2)) for n in range(4)}
    on_disk = {3: {tp(f"a-{name[1:]}"): size for name, size in told.items()}} if told else {}
    state = cluster(moved, states=states)
    topics = {name: replace(topic, fingerprint=done) for name, topic in state.topics.items()}
    return Observed(replace(state, topics=topics), (), NODES, on_disk=on_disk)


class Run:
    """A run that is observed at times of its clock."""

    def __init__(self, work: ReassignmentWork = WORK) -> None:
        self._pace = Pace(work)
        self._memory = Memory()

    def at(
        self, now: float, observed: Observed, throttle: int | None = None
    ) -> tuple[object, object, object]:
        self._memory = remember(self._memory, observed, now)
        told = self._pace.progress(observed, self._memory, now, throttle, "copying")
        return told.done_bytes, told.rate, told.eta_s


def test_rate_and_remaining_time_follow_the_bytes_that_brokers_tell() -> None:
    run = Run()
    assert run.at(0.0, seen(a0=10, a1=10)) == (20, None, None), "an earlier run copied this"
    assert run.at(2.0, seen(a0=30, a1=30)) == (60, pytest.approx(20.0), pytest.approx(17.0))
    assert run.at(4.0, seen(a0=50, a1=50), 10) == (100, pytest.approx(20.0), pytest.approx(30.0)), (
        "throttled"
    )


def test_between_two_samples_a_whole_partition_counts_and_the_rate_stays() -> None:
    run = Run()
    run.at(0.0, seen(a0=0, a1=0))
    sample = seen(a0=80, a1=20)
    assert run.at(2.0, sample) == (100, pytest.approx(50.0), pytest.approx(6.0))
    later = replace(seen(done=1), on_disk=sample.on_disk)
    assert run.at(2.2, later) == (120, pytest.approx(50.0), pytest.approx(6.0))


def test_there_is_no_remaining_time_while_the_wave_waits_for_a_broker() -> None:
    run = Run()
    run.at(0.0, seen(a0=0, a1=0))
    copying, states = seen(a0=80, a1=20), {"a-3": (-1, (2,))}
    for number, without in ((3, copying.state), (2, cluster({"a-3": (1, 3, 2)}, states=states))):
        brokers = {broker: found for broker, found in without.brokers.items() if broker != number}
        stuck = replace(
            copying.state, brokers=brokers, states={**copying.state.states, **without.states}
        )
        assert run.at(2.0, replace(copying, state=stuck, on_disk=dict(copying.on_disk)))[2] is None
    assert run.at(2.0, replace(copying, on_disk=dict(copying.on_disk)))[2] is not None, (
        "the brokers are back"
    )


def test_without_bytes_whole_partitions_count() -> None:
    run = Run()
    assert run.at(0.0, seen()) == (0, None, None)
    assert run.at(50.0, seen()) == (0, None, None)
    assert run.at(100.0, seen(done=1))[0] == 100
    assert run.at(200.0, seen(done=2)) == (200, pytest.approx(1.0), pytest.approx(200.0))
    assert run.at(300.0, seen(done=4))[2] == 0


def test_work_that_copies_nothing_has_no_rate() -> None:
    work = ElectionWork((tp("a-0"),))
    told = Pace(work).progress(
        Observed(cluster({"a-0": (1, 2)}), (), NODES), Memory(), 1.0, None, ""
    )
    assert (told.done, told.total, told.done_bytes, told.rate, told.eta_s) == (
        1,
        1,
        None,
        None,
        None,
    )


NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
NIGHTS = ThrottleRecord(
    10,
    {},
    ThrottleSpec(ThrottleBy.RATE, 10, most=40),
    HoursSpec((parse_window("22:00-06:00"),), "UTC"),
)


def ends(at: datetime, *, known: bool = True) -> tuple[object, object, object]:
    """Return the remaining seconds, the earliest and the latest end, where 300 bytes are left."""
    pace, memory = Pace(WORK), Memory()
    for now, observed in ((0.0, seen(a0=10, a1=10)), (2.0, seen(a0=50, a1=50))):
        memory = remember(memory, observed, now)
        told = pace.progress(observed, memory, now, 10_000, "")
    found = pace.reckoned(told if known else replace(told, eta_s=None), NIGHTS, at)
    if found.ending is None:
        return found.eta_s, None, None
    return found.eta_s, found.ending.earliest - at, found.ending.latest - at


def test_inside_its_hours_a_run_goes_on_as_fast_as_now() -> None:
    """300 bytes are left, and 40 are copied in a second; two seconds later the hours end."""
    night = NOON + timedelta(hours=11)
    left = timedelta(seconds=7.5)
    assert ends(night) == (7.5, left, left)
    late = NOON + timedelta(hours=18) - timedelta(seconds=2)
    rest = timedelta(hours=16, seconds=7.5)
    assert ends(late) == (rest.total_seconds(), rest, rest)
    assert ends(night, known=False) == (None, None, None)


def test_outside_its_hours_it_ends_at_the_rates_of_its_throttle() -> None:
    ten = timedelta(hours=10)
    earliest, latest = ten + timedelta(seconds=7.5), ten + timedelta(seconds=30)
    assert ends(NOON, known=False) == (latest.total_seconds(), earliest, latest)


def test_without_hours_the_progress_stays_as_it_is() -> None:
    pace, observed = Pace(WORK), seen(a0=10, a1=10)
    told = pace.progress(observed, Memory(), 0.0, None, "")
    assert pace.reckoned(told, None, NOON) is told
    assert pace.reckoned(told, replace(NIGHTS, hours=None), NOON) is told
