"""What a run tells in metrics, to a webhook and in its log, and which plan it runs; on a real
ZooKeeper.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.cli.in_process import command
from support.controller.simple_controller import CLUSTER_ID, Manner, SimpleController
from support.documents.plans import document, reassignment
from support.network.webhook_server import SECRET, webhook_server

from kadmin.schema import validate_value

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.zookeeper


@pytest.fixture
def cluster(chroot: str) -> Iterator[SimpleController]:
    with SimpleController(chroot) as found:
        found.create_topic("orders", {0: [1, 2], 1: [1, 2]})
        yield found


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return document(tmp_path / "plan.yaml", reassignment("orders", {0: [2, 3], 1: [2, 3]}))


def samples(path: Path) -> dict[str, tuple[float, dict[str, str]]]:
    """Value and labels of each sample; of the states only the one that is."""
    found = {}
    for family in text_string_to_metric_families(path.read_text()):
        for each in family.samples:
            if "state" not in each.labels or each.value:
                found[each.name.removeprefix("kadmin_operation_")] = (each.value, each.labels)
    return found


def events(text: str) -> list[dict[str, Any]]:
    values = [json.loads(line) for line in text.splitlines()]
    assert [validate_value(value, "answers/event") for value in values] == [[]] * len(values)
    return values


def test_a_run_is_told_in_metrics_to_a_webhook_and_in_the_log(
    cluster: SimpleController, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    metrics = tmp_path / "kadmin.prom"
    with webhook_server() as server:
        given = ("--metrics", metrics, "--log-format", "json", "-v", "--yes", "-z", cluster.connect)
        answer = command("apply", plan, *given, environment={"KADMIN_NOTIFY": server.url})
        posts = server.taken
    assert answer.status == 0, answer.err
    operation = cluster.operations()[-1]["id"]
    assert answer.out.endswith(f"(operation {operation})\n"), "the answer is for people"

    logged = events(answer.err)
    told = [each["event"] for each in logged if each["event"] not in {"asked", "progressed"}]
    assert [each for each in told if each != "noted"] == [
        "opened",
        "published",
        "state_changed",
        "ended",
    ]
    assert logged[-1] == {
        **logged[-1],
        "operation": operation,
        "cluster_id": CLUSTER_ID,
        "exit_code": 0,
        "text": answer.out.strip(),
    }
    asked = "\n".join(each["text"] for each in logged if each["event"] == "asked")
    assert re.search(r"^zookeeper: connected to .* \(\d+ ms\)$", asked, re.MULTILINE)
    assert "Create /admin/reassign_partitions" in asked
    assert SECRET not in answer.err + answer.out + metrics.read_text()

    posted = [each["event"] for each in posts]
    assert [each for each in posted if each != "progressed"] == told
    assert posted.count("progressed") == 1, "the others came within 30 s of it"
    assert [validate_value(each, "answers/event") for each in posts] == [[]] * len(posts)
    subject = f"kadmin operation {operation} on cluster {CLUSTER_ID} at {cluster.connect}"
    assert posts[0]["text"] == f"{subject}: operation {operation} is on record"
    assert posts[-1]["text"] == f"{subject}: exit code 0: {answer.out.strip()}"

    found = samples(metrics)
    labels = {"operation": operation, "cluster_id": CLUSTER_ID}
    assert found["state"] == (1.0, {**labels, "state": "completed"})
    assert found["exit_code"] == (0.0, labels)
    assert (found["partitions_done"][0], found["partitions"][0]) == (2.0, 2.0)


def test_a_run_that_its_deadline_ends_is_still_running_on_record(
    cluster: SimpleController, plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A webhook that hangs costs no more than the time that is left."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    cluster.behave(Manner.HOLD)
    metrics = tmp_path / "kadmin.prom"
    with webhook_server() as server:
        server.gate.clear()
        given = (
            "--metrics",
            metrics,
            "--notify",
            server.url,
            "--timeout",
            "3",
            "--yes",
            "-z",
            cluster.connect,
        )
        answer = command("apply", plan, *given)
        operation = cluster.operations()[-1]["id"]
    assert answer.status == 8
    assert answer.err.count("warning: events do not reach") == 1
    assert (
        f"warning: events do not reach {server.origin}: it did not answer within 0.5 s"
        in answer.err
    )
    assert SECRET not in answer.err
    found = samples(metrics)
    assert (found["state"][1]["state"], found["exit_code"][0]) == ("running", 8.0)
    cluster.behave(Manner.OBEY)
    resumed = command(
        "resume", "--metrics", metrics, "--log-format", "json", "--yes", "-z", cluster.connect
    )
    assert resumed.status == 0, resumed.err
    assert [each["event"] for each in events(resumed.err)][-2:] == ["state_changed", "ended"]
    found = samples(metrics)
    assert (found["state"][1]["operation"], found["state"][1]["state"]) == (operation, "completed")
    assert found["exit_code"][0] == 0.0


def test_metrics_that_cannot_be_written_stop_a_command_before_anything_is(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    before = cluster.fingerprint()
    for line in (
        ("apply", plan),
        ("resume",),
        ("cancel",),
        ("rollback",),
        ("heal",),
        ("recreate", "20260301-x"),
    ):
        answer = command(
            *line, "--metrics", tmp_path / "missing" / "k.prom", "--yes", "-z", cluster.connect
        )
        assert answer.status == 8, answer.err
        assert answer.err.startswith(f"error: Cannot write {tmp_path / 'missing' / 'k.prom'}.\n")
    assert cluster.fingerprint() == before


def test_the_end_of_a_command_that_is_refused_is_told_too(
    cluster: SimpleController, plan: Path
) -> None:
    cluster.delete_topic("orders")
    answer = command("apply", plan, "--log-format", "json", "--yes", "-z", cluster.connect)
    assert answer.status == 4
    (ended,) = events(answer.err.partition("error: ")[0])
    assert (ended["event"], ended["exit_code"], ended["operation"]) == ("ended", 4, None)
    message, _, cause = ended["text"].rpartition(". ")
    assert f"error: {message}.\n  cause: {cause}\n" in answer.err
    assert f"next:  {ended['next_command']}\n" in answer.err


def test_a_dry_run_prints_the_command_that_applies_exactly_this_file(
    cluster: SimpleController, plan: Path, tmp_path: Path
) -> None:
    with webhook_server() as server:
        told = ("--metrics", tmp_path / "kadmin.prom", "--notify", server.url)
        dry = command(
            "apply",
            plan,
            "--dry-run",
            "--throttle",
            "5MB/s",
            *told,
            environment={"KADMIN_ZOOKEEPER": cluster.connect},
        )
        assert server.tried == []
    assert dry.status == 0, dry.err
    assert not (tmp_path / "kadmin.prom").exists()
    digest = hashlib.sha256(plan.read_bytes()).hexdigest()
    line = f"kadmin apply {plan} --approved {digest} --throttle 5MB/s -z {cluster.connect} --yes"
    assert f"to apply exactly this file, without confirmation:  {line}\n" in dry.err
    for shown in (
        command("diff", plan, "-z", cluster.connect),
        command("diff", plan, "-z", cluster.connect, "-o", "markdown"),
    ):
        assert shown.out.endswith(f"\n\n    {line.replace('--throttle 5MB/s ', '')}\n")
        assert "--throttle 41MB/s" in shown.out, "it copies without a throttle"
    throttled = command("diff", plan, "--throttle", "5MB/s", "-z", cluster.connect)
    assert throttled.out.endswith(f"\n\n    {line}\n"), (
        "what was given is in the command that people copy"
    )
    assert "throttle: 5.00 MB/s on" in throttled.out
    assert "without a throttle" not in throttled.out
    assert command(*shlex.split(line)[1:]).status == 0
    assert cluster.replicas("orders") == {0: [2, 3], 1: [2, 3]}
    done = command("apply", plan, "--dry-run", "-z", cluster.connect)
    assert (done.out, done.err) == ("nothing to do\n", "")
