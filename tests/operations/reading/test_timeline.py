"""What an operation did, and when: from a run on a real ZooKeeper, as a page; and the rules of its times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.cli.in_process import command
from support.controller.eras import ERAS
from support.executor.kill_points import WAVES, Ground
from support.executor.runs import apply

from kadmin.operations.reading.timeline import seconds_between

if TYPE_CHECKING:
    from pathlib import Path

    from support.executor.runs import Site


@pytest.mark.zookeeper
def test_the_page_of_a_finished_operation(site: Site, tmp_path: Path) -> None:
    ground = Ground(site, ERAS["2.8.2"], throttle_rate=1_000_000)
    practice = ground.practice()
    ran = practice.run(apply(ground.plan()))
    assert ran.outcome is not None, ran.error
    page = tmp_path / "page.html"
    told = command("report", str(ran.outcome.operation_id), "-z", practice.connect_string, "--out", page)
    assert (told.status, told.err) == (0, "")
    text = page.read_text()
    assert "<h1>Reassignment completed</h1>" in text
    assert [f"published wave {number + 1} of {len(WAVES)}" in text for number in range(len(WAVES))] == [True] * 3
    assert "All partitions are at their target now: 5." in text
    assert "throttled to 1MB/s" in text
    assert "brokers gave no sizes" in text, "the model has no brokers to ask"
    last = command("report", "-z", practice.connect_string)
    assert "<h1>Reassignment completed</h1>" in last.out, "the last operation, where none is named"
    unknown = command("report", "../nobody", "-z", practice.connect_string)
    assert (unknown.status, "There is no operation ../nobody" in unknown.err) == (3, True)


@pytest.mark.parametrize(
    ("earlier", "later", "seconds"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z", 90),
        ("2026-01-01T00:01:30Z", "2026-01-01T00:00:00Z", None),  # a clock that was set back proves nothing
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00", None),
        ("<script>", "2026-01-01T00:00:00Z", None),
    ],
)
def test_only_times_that_make_sense_are_told(earlier: str, later: str, seconds: float | None) -> None:
    assert seconds_between(earlier, later) == seconds
