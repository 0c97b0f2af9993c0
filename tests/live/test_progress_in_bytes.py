"""Progress in bytes inside partitions: what brokers tell of copies in flight, and how well the
remaining time holds.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from support.documents.plans import document, reassignment

from kadmin.cluster.model import TopicPartition
from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

TOLERANCE = 0.15


@dataclass(frozen=True)
class Told:
    """A line of JSON on stderr, and when it came."""

    at: float
    line: dict[str, Any]


def run(
    cluster: Cluster, *arguments: str | Path, until: Callable[[Told], bool] = lambda _: False
) -> list[Told]:
    """Run kadmin in a process of its own, killed at the line that `until` accepts; return what it
    told and its end.
    """
    command = [
        sys.executable,
        "-m",
        "kadmin",
        *map(str, arguments),
        "--yes",
        "-o",
        "json",
        "-z",
        cluster.connect,
    ]
    told = []
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            told.append(Told(time.monotonic(), json.loads(line)))
            if until(told[-1]):
                process.kill()
    return [*told, Told(time.monotonic(), {"event": "ended", "status": process.returncode})]


def wrong_after_a_tenth(told: list[Told]) -> float:
    """Return the error of the remaining time after a tenth of the bytes, as a part of the time that
    it then took.
    """
    progress = [each for each in told if each.line["event"] == "progressed"]
    begun, total = progress[0].line["bytes_done"], progress[0].line["bytes_total"]
    tenth = next(each for each in progress if each.line["bytes_done"] >= begun + total / 10)
    took, expected = told[-1].at - tenth.at, tenth.line["eta_s"]
    return float(abs(expected - took) / took)


@pytest.mark.matrix
def test_bytes_inside_a_partition_are_told_while_it_copies(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Before 1.1 brokers cannot be asked: a note says so, and the plan has no sizes."""
    topic = cluster.create_topic({0: [1, 2]})
    cluster.produce_to(TopicPartition(topic, 0), [b"x" * 900_000] * 30)
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [1, 3]}, throttle={"rate": "1MB/s"})
    )
    statuses: list[dict[str, Any]] = []

    def ask_status(told: Told) -> bool:
        if not statuses and told.line.get("bytes_done"):
            statuses.append(json.loads(cluster.kadmin("status", "-o", "json").out))
        return False

    told = run(cluster, "apply", plan, until=ask_status)
    assert told[-1].line["status"] == 0
    lines = [each.line for each in told[:-1]]
    assert [validate_value(line, "answers/event") for line in lines] == [[]] * len(lines)
    assert {line["operation"] for line in lines} == {cluster.history()[-1].operation_id}
    progress = [line for line in lines if line["event"] == "progressed"]
    notes = [
        line["text"]
        for line in lines
        if line["event"] == "noted" and "whole partitions" in line["text"]
    ]
    if cluster.version < (1, 1):
        assert {line["bytes_done"] for line in progress} == {None}
        assert len(notes) == 1
        assert "too old to describe log directories" in notes[0]
        return
    assert notes == []
    total = progress[-1]["bytes_total"]
    inside = [line for line in progress if line["done"] == 0 and 0 < line["bytes_done"] < total]
    assert 27_000_000 < total < 28_000_000
    assert len(inside) >= 3
    grown = [line for line in inside if line["bytes_done"] > inside[0]["bytes_done"]]
    assert grown
    assert all(line["rate_bytes_per_s"] > 0 for line in grown), (
        "the first sample alone makes no rate"
    )
    assert [line["bytes_done"] for line in inside] == sorted(line["bytes_done"] for line in inside)
    assert (progress[-1]["bytes_done"], progress[-1]["eta_s"]) == (total, 0)
    shown = statuses[0]["operations"][0]["progress"]
    assert 0 < shown.pop("done_bytes") < total
    assert shown.pop("rate_bytes_per_s") is shown.pop("eta_s") is None, "one look knows no rate"
    assert shown == {"done": 0, "total": 1, "total_bytes": total, "wave": 1, "waves": 1}


@pytest.mark.executor
@pytest.mark.on("2.8.2")
def test_after_a_tenth_of_the_bytes_the_remaining_time_holds(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Three throttled runs of 260 MB: in one wave, in three waves, and one that is killed and
    resumed.
    """
    here = {number: [1, 2] if number % 2 else [2, 1] for number in range(6)}
    there = {number: [3, 4] if number % 2 else [4, 3] for number in here}
    topic = cluster.create_topic(here)
    for number in here:
        cluster.produce_to(TopicPartition(topic, number), [b"x" * 900_000] * 48)
    throttle = {"rate": "4MB/s"}
    forth = document(tmp_path / "forth.yaml", reassignment(topic, there, throttle=throttle))
    back = document(
        tmp_path / "back.yaml",
        reassignment(topic, here, throttle=throttle, waves={"max_partitions": 2}),
    )

    def begun(told: Told) -> bool:
        return bool(told.line.get("bytes_done", 0) > told.line.get("bytes_total", 0) / 8)

    runs = [run(cluster, "apply", forth), run(cluster, "apply", back)]
    assert run(cluster, "apply", forth, until=begun)[-1].line["status"] < 0
    runs.append(run(cluster, "resume"))
    assert [told[-1].line["status"] for told in runs] == [0, 0, 0]
    assert [
        round(wrong, 2) for told in runs if (wrong := wrong_after_a_tenth(told)) > TOLERANCE
    ] == []
