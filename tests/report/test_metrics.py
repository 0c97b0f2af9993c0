"""Metrics in Prometheus' text format, read back with Prometheus' own parser."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from prometheus_client.parser import text_string_to_metric_families

from kadmin.next_step import command
from kadmin.operations import events
from kadmin.operations.record.record import OperationState
from kadmin.report.metrics import Gauge, exposition
from kadmin.report.operations.run_metrics import RunMetrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kadmin.operations.events import Event

HOSTILE = 'a"b\\n\\c\nd{e="f"} 1 # TYPE é'
PROGRESS = events.Progressed(1, 4, 10, 40, 1, 2, 2.5, 12.0, "copying")


def after(told: Iterable[Event], known: RunMetrics | None = None) -> RunMetrics:
    known = known or RunMetrics(started_at=100.0)
    for at, event in enumerate(told, 101):
        known = known.after(event, float(at))
    return known


def parsed(text: str) -> dict[str, float]:
    """The value of each sample by its name; of states by `name/state`."""
    assert text.endswith("\n")
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        assert re.fullmatch("kadmin_operation_[a-z_]+", family.name)
        assert family.type == "gauge"
        assert family.documentation.endswith(".")
        for sample in family.samples:
            assert (
                {"operation", "cluster_id"}
                <= set(sample.labels)
                <= {"operation", "cluster_id", "state"}
            )
            name = (
                f"{sample.name}/{sample.labels['state']}"
                if "state" in sample.labels
                else sample.name
            )
            assert name not in found
            found[name.removeprefix("kadmin_operation_")] = sample.value
    return found


def values(known: RunMetrics) -> dict[str, float]:
    return parsed(exposition(known.gauges()))


def test_labels_and_help_are_escaped() -> None:
    labels = {"operation": HOSTILE, "cluster_id": "\\"}
    text = exposition(
        [Gauge("kadmin_operation_x", "Two\nlines \\n.", ((labels, 1.5),)), Gauge("y", "", ())]
    )
    (family,) = text_string_to_metric_families(text)
    assert family.documentation == "Two\nlines \\n."
    assert [(each.labels, each.value) for each in family.samples] == [(labels, 1.5)]
    assert len(text.splitlines()) == 3


def test_before_an_operation_is_on_record_only_the_start_is_known() -> None:
    assert values(RunMetrics(started_at=100.0)) == {"start_timestamp_seconds": 100.0}


def test_a_run_from_its_beginning_to_its_end() -> None:
    opened = after([events.OperationStarted("op-1", HOSTILE), PROGRESS])
    running = {f"state/{each}": float(each is OperationState.RUNNING) for each in OperationState}
    assert values(opened) == {
        **running,
        "start_timestamp_seconds": 100.0,
        "last_progress_timestamp_seconds": 102.0,
        "partitions_done": 1.0,
        "partitions": 4.0,
        "bytes_done": 10.0,
        "bytes": 40.0,
        "rate_bytes_per_second": 2.5,
        "eta_seconds": 12.0,
        "wave": 1.0,
        "waves": 2.0,
    }
    ended = values(
        after([events.StateChanged("paused", "x"), events.Ended(8, "x", command("resume"))], opened)
    )
    assert (ended["state/running"], ended["state/paused"], ended["exit_code"]) == (0.0, 1.0, 8.0)
    (state, *_) = opened.gauges()
    assert {labels["cluster_id"] for labels, _ in state.samples} == {HOSTILE}


def test_the_last_progress_is_the_last_growth() -> None:
    known = after([PROGRESS, replace(PROGRESS, reason="waiting", rate=None, eta_s=None)])
    found = values(known)
    assert found["last_progress_timestamp_seconds"] == 101.0
    assert {"rate_bytes_per_second", "eta_seconds"} & set(found) == set(), (
        "what is not known has no sample"
    )
    assert known.after(replace(PROGRESS, done_bytes=11), 200.0).progressed_at == 200.0


def test_notes_and_questions_change_nothing() -> None:
    known = RunMetrics(started_at=100.0)
    assert (
        after(
            [events.Note("x"), events.ServerRequestLogged("y"), events.StepPublished("wave", 2, 1)],
            known,
        )
        == known
    )
