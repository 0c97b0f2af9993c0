"""Bytes per partition and room on disk: asked of brokers, or read from files, and compared before
every wave.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.eras.claims import claim

from kadmin.operations.execute import apply as service

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = pytest.mark.live

PETABYTE = 10**15
"""More than any disk of this machine holds."""
TOO_LITTLE = r"broker 3 has room for [0-9.]+ [GT]B, 1\.00 PB less than the copies of {}-0 need"


def seen(cluster: Cluster, name: str) -> str:
    return claim(name).seen[cluster.version_text]


def log_dirs(path: Path, topic: str, size: int) -> Path:
    """Write a size as kafka-log-dirs prints it."""
    replica = {"partition": f"{topic}-0", "size": size, "offsetLag": 0, "isFuture": False}
    return document(
        path, {"version": 1, "brokers": [{"broker": 1, "logDirs": [{"partitions": [replica]}]}]}
    )


def test_finish_in_needs_no_sizes_where_brokers_tell_them(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    cluster.produce(topic, per_partition=20)
    plan = document(
        tmp_path / "plan.yaml", reassignment(topic, {0: [1, 3]}, throttle={"finish_in": "1s"})
    )
    applied = cluster.kadmin("apply", plan, "--yes")
    if seen(cluster, "sizes_by_request") == "not served":
        assert applied.status == 3
        assert f"throttle.finish_in is given, but not the size_bytes of {topic}-0" in applied.err
        assert applied.err.count("bytes on disk are not known: ") == 1
        assert "are too old to describe log directories" in applied.err
        applied = cluster.kadmin(
            "apply", plan, "--yes", "--sizes", log_dirs(tmp_path / "sizes.json", topic, 5_000)
        )
    assert applied.status == 0, applied.err
    assert "throttled at" in applied.err


def test_a_plan_that_no_disk_holds_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    topic = cluster.create_topic({0: [1, 2]})
    plan = document(tmp_path / "plan.yaml", reassignment(topic, {0: [1, 3]}))
    sizes = log_dirs(tmp_path / "sizes.json", topic, PETABYTE)
    operations = len(cluster.history())
    preview = cluster.kadmin("diff", plan, "--sizes", sizes)
    applied = cluster.kadmin("apply", plan, "--yes", "--sizes", sizes)
    if seen(cluster, "room_on_disk") == "not reported":
        assert applied.status == 0, "unknown room refuses nothing"
        what = (
            "room on disk is"
            if seen(cluster, "sizes_by_request") == "served"
            else "bytes on disk are"
        )
        unknown = f"{what} not known"
        assert (preview.out.count(unknown), applied.err.count(unknown)) == (1, 1)
        return
    refusal = TOO_LITTLE.format(topic)
    assert re.search(rf"apply would stop with exit code 4: \S+: {refusal}", preview.out), (
        preview.out
    )
    assert (applied.status, bool(re.search(rf"error: \S+: {refusal}", applied.err))) == (4, True), (
        applied.err
    )
    assert len(cluster.history()) == operations
    snapshot = tmp_path / "inventory"
    assert cluster.kadmin("snapshot", "--out", snapshot, "--table", "jsonl").status == 0
    rows = [json.loads(line) for line in (snapshot / "partitions.jsonl").read_text().splitlines()]
    grown = [{**row, "size_bytes": PETABYTE} if row["topic"] == topic else row for row in rows]
    (snapshot / "partitions.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in grown))
    by_snapshot = cluster.kadmin("apply", plan, "--yes", "--inventory", snapshot)
    assert (by_snapshot.status, bool(re.search(refusal, by_snapshot.err))) == (4, True), (
        by_snapshot.err
    )
    assert cluster.kadmin("apply", plan, "--yes").status == 0, (
        "what it really has, the disk can hold"
    )


@pytest.mark.on("3.9.2")
def test_the_health_gate_waits_for_room_before_the_next_wave(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No broker was heard when the operation began: the first wave runs, and the second one does
    not fit.
    """
    first, second = cluster.create_topic({0: [1, 2]}), cluster.create_topic({0: [1, 2]})
    plan = reassignment(first, {0: [1, 3]}, waves={"max_partitions": 1})
    plan["spec"]["partitions"] += reassignment(second, {0: [1, 3]})["spec"]["partitions"]
    plan["spec"]["partitions"][1]["size_bytes"] = PETABYTE
    with monkeypatch.context() as patch:
        patch.setattr(service, "with_disks", lambda given, *_: given)
        waiting = cluster.kadmin(
            "apply", document(tmp_path / "plan.yaml", plan), "--yes", "--timeout", "20"
        )
    assert waiting.status == 8
    assert re.search("cause: health gate: " + TOO_LITTLE.format(second), waiting.err), waiting.err
    assert cluster.state(first, second).assignment == {
        partition: (1, 3) if partition.topic == first else (1, 2)
        for partition in cluster.state(first, second).assignment
    }
    assert cluster.kadmin("cancel", "--yes").status == 0
