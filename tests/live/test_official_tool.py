"""kadmin and Kafka's own tool read each other's files and agree on a live cluster."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from support.documents.plans import document, reassignment
from support.live.waiting import wait_until

from kadmin.java import cache_folder, find_java
from kadmin.sandbox.jars import class_path

if TYPE_CHECKING:
    from pathlib import Path

    from support.live.cluster import Cluster

pytestmark = [pytest.mark.live, pytest.mark.eras]

TOOL_VERSION = "2.8.2"
"""The last tool that takes --zookeeper with every verb; it serves clusters of every version under
test."""
_JVM = ("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
_TOOL_S = 120


@dataclass(frozen=True, slots=True)
class OfficialTool:
    """kafka-reassign-partitions, as its script would start it."""

    command: tuple[str, ...]

    def run(self, *arguments: str | Path) -> str:
        """Run the tool and return what it prints on stdout; fail loudly where it fails."""
        done = subprocess.run(
            [*self.command, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=_TOOL_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def tool(cluster: Cluster) -> OfficialTool:
    cache = cache_folder(os.environ)
    java = find_java(os.environ, cache)
    jars = class_path(TOOL_VERSION, java, cache)
    main = "kafka.admin.ReassignPartitionsCommand"
    return OfficialTool(
        (str(java.executable), *_JVM, "-cp", jars, main, "--zookeeper", cluster.connect)
    )


def test_the_official_tool_finds_complete_what_kadmin_applied(
    cluster: Cluster, tool: OfficialTool, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]}, prefix="tool")
    plan = document(
        tmp_path / "plan.json",
        reassignment(topic, {1: [4, 3], 0: [3, 1]}, current={0: [1, 2], 1: [2, 3]}),
    )
    moves, back = tmp_path / "moves.json", tmp_path / "back.json"
    assert cluster.kadmin("convert", plan, "--to", "kafka", "--out", moves).status == 3
    converted = cluster.kadmin("convert", plan, "--to", "kafka", "--lossy", "--out", moves)
    assert (converted.status, converted.err) == (
        0,
        "left out: metadata, spec.partitions[].current\n",
    )
    assert (
        cluster.kadmin(
            "convert", plan, "--to", "kafka", "--lossy", "--current", "--out", back
        ).status
        == 0
    )

    before = tool.run("--reassignment-json-file", back, "--verify")
    assert [
        f"Reassignment of partition {topic}-{number} is complete." in before for number in (0, 1)
    ] == [True, True]
    assert f"{topic}-0 is complete." not in tool.run("--reassignment-json-file", moves, "--verify")

    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    said = tool.run("--reassignment-json-file", moves, "--verify")
    for number in (0, 1):
        assert f"Reassignment of partition {topic}-{number} is complete." in said


def test_kadmin_finds_done_what_the_official_tool_executed(
    cluster: Cluster, tool: OfficialTool, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [2, 3]}, prefix="tool")
    targets = {1: [3, 4], 0: [4, 2]}
    rows = [
        {"topic": topic, "partition": number, "replicas": replicas, "log_dirs": ["any", "any"]}
        for number, replicas in targets.items()
    ]
    moves, plan = (
        document(tmp_path / "moves.json", {"version": 1, "partitions": rows}),
        tmp_path / "plan.yaml",
    )
    assert cluster.kadmin("convert", moves, "--to", "plan", "--out", plan).status == 0
    assert cluster.kadmin("verify", plan).status == 8

    executed, back = tmp_path / "executed.txt", tmp_path / "back.yaml"
    executed.write_text(tool.run("--reassignment-json-file", moves, "--execute"))
    assert "Successfully started partition reassignment" in executed.read_text()
    wait_until(lambda: cluster.kadmin("verify", plan).status == 0, 60)
    replicas = cluster.state(topic).topics[topic].replicas
    assert {number: list(replicas[number]) for number in targets} == targets

    assert cluster.kadmin("convert", executed, "--to", "plan", "--out", back).status == 0
    applied = cluster.kadmin("apply", back, "--yes")
    assert applied.status == 0, applied.err
    replicas = cluster.state(topic).topics[topic].replicas
    assert {number: list(replicas[number]) for number in (0, 1)} == {0: [1, 2], 1: [2, 3]}


def test_what_the_official_tool_generates_is_a_plan_that_applies(
    cluster: Cluster, tool: OfficialTool, tmp_path: Path
) -> None:
    topic = cluster.create_topic({0: [1, 2], 1: [1, 2]}, prefix="tool")
    listed = document(tmp_path / "topics.json", {"version": 1, "topics": [{"topic": topic}]})
    generated = tool.run("--topics-to-move-json-file", listed, "--broker-list", "3,4", "--generate")
    output, plan = tmp_path / "generated.txt", tmp_path / "plan.json"
    output.write_text(generated)
    converted = cluster.kadmin("convert", output, "--to", "plan", "--out", plan)
    assert converted.status == 0, converted.err
    wished = json.loads(plan.read_text())["spec"]["partitions"]
    assert [entry["current"] for entry in wished] == [[1, 2], [1, 2]]
    assert all(set(entry["replicas"]) == {3, 4} for entry in wished)

    applied = cluster.kadmin("apply", plan, "--yes")
    assert applied.status == 0, applied.err
    replicas = cluster.state(topic).topics[topic].replicas
    assert all(list(replicas[entry["partition"]]) == entry["replicas"] for entry in wished)
