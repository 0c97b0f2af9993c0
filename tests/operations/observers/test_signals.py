"""Signals of a run, from a real HTTP server: if it hangs, lies or is down, that costs no time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from support.live.waiting import wait_until
from support.network.prometheus_server import (
    answering_json,
    closing,
    hanging,
    prometheus_server,
    samples,
    trickling,
    vector,
)

from kadmin.contexts.model import Signal, SignalUnit
from kadmin.operations.observers import signals as observer
from kadmin.operations.observers.signals import Signals
from kadmin.plan.model import SignalLimit
from kadmin.plan.signals import NO_VALUE_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.network.prometheus_server import Answer, PrometheusServer

    from kadmin.plan.signals import SignalSeen

LIMITS = {"p99": SignalLimit("50ms")}
LATE = r"it did not answer within 0\.3 s|an earlier request has not ended"
NOBODY = "http://127.0.0.1:1"


class Clock:
    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr(observer, "READ_S", 0.01)
    monkeypatch.setattr(observer, "ANSWER_S", 0.3)


@pytest.fixture
def server() -> Iterator[PrometheusServer]:
    with prometheus_server() as found:
        yield found


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def signals(server: PrometheusServer, clock: Clock) -> Iterator[Signals]:
    of_context = {
        "p99": Signal(server.origin, "q", SignalUnit.SECONDS),
        "down": Signal(NOBODY, "q", SignalUnit.SECONDS),
        "lag": Signal(server.origin, "lag"),
    }
    found = Signals(of_context, clock.now)
    yield found
    found.close()


def seen(signals: Signals, clock: Clock) -> SignalSeen:
    (found,) = signals.seen(clock.now())
    return found


def after_readings(server: PrometheusServer) -> None:
    """Wait until what the server answers now was read: each request follows the last answer."""
    before = len(server.queries)
    wait_until(lambda: len(server.queries) >= before + 2)


def test_the_last_value_is_compared_with_its_limit(
    server: PrometheusServer, signals: Signals, clock: Clock
) -> None:
    server.answer = samples(0.02)
    signals.watch(LIMITS)
    wait_until(lambda: seen(signals, clock).value is not None)
    found = seen(signals, clock)
    assert (found.name, found.unit, found.limit, found.value) == ("p99", "s", 0.05, 0.02)
    assert not found.is_exceeded
    server.answer = samples(0.02, 0.2)
    wait_until(lambda: seen(signals, clock).is_exceeded)
    assert seen(signals, clock).reason == "p99 is 200 ms, not below 50 ms"
    signals.watch({"p99": SignalLimit("1s")})
    assert not seen(signals, clock).is_exceeded, "of another limit"


@pytest.mark.parametrize(
    ("answer", "trouble"),
    [
        (hanging, LATE),
        (trickling(b"HTTP/1.1 200 OK\r\n"), LATE),
        (closing, "it closed the connection"),
        (answering_json(200, vector("NaN")), "the sample"),
        (answering_json(200, {"status": "success"}), "no vector"),
        (answering_json(503, {}), "503"),
    ],
)
def test_a_server_without_an_answer_leaves_the_last_value_for_a_minute(
    server: PrometheusServer, signals: Signals, clock: Clock, answer: Answer, trouble: str
) -> None:
    server.answer = samples(0.02)
    signals.watch(LIMITS)
    wait_until(lambda: seen(signals, clock).value is not None)
    server.answer = answer
    wait_until(lambda: seen(signals, clock).trouble is not None)
    clock.time += NO_VALUE_S - 1
    assert not seen(signals, clock).is_exceeded
    clock.time += 1
    assert seen(signals, clock).is_exceeded
    assert seen(signals, clock).reason.startswith("p99 has no value for 60 s: ")
    assert re.search(trouble, seen(signals, clock).reason)


def test_a_server_that_comes_back_is_read_again(
    server: PrometheusServer, signals: Signals, clock: Clock
) -> None:
    server.answer = closing
    signals.watch(LIMITS)
    wait_until(lambda: seen(signals, clock).trouble is not None)
    clock.time += NO_VALUE_S
    assert seen(signals, clock).is_exceeded
    server.answer = samples(0.02)
    wait_until(lambda: not seen(signals, clock).is_exceeded)
    assert (seen(signals, clock).value, seen(signals, clock).trouble) == (0.02, None)


def test_a_signal_that_nobody_answers_counts_as_over_its_limit_after_a_minute(
    signals: Signals, clock: Clock
) -> None:
    signals.watch({"down": SignalLimit("50ms")})
    wait_until(lambda: seen(signals, clock).trouble is not None)
    assert (seen(signals, clock).value, seen(signals, clock).is_exceeded) == (None, False)
    clock.time += NO_VALUE_S
    assert seen(signals, clock).is_exceeded


def test_each_signal_is_read_beside_the_others(
    server: PrometheusServer, signals: Signals, clock: Clock
) -> None:
    signals.watch({"down": SignalLimit("50ms"), "lag": SignalLimit("7"), **LIMITS})
    server.answer = samples(6)
    wait_until(lambda: [each.value for each in signals.seen(clock.now())] == [None, 6, 6])
    assert [each.is_exceeded for each in signals.seen(clock.now())] == [False, False, True]


def test_what_is_not_watched_any_more_is_not_read(
    server: PrometheusServer, signals: Signals, clock: Clock
) -> None:
    signals.watch({"lag": SignalLimit("7"), **LIMITS})
    after_readings(server)
    signals.watch(LIMITS)
    after_readings(server)
    server.queries.clear()
    after_readings(server)
    assert set(server.queries) == {"q"}
    assert [each.name for each in signals.seen(clock.now())] == ["p99"]


def test_the_end_does_not_wait_for_an_answer(server: PrometheusServer, signals: Signals) -> None:
    server.answer = hanging
    signals.watch(LIMITS)
    wait_until(lambda: bool(server.queries))
    signals.close()
    (asked,) = server.queries
    assert asked == "q"
