"""Several clusters that are watched: the screen word for word, the lines of a pipe, and JSON.

KADMIN_WRITE_GOLDEN=1 writes the screens anew, for a reader of the diff to judge.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.answers import read_json, violations

from kadmin.errors import UnreachableError
from kadmin.next_step import command
from kadmin.operations.events import Progressed
from kadmin.operations.reading.rate_history import changed_rates
from kadmin.operations.reading.status import Status, Unfinished
from kadmin.operations.reading.timeline import TimelineEventKind, last_event
from kadmin.operations.record.holder import Holder
from kadmin.operations.record.record import (
    Author,
    Listing,
    OperationKind,
    OperationRecord,
    OperationState,
    OperationStatus,
    ThrottleRecord,
)
from kadmin.operations.record.steps import ThrottleChange, ThrottleStep, WaveStep
from kadmin.plan.signals import SignalValue
from kadmin.report.operations.clusters_screen import KEYS, screen_lines, selected
from kadmin.report.operations.watched_clusters import (
    WatchedCluster,
    cluster_lines,
    rows_of,
    watched_answer,
)
from kadmin.report.screen import Meaning

if TYPE_CHECKING:
    from kadmin.operations.record.steps import Step
    from kadmin.report.operations.watched_clusters import Row

GOLDEN = Path(__file__).parent / "watched"
AT, ID = "2026-01-01T10:00:00Z", "20260101T100000Z-abc123"
ANN = Author("ann", "h1", 7)
KIND = OperationKind.REASSIGNMENT
RECORD = OperationRecord(
    *(ID, KIND, "{}", "sha256:1", None, AT, ANN, {}),
    throttle=ThrottleRecord(8_500_000, {}),
    waves=((0,), (1,), (2,)),
)
RUNNING = Listing(ID, KIND, OperationStatus(OperationState.RUNNING, AT), "sha256:1", AT, ANN)
HOLDER = Holder(ANN, ID, AT, 10.0)
WAVE = WaveStep(1, "2026-01-01T10:31:02Z", 1)
PROGRESS = Progressed(1, 3, 45_200_000, 66_000_000, 2, 3, 8_500_000.0, 3723.0, "")


def with_signals(*signals: SignalValue) -> Unfinished:
    change = ThrottleChange(8_500_000, {}, None, "clients do not wait", signals)
    steps: list[Step] = [ThrottleStep(1, "2026-01-01T10:30:00Z", change), replace(WAVE, number=2)]
    return Unfinished(
        RUNNING,
        RECORD,
        PROGRESS,
        RECORD.throttle,
        rates=changed_rates(RECORD, steps, datetime(2026, 1, 1, 10, 32, tzinfo=UTC)),
        last_event=last_event(RECORD, RUNNING, steps),
    )


def paused() -> Unfinished:
    status = OperationStatus(OperationState.PAUSED, "2026-01-01T10:40:00Z", "nothing is in flight")
    listing = replace(RUNNING, status=status, changes=(RUNNING.status, status))
    progress = replace(PROGRESS, rate=None, eta_s=None)
    return Unfinished(
        listing, RECORD, progress, RECORD.throttle, last_event=last_event(RECORD, listing, [WAVE])
    )


def watched(name: str, *operations: Unfinished, age_s: float = 1.0) -> WatchedCluster:
    return WatchedCluster(name, Status(operations, HOLDER), age_s=age_s)


P99 = SignalValue("produce_p99", "ms", 50.0, 12.0)
EAST = watched("prod-east", with_signals(P99))
ERROR = UnreachableError(
    "Nothing listens at 127.0.0.1:1.\x1b[2J", next_step=command("doctor") + " shows more"
)
ENDED = replace(
    RUNNING, status=OperationStatus(OperationState.COMPLETED, AT, "5 partitions at the target")
)
CLUSTERS = (
    EAST,
    WatchedCluster("prod-new"),
    watched("prod-north", paused()),
    watched("prod-slow", with_signals(P99), age_s=34.0),
    WatchedCluster("prod-south", error=ERROR),
    watched("prod-stuck", replace(paused(), waits_for="target brokers that are not alive: 3")),
    replace(watched("prod-west"), ended=ENDED),
)
ROWS = [row for cluster in CLUSTERS for row in rows_of(cluster)]


def shown(rows: list[Row], chosen: int, columns: int, height: int) -> list[str]:
    lines = screen_lines(rows, chosen, (columns, height))
    assert len(lines) == height
    assert all(len(line.text) < columns and line.text.isprintable() for line in lines)
    return [line.text for line in lines]


@pytest.mark.parametrize(("columns", "height"), [(120, 24), (80, 24), (40, 20)])
@pytest.mark.parametrize("name", ["prod-east", "prod-south", "prod-stuck"])
def test_the_screen(columns: int, height: int, name: str) -> None:
    """Only the last of them has no signal on it, so that a row fits into 80 columns."""
    rows = [row for row in ROWS if name != "prod-stuck" or row.cells.get("signal", "-") == "-"]
    (chosen,) = (at for at, row in enumerate(rows) if row.cluster == name)
    text = "\n".join([*shown(rows, chosen, columns, height), ""])
    path = GOLDEN / f"{columns}x{height}-{name}.txt"
    if os.environ.get("KADMIN_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("columns", [2, 10, 40, 59, 61, 80, 300])
@pytest.mark.parametrize("height", [1, 2, 5, 6, 9, 24, 100])
def test_no_line_is_too_long_and_the_chosen_row_and_the_keys_are_there(
    columns: int, height: int
) -> None:
    for chosen in range(len(ROWS)):
        lines = screen_lines(ROWS, chosen, (columns, height))
        assert len(lines) == max(5, height), "less than that is cut by the terminal"
        assert all(len(line.text) < columns for line in lines)
        assert any(line.chosen for line in lines)
        assert columns < 60 or lines[-1].text.startswith(KEYS)


def test_rows_that_do_not_fit_are_counted_and_the_chosen_one_is_among_those_shown() -> None:
    rows = [row for n in range(40) for row in rows_of(watched(f"c-{n:02}", with_signals(P99)))]
    for chosen in (0, 20, 39):
        lines = shown(rows, chosen, 80, 24)
        assert f"> c-{chosen:02}" in "\n".join(lines)
        assert lines[-1].endswith(f"up, down: row {chosen + 1} of 40")


def test_a_message_takes_the_place_of_the_keys() -> None:
    *_, last = screen_lines(ROWS, 0, (80, 24), "no operation is unfinished on prod-west")
    assert last.text == "no operation is unfinished on prod-west"


def test_the_chosen_operation_stays_chosen_and_else_its_cluster() -> None:
    assert selected(ROWS, None) == 0
    assert ROWS[selected(ROWS, ROWS[3])] is ROWS[3]
    ended = [row for each in (watched("prod-a"), *CLUSTERS[2:]) for row in rows_of(each)]
    assert ended[selected(ended, ROWS[3])].cluster == "prod-slow"
    assert selected(ended, ROWS[0]) == 0


def test_colours_say_what_the_words_say() -> None:
    meanings = {row.cluster.removeprefix("prod-"): row.meaning for row in ROWS}
    assert meanings.pop("south") is Meaning.ERROR
    assert {meanings.pop("slow"), meanings.pop("stuck")} == {Meaning.WARNING}
    assert set(meanings.values()) == {None}


def test_the_signal_that_is_nearest_to_its_limit_comes_first() -> None:
    near, none = SignalValue("lag", None, 100.0, 90.0), SignalValue("load", None, 5.0, None)
    (row,) = rows_of(watched("a", with_signals(P99, near, none)))
    assert row.cells["signal"] == "? of 5 load, 90 of 100 lag, 12 ms of 50 ms produce_p99"


def test_a_pipe_gets_the_operation_in_a_line_and_a_new_one_for_more_than_bytes() -> None:
    ((line, lasting),) = cluster_lines(EAST)
    assert line == (
        f"operation {ID} (reassignment, running): wave 2 of 3, 1/3 done, 45.2 of 66.0 MB, "
        "8.50 MB/s, 1:02:03 left, 12 ms of 50 ms produce_p99, 10:31:02Z published wave 2 of 3"
    )
    found = with_signals(P99)
    copied = replace(PROGRESS, done_bytes=50_000_000, rate=9e6, eta_s=1.0)
    ((other, same),) = cluster_lines(watched("prod-east", replace(found, progress=copied)))
    assert (other != line, same) == (True, lasting)
    done = replace(copied, done=2)
    ((_, new),) = cluster_lines(watched("prod-east", replace(found, progress=done)))
    assert new != lasting
    assert cluster_lines(CLUSTERS[4])[0][0] == "Nothing listens at 127.0.0.1:1.\\x1b[2J"
    assert cluster_lines(CLUSTERS[6])[0][0] == (
        "no operation is unfinished; 10:00:00Z operation 20260101T100000Z-abc123 completed: 5 "
        "partitions at the target"
    )


def test_every_answer_has_the_context_and_the_shape_of_the_schema() -> None:
    for cluster in CLUSTERS:
        assert violations(watched_answer(cluster), "status-watch") == []
    assert read_json(watched_answer(EAST))["operations"][0]["operation_id"] == ID
    failed = read_json(watched_answer(CLUSTERS[4]))
    assert (failed["context"], failed["operations"]) == ("prod-south", None)
    assert failed["error"]["next_command"] == "kadmin doctor shows more"


def test_the_last_event_is_the_latest_on_record_and_of_one_second_the_last_step() -> None:
    asked = OperationStatus(OperationState.RUNNING, "2026-01-01T10:31:02Z", "asked to pause")
    listing = replace(RUNNING, changes=(RUNNING.status, asked), status=asked)
    assert last_event(RECORD, RUNNING, []).turn is TimelineEventKind.STARTED
    assert last_event(RECORD, listing, []).status is asked
    found = last_event(RECORD, listing, [WAVE, replace(WAVE, number=2)])
    assert found.span is not None
    assert found.span.step.number == 2
