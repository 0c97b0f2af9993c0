"""The gauges of `doctor`: each counts one trouble, and a cluster that did not answer says only
that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.cli.in_process import command

from kadmin.insight.diagnosis.finding import Finding, Trouble
from kadmin.report.doctor_metrics import doctor_metrics

if TYPE_CHECKING:
    from pathlib import Path


def test_each_gauge_counts_its_trouble() -> None:
    late = Finding(Trouble.LATE_MOVE, "late", "end it")
    left = Finding(Trouble.LEFTOVER_THROTTLE, "left", "clear it", severity="warning")
    open_ = Finding(Trouble.UNFINISHED_OPERATION, "open", "resume it")
    lines = doctor_metrics(
        {"a": (late, left, open_, open_), "b": (), 'odd"\\name': None}
    ).splitlines()
    samples = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert samples == {
        'kadmin_doctor_answered{cluster="a"}': "1",
        'kadmin_doctor_answered{cluster="b"}': "1",
        'kadmin_doctor_answered{cluster="odd\\"\\\\name"}': "0",
        'kadmin_doctor_stops_apply{cluster="a"}': "3",
        'kadmin_doctor_stops_apply{cluster="b"}': "0",
        'kadmin_doctor_late_moves{cluster="a"}': "1",
        'kadmin_doctor_late_moves{cluster="b"}': "0",
        'kadmin_doctor_unanswered_requests{cluster="a"}': "0",
        'kadmin_doctor_unanswered_requests{cluster="b"}': "0",
        'kadmin_doctor_leftover_throttles{cluster="a"}': "1",
        'kadmin_doctor_leftover_throttles{cluster="b"}': "0",
        'kadmin_doctor_unfinished_operations{cluster="a"}': "2",
        'kadmin_doctor_unfinished_operations{cluster="b"}': "0",
    }
    assert len([line for line in lines if line.startswith("# TYPE")]) == len(
        {name.partition("{")[0] for name in samples}
    )


def test_a_cluster_that_does_not_answer_is_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "kadmin.prom"
    answer = command("doctor", "-z", "127.0.0.1:1", "--timeout", "0.5", "--metrics", file)
    assert answer.status == 6
    assert file.read_text().endswith('kadmin_doctor_answered{cluster="127.0.0.1:1"} 0\n')
    assert list(tmp_path.iterdir()) == [file]
