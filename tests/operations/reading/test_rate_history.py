"""The rate of an operation and its signals over time: from the record, as lines and in JSON."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from support.answers import read_json, violations
from support.pages.html import paced_steps, paced_throttle

from kadmin.operations.reading.rate_history import changed_rates
from kadmin.operations.reading.status import Status, Unfinished
from kadmin.operations.reading.timeline import timeline
from kadmin.operations.record.record import (
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
)
from kadmin.operations.record.steps import ThrottleChange, ThrottleStep
from kadmin.operations.record.throttle_request import ThrottleRequest
from kadmin.plan.copying import WHOLE_NETWORK
from kadmin.plan.signals import SignalValue
from kadmin.report.operations.history import operation_answer
from kadmin.report.operations.rate_lines import rate_lines, rate_words
from kadmin.report.operations.status import status_answer, status_text
from kadmin.report.pages.rate_figures import rate_section
from kadmin.report.text import WIDTH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kadmin.operations.reading.rate_history import RateHistory
    from kadmin.operations.record.steps import Step
    from kadmin.report.pages.page import LineFigure

AT = "2026-01-01T00:00:00Z"
END = datetime(2026, 1, 1, 0, 32, tzinfo=UTC)
AUTHOR = Author("ann", "h1", 7)
RECORD = OperationRecord(
    *(
        "op-1",
        OperationKind.HEAL,
        '{"findings":[],"kind":"Heal"}',
        "sha256:1",
        None,
        AT,
        AUTHOR,
        {},
    ),
    throttle=paced_throttle(),
)
STATUS = OperationStatus(OperationState.RUNNING, AT)
LISTING = Listing("op-1", RECORD.kind, STATUS, "sha256:1", AT, AUTHOR)


def minute(number: int) -> datetime:
    return datetime(2026, 1, 1, 0, number, tzinfo=UTC)


def changed(at: int, rate: int, *signals: SignalValue) -> ThrottleStep:
    change = ThrottleChange(rate, {}, None, "clients do not wait", signals)
    return ThrottleStep(at, f"2026-01-01T00:{at:02}:00Z", change)


def history(steps: Sequence[Step], end: datetime = END) -> RateHistory:
    found = changed_rates(RECORD, steps, end)
    assert found is not None
    return found


def test_rates_of_brokers_are_known_at_each_change_with_signals_and_times_outside_the_hours() -> (
    None
):
    found = history(paced_steps())
    assert [each.at for each in found.throttles] == [minute(number) for number in range(31)]
    assert found.throttles[0].rates == {1: 1_000_000, 2: 1_000_000}
    assert found.throttles[10].rates == dict.fromkeys((1, 2), found.rates[10])
    assert found.throttles[20].rates[1] > found.throttles[20].rates[2]
    assert [len(seen) for seen in found.signals.values()] == [30, 30]
    assert list(found.signals) == ["commit_delay", "produce_p99"]
    assert found.outside == [(minute(0), minute(5)), (minute(20), END)]


def test_hours_that_a_request_takes_away_end_the_times_outside() -> None:
    request = ThrottleRequest(2_000_000, "ann@h1", AT)
    asked = ThrottleStep(1, "2026-01-01T00:02:00Z", ThrottleChange(2_000_000, {}, request))
    found = history([asked])
    assert found.outside == [(minute(0), minute(2))]
    assert found.zone is None


def test_a_throttle_that_did_not_change_and_times_that_are_none_have_no_history() -> None:
    assert changed_rates(RECORD, (), END) is None
    assert changed_rates(replace(RECORD, throttle=None), (), END) is None
    assert changed_rates(replace(RECORD, created_at="then"), paced_steps(), END) is None
    assert changed_rates(RECORD, [changed(5, 7), changed(4, 7)], END) is None
    assert changed_rates(RECORD, paced_steps(), minute(3)) is None


def test_lines_fit_80_columns_and_show_lowest_highest_and_last() -> None:
    head, rate, delay, p99 = rate_lines(history(paced_steps()))
    assert head == "  30 changes of the throttle in 32:00, drawn from . (lowest) to # (highest):"
    assert all(len(line) <= WIDTH and line.isascii() for line in (head, rate, delay, p99))
    assert rate.startswith("    rate         [")
    assert rate.endswith("] 1.00 to 8.92 MB/s, 3.58 MB/s last")
    assert delay.startswith("    commit_delay [")
    assert " ms last, limit " in delay
    assert p99.endswith(", limit 50 ms")


def test_a_rate_holds_until_the_next_change_and_a_signal_is_drawn_where_it_was_seen() -> None:
    signal = SignalValue("p99", "ms", 50.0, 10.0)
    steps = [changed(8, 5_000_000, signal), changed(16, 3_000_000, replace(signal, value=90.0))]
    _, rate, p99 = rate_lines(history(steps))
    assert rate.split("[")[1].split("]")[0] == "......######============"
    assert p99.split("[")[1].split("]")[0] == "      .     #           "


def test_what_has_no_value_and_rates_that_are_none_are_named() -> None:
    steps = [changed(8, WHOLE_NETWORK.amount, SignalValue("p99", None, 7.0, None))]
    found = history(steps)
    _, rate, p99 = rate_lines(found)
    assert rate.endswith("] 1.00 MB/s to the network's speed, the network's speed last")
    assert p99.endswith("no value, limit 7")
    drawn, signal = rate_section(found).figures
    assert drawn.amounts[-1][1] == "1.00 MB/s", "the network's speed is above the figure"
    assert signal.lines[0].path == signal.lines[2].path == ""


def test_a_long_name_takes_the_place_of_the_bars() -> None:
    signal = SignalValue("p99_of_the_producers_of_payments", "ms", 50.0, 10.0)
    head, rate, p99 = rate_lines(history([changed(8, 5_000_000, signal)]))
    assert head == "  1 change of the throttle in 32:00:"
    assert "[" not in rate + p99
    assert p99 == f"    {signal.name} 10 ms, 10 ms last, limit 50 ms"


def test_status_and_history_have_them_in_json() -> None:
    steps = paced_steps()
    found = Unfinished(LISTING, RECORD, throttle=RECORD.throttle, rates=history(steps))
    status = Status((found,), None)
    assert "    rate         [" in status_text(status)
    (answer,) = read_json(status_answer(status))["operations"]
    rates = answer["rates"]
    assert violations(status_answer(status), "status") == []
    assert (rates["changes"], rates["lowest"], rates["now"]) == (30, 1_000_000, 3_583_181)
    assert rates["signals"]["produce_p99"]["limit"] == 50.0
    whole = operation_answer(timeline(RECORD, LISTING, steps, "2026-01-01T01:00:00Z"))
    assert violations(whole, "history") == []
    (answer,) = read_json(whole)["operations"]
    step = answer["events"][9]["step"]
    assert step["why"] == "clients do not wait"
    assert list(step["rates"]) == ["1", "2"]
    assert step["signals"]["produce_p99"] == {"value": None, "limit": 50.0}
    assert violations(status_answer(Status((replace(found, rates=None),), None)), "status") == []


def test_figures_show_brokers_apart_only_where_their_rates_differ() -> None:
    def names(figure: LineFigure) -> list[str]:
        return [line.name for line in figure.lines]

    alike = rate_section(history(paced_steps()[:10], minute(11)))
    assert names(alike.figures[0]) == [""]
    apart = rate_section(history(paced_steps()))
    assert names(apart.figures[0]) == ["broker 1", "broker 2"]
    assert [each.title for each in apart.figures] == ["Rate", "Commit delay", "produce_p99"]
    assert apart.figures[0].shades == ((0, 156), (625, 375))
    assert [text for _, text in apart.figures[0].times] == ["00:10", "00:20", "00:30"]
    assert [text for _, text in apart.figures[0].amounts] == ["5.00 MB/s", "10.0 MB/s"]
    gap = apart.figures[2].lines[0].path
    assert gap.count("M") == 2, "a value that is not known"
    assert apart.lead.endswith(
        "Times: UTC. Points: a signal at each change of the rate. "
        "Dashed: its limit. Grey: outside the hours."
    )


@pytest.mark.parametrize(
    ("minutes", "labels"),
    [(2, ["00:00:30", "00:01:00", "00:01:30"]), (59, ["00:15", "00:30", "00:45"])],
)
def test_times_are_round(minutes: int, labels: list[str]) -> None:
    figure, *_ = rate_section(history([changed(1, 7_000_000)], minute(minutes))).figures
    assert [text for _, text in figure.times] == labels


def test_times_of_days_name_the_day() -> None:
    end = datetime(2026, 1, 4, tzinfo=UTC)
    figure, *_ = rate_section(history([changed(1, 7_000_000)], end)).figures
    assert [text for _, text in figure.times] == ["Fri 00:00", "Sat 00:00"]
    assert rate_words(history([changed(1, 1_000_000)])) == "1.00 MB/s, 1.00 MB/s last"
